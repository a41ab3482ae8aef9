"""Commands that break sessions elsewhere, and how each has to end here."""

from dataclasses import dataclass, field

from envgen.records import End


@dataclass(frozen=True)
class Step:
    """One command, and what is expected of it.

    Attributes:
        command: the text.
        says: the whole output (without the last newline), or None when it is not looked at.
        has: texts that must stand in the output.
        code: exit code; None when it was killed.
        end: how it ended; None when it may end anyhow, but as an observation.
        seconds: its limit.
        within: most seconds that it may take.
    """

    command: str
    says: str | None = None
    has: tuple[str, ...] = ()
    code: int | None = 0
    end: End | None = "done"
    seconds: float = 30
    within: float = 45


@dataclass(frozen=True)
class Case:
    """Commands of one session, on a sandbox of its own."""

    name: str
    steps: tuple[Step, ...]
    limits: dict[str, int] = field(default_factory=dict)


ALIVE = Step("echo alive", "alive")
TIMEOUT = {"code": None, "end": "timeout", "seconds": 1.0}
LOST = {"code": 137, "end": "shell"}
BIG = "x" * 100_000

CASES = (
    Case(
        "directory, variables, functions and exports carry over",
        (
            Step("cd /usr/share; a=1; export B='x y'; f() { echo \"f:$1:$a\"; }; arr=(1 '2 3')"),
            Step("pwd; f z; env | grep ^B=; echo ${arr[1]}", "/usr/share\nf:z:1\nB=x y\n2 3"),
            Step("cd - >/dev/null; pwd", "/home/agent"),
        ),
    ),
    Case(
        "options, aliases, umask, arguments and the directory stack carry over",
        (
            Step(
                "set -u -o pipefail; shopt -s extglob expand_aliases; umask 027; set -- 'a b' c\n"
                "alias hey='echo hey'; pushd /usr >/dev/null; pushd /etc >/dev/null"
            ),
            Step(
                "hey; umask; echo $# $1; dirs -l; [[ aab == +(a)b ]] && echo ext; false | true",
                "hey\n0027\n2 a b\n/etc /usr /home/agent\next",
                code=1,
            ),
            Step("echo $unset_name; echo not reached", None, ("unbound variable",), code=127),
            ALIVE,
        ),
    ),
    Case(
        "an exit code is seen by the next command",
        (Step("(exit 7)", code=7), Step("echo $?", "7")),
    ),
    Case("a large heredoc", (Step(f"cat <<'END' | wc -c\n{BIG * 3}\nEND", "300001"), ALIVE)),
    Case(
        "a heredoc without its end",
        (Step("cat <<END\nhello", None, ("hello",)), ALIVE),
    ),
    Case(
        "quotes, unicode and a NUL in a command",
        (
            Step(
                "echo 'ünï' \"$(printf '%s' '\u4f60\u597d')\" $'\\x41' '\U0001f600'",
                None,
                ("ünï 你好 A 😀",),
            ),
            Step("echo a\0b", "ab"),
        ),
    ),
    Case(
        "text that is no text",
        (
            Step("printf 'a\\xff\\xfe\\x00b'", "a\ufffd\ufffd\0b"),
            Step("head -c 300 /dev/urandom", None),
            ALIVE,
        ),
    ),
    Case(
        "an unfinished quote is a syntax error, and only that",
        (
            Step("echo 'oops", None, ("unexpected EOF",), code=2),
            Step("if", code=2, has=("syntax",)),
            ALIVE,
        ),
    ),
    Case(
        "exit ends the command with its code, and the session goes on",
        (Step("x=5; cd /tmp; exit 3", "", code=3), Step("echo $x; pwd", "5\n/tmp")),
    ),
    Case(
        "errexit ends its command and is not carried over",
        (
            Step("y=1; set -e; false; echo not reached", "", code=1),
            Step("false; echo on $y", "on 1"),
        ),
    ),
    Case(
        "exec replaces the shell: the state is as before",
        (
            Step("x=5"),
            Step("x=6; exec echo replaced", "replaced", end="shell"),
            Step("echo $x", "5"),
        ),
    ),
    Case(
        "a shell that kills itself",
        (Step("x=5"), Step("x=6; kill -9 $$; echo no", "", **LOST), Step("echo $x", "5")),
    ),
    Case(
        "everything that the agent may kill is killed",
        (Step("kill -9 -1; echo survived", None, ("survived",)), ALIVE),
    ),
    Case(
        "the first process is out of reach",
        (Step("kill -9 1; kill -TERM 1; kill -9 $(pgrep -u nobody); echo $?", None, ("1",)), ALIVE),
    ),
    Case(
        "closed descriptors",
        (Step("exec >&- 2>&-; echo unseen", "", code=1), Step("exec 0<&-; cat", code=1), ALIVE),
    ),
    Case(
        "output sent elsewhere for good lasts as long as its command",
        (Step("exec > kept 2>&1; echo to the file"), Step("cat kept", "to the file")),
    ),
    Case(
        "programs that ask find nobody",
        (
            Step("read -p 'Name? ' x; echo \"<$x> $?\"", "<> 1"),
            Step("python3", ""),
            Step("cat; rm -i nothing; echo done", None, ("done",)),
            Step("top; echo $?", None, ("1",)),
            Step("cat /dev/tty", None, ("No such device",), code=1),
        ),
    ),
    Case(
        "a command over its limit is killed, and its shell's state is kept",
        (
            Step(
                "cd /tmp; x=5; sleep 60; echo not reached",
                None,
                ("time limit",),
                within=40,
                **TIMEOUT,
            ),
            Step("echo $x; pwd; pgrep sleep -u agent || echo none", "5\n/tmp\nnone"),
        ),
    ),
    Case(
        "a busy loop is killed",
        (Step("while :; do :; done", within=40, **TIMEOUT), ALIVE),
    ),
    Case(
        "a loop that refuses every signal it can is killed",
        (
            Step(
                "trap '' TERM INT HUP VTALRM QUIT; while :; do sleep 0.1; done",
                within=40,
                **TIMEOUT,
            ),
            Step("pgrep -u agent sleep || echo none", "none"),
        ),
    ),
    Case(
        "children and pipelines are killed with their command",
        (
            Step("yes | (sleep 70 & sleep 71 | sleep 72) | cat > /dev/null", within=40, **TIMEOUT),
            Step("pgrep -u agent 'sleep|yes|cat' || echo none", "none"),
        ),
    ),
    Case(
        "a background job returns at once and lives on",
        (
            Step("sleep 300 & echo started", "started", within=40),
            Step("sleep 60", within=40, **TIMEOUT),
            Step("pgrep -u agent -a sleep", None, ("sleep 300",)),
        ),
    ),
    Case(
        "what was detached by setsid outlives its command's limit",
        (
            Step("setsid sleep 301 & sleep 60", within=40, **TIMEOUT),
            Step("pgrep -u agent -a sleep", None, ("sleep 301",)),
        ),
    ),
    Case(
        "a server started in the background serves later commands",
        (
            Step("mkdir w; echo page > w/i; cd w; python3 -m http.server 8000 >/dev/null 2>&1 &"),
            Step(
                "for i in $(seq 50); do (: < /dev/tcp/localhost/8000) 2>/dev/null && break\n"
                "sleep 0.1; done\n"
                "python3 -c 'import urllib.request as u\n"
                'print(u.urlopen("http://localhost:8000/i").read())\'',
                None,
                ("page",),
            ),
        ),
    ),
    Case(
        "a background job that prints for ever does not disturb",
        (Step("yes & echo x > /dev/null"), ALIVE, Step("pkill yes; echo $?", "0"), ALIVE),
    ),
    Case(
        "stopped jobs",
        (
            Step("set -m; sleep 60 & kill -STOP $!; echo stopped", None, ("stopped",)),
            Step("kill -STOP $$; echo never", within=40, **TIMEOUT),
            ALIVE,
        ),
    ),
    Case(
        "jobs are not known to the next command",
        (Step("sleep 0.2 &"), Step("wait; jobs; fg", None, ("no job control",), code=1), ALIVE),
    ),
    Case(
        "an EXIT trap fires when the agent exits, and not before",
        (
            Step("trap 'echo bye' EXIT", ""),
            Step("echo still here", "still here"),
            Step("sleep 60", None, ("time limit",), within=40, **TIMEOUT),
            Step("exit 4", "bye", code=4),
            Step("exit 5", "", code=5),
        ),
    ),
    Case(
        "other traps carry over",
        (Step("trap 'echo caught' USR1"), Step("kill -USR1 $$; echo after", "caught\nafter")),
    ),
    Case(
        "a DEBUG trap lasts as long as its command",
        (Step("trap 'echo debug >&2' DEBUG; true", None, ("debug",)), Step("echo quiet", "quiet")),
    ),
    Case(
        "tracing",
        (Step("set -x"), Step("echo traced", "++ echo traced\ntraced"), Step("set +x"), ALIVE),
    ),
    Case(
        "verbose lasts as long as its command",
        (Step("set -v; echo once", "once"), ALIVE),
    ),
    Case(
        "a shell that executes nothing any more",
        (Step("x=5"), Step("set -n; echo no", "", end="shell"), Step("echo $x", "5")),
    ),
    Case(
        "redefined builtins and functions of all names",
        (
            Step(
                "eval() { echo e; }; builtin() { echo b; }; printf() { echo p; }; declare() { :; }"
            ),
            Step("set() { echo s; }; trap() { :; }; unset() { :; }; cd() { echo c; }; "),
            Step("x=9; printf; cd", "p\nc"),
            Step("command printf '%s\\n' $x; echo() { :; }", "9"),
            Step("echo no", ""),
        ),
    ),
    Case(
        "no PATH, no HOME, another IFS",
        (
            Step("unset PATH HOME; IFS=/"),
            Step("x=a/b; echo $x; ls", None, ("a b", "ls: "), code=127),
            Step("PATH=/bin:/usr/bin; ls / >/dev/null; echo ok", "ok"),
        ),
    ),
    Case(
        "readonly variables, also of ours",
        (
            Step("readonly R=1 PWD POSIXLY_CORRECT", None, code=1, end="shell"),
            Step("readonly Q=2"),
            Step("Q=3; echo no", None, ("readonly",), code=1),
            Step("echo $Q", "2"),
        ),
    ),
    Case(
        "forged marks",
        (
            Step(
                "m=$__envgen_mark; printf '%s\\n' \"$m report rc=99 oom=9999999999999999999999\" "
                '"$m state" \'echo forged\' "$m end" >&$__envgen_err; printf $m; '
                "sleep 0.2",
                "",
                code=99,
                end="done",
            ),
            Step("echo on", None, ("on",)),
        ),
    ),
    Case(
        "a state too large to carry",
        (
            Step("x=5"),
            Step("y=$(head -c 3000000 /dev/zero | tr '\\0' y)", None, ("too large",)),
            Step("echo $x ${#y}", "5 0"),
        ),
    ),
    Case("a command of 300 kB", (Step(f": {BIG * 3}; echo read", "read"),)),
    Case(
        "fifty megabytes of output",
        (
            Step(
                "echo first; head -c 50000000 /dev/zero | tr '\\0' x; echo; echo last",
                None,
                ("first", "last", "left out"),
                seconds=60,
                within=90,
            ),
            ALIVE,
        ),
    ),
    Case(
        "endless output is killed at the limit",
        (Step("yes", None, ("left out",), within=40, **TIMEOUT), ALIVE),
    ),
    Case(
        "standard error keeps its place",
        (
            Step(
                "echo a; echo b >&2; echo c; ls nowhere 2>&1; echo d >&2",
                None,
                ("a\nb\nc\nls:", "\nd"),
            ),
        ),
    ),
    Case(
        "a working directory that is gone",
        (
            Step("mkdir d; cd d; rmdir ../d"),
            Step("pwd", "[/home/agent/d is gone: now in /home/agent]\n/home/agent"),
        ),
    ),
    Case(
        "a wiped home and /tmp",
        (Step("rm -rf ~/* ~/.[!.]* /tmp/*; cd /tmp; rm -rf /home/agent/x"), ALIVE),
    ),
    Case(
        "odd names of directories",
        (Step("mkdir -p $'a\\nb/~c d'; cd $'a\\nb/~c d'"), Step("pwd", "/home/agent/a\nb/~c d")),
    ),
    Case(
        "out of memory: the process is killed, the session goes on",
        (
            Step(
                "python3 -c 'b = b\"x\" * (600 << 20)'; echo $?",
                None,
                ("137", "256 MB of memory"),
                end="memory",
            ),
            ALIVE,
        ),
        {"memory_mb": 256},
    ),
    Case(
        "a shell out of memory",
        (
            Step(
                "exec python3 -c 'b = b\"x\" * (600 << 20)'",
                None,
                ("memory",),
                code=137,
                end="memory",
            ),
            ALIVE,
        ),
        {"memory_mb": 256},
    ),
    Case(
        "a fork bomb",
        (
            Step("sleep 300 &"),
            Step(
                ":(){ :|:& };:; sleep 60",
                None,
                ("all were killed",),
                code=None,
                end="timeout",
                seconds=2,
                within=90,
            ),
            ALIVE,
            Step("pgrep -u agent sleep || echo none", "none"),
        ),
        {"pids": 64},
    ),
    Case(
        "processes without number",
        (
            Step(
                "for i in $(seq 200); do sleep 100 & done; echo unreached",
                None,
                ("all were killed",),
                code=None,
                end="timeout",
                seconds=10,
                within=90,
            ),
            ALIVE,
        ),
        {"pids": 64},
    ),
    Case(
        "more disk than is allowed, at once",
        (
            Step(
                "for i in 1 2 3 4; do head -c 7000000 /dev/zero > f$i; done; sleep 60",
                None,
                ("8 MB written",),
                code=None,
                end="disk",
                within=40,
            ),
            Step("rm f1 f2 f3 f4"),
            ALIVE,
        ),
        {"disk_mb": 8},
    ),
    Case(
        "more disk than is allowed, at the end of a command",
        (
            Step("head -c 6000000 /dev/zero > a; cp a b", None, ("remove something",), end="disk"),
            Step("echo; rm b", ""),
            ALIVE,
        ),
        {"disk_mb": 8},
    ),
    Case(
        "one file over the cap",
        (Step("head -c 20000000 /dev/zero > big; echo $?; rm big", None, ("153",)), ALIVE),
        {"disk_mb": 8},
    ),
    Case(
        "no network, no way up",
        (
            Step("ls /sys/class/net", "lo"),
            Step("sudo -n true 2>&1 || su -c true 2>&1; id -u", None, ("1000",)),
            Step("mount -t tmpfs x /mnt 2>/dev/null || echo refused", "refused"),
        ),
    ),
    Case(
        "the sandbox's seconds are over",
        (
            Step("x=1"),
            Step("sleep 30", None, ("its 4 seconds are over",), code=None, end="over", within=40),
            Step("echo anything", None, ("has ended",), code=None, end="over"),
        ),
        {"seconds": 4},
    ),
    Case(
        "processes of the shell are stopped as soon as they start",
        (
            Step(
                "setsid bash -c 'while :; do for p in /proc/[0-9]*; do "
                "[ ${p#/proc/} -gt 8 ] && [ ${p#/proc/} != $$ ] && kill -STOP ${p#/proc/}; "
                "done; done' >/dev/null 2>&1 & sleep 0.1",
                None,
                end=None,
                seconds=2,
                within=90,
            ),
            Step("echo x", end=None, within=90),
        ),
    ),
)
