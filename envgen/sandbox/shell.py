"""A shell's state between two commands, carried by us: no process of ours lives in the sandbox.

Every command gets a bash of its own. It is told the state, runs the command, and reports the new
state: working directory and directory stack, variables, functions, aliases, options, traps, umask,
positional parameters and the last exit code. Pure text on both sides; `execs.py` moves it.

Not carried, for a shell cannot tell them: open file descriptors, limits (`ulimit`), jobs (a
background process lives on, but `wait` and `fg` do not know it), history, `$!`, `$_`, SECONDS, the
seed of RANDOM. Nor are options that end a shell (errexit, noexec) or echo it (verbose), nor traps
that fire for every command (DEBUG, ERR, RETURN): they last as long as the command that set them.
"""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass

STATE_BYTES = 1 << 20
"""A larger state is not carried, and the agent is told."""

_BOOT = (
    'LC_ALL=C;IFS= read -rN 9 __envgen_n;IFS= read -rN "$__envgen_n" __envgen_s;'
    '{ eval "$__envgen_s";eval "$__envgen_command";'
    "{ __envgen_rc=$? __envgen_set=$SHELLOPTS:$BASHOPTS POSIXLY_CORRECT=1;set +xuev; } 2>/dev/null;"
    'eval "$__envgen_report"; }'
)
# One line, so that the command's own lines count from 1. All that is long comes through standard
# input, where neither `ps` nor `pkill -f` meets it. POSIXLY_CORRECT lets special builtins win over
# functions of their names: whatever the agent defined, the report still works.
BASH = ("/usr/bin/env", "-i", "/bin/bash", "--norc", "--noprofile", "-c", _BOOT, "bash")
"""The process of one command; `script` is what it reads."""

_LEAVE = (
    "{ __envgen_rc=$? __envgen_set=$SHELLOPTS:$BASHOPTS; } 2>/dev/null;"
    '__envgen_kept=kept; read -rt 0 -u "$__envgen_in" || '
    '{ __envgen_kept=left; eval "$__envgen_exit"; };'
    "{ POSIXLY_CORRECT=1;set +xuev; } 2>/dev/null;"
    'eval "$__envgen_report"'
)
# The EXIT trap: the agent's own, then the report. A shell that we end at its time limit finds
# something to read on its first input, and the agent's trap is not due.

_OPTIONS = (
    "allexport braceexpand errtrace functrace hashall interactive-comments keyword monitor "
    "noclobber noglob nounset physical pipefail posix"
)
_DEFAULTS = (
    "checkwinsize cmdhist complete_fullquote extquote force_fignore globasciiranges globskipdots "
    "hostcomplete interactive_comments patsub_replacement progcomp promptvars sourcepath"
)
# Of `shopt`, on in a new shell.
_OVER = "eval builtin set unset trap"
# Functions of these names last as long as their command.
_NOT_CARRIED = (
    "__envgen_*|BASH|BASHOPTS|BASHPID|BASH_ALIASES|BASH_ARG*|BASH_CMDS|BASH_COM*|BASH_EXECUTION*|"
    "BASH_LINENO|BASH_LOADABLES_PATH|BASH_SOURCE|BASH_SUBSHELL|BASH_VERS*|BASH_MONO*|BASH_TRAPSIG|"
    "COMP_WORDBREAKS|DIRSTACK|EPOCH*|EUID|FUNCNAME|GROUPS|HISTCMD|LINENO|PIPESTATUS|PPID|PWD|RANDOM|"
    "SECONDS|SHELLOPTS|SRANDOM|UID|_"
)
_LETTERS = "_ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_NAMES = " ".join(f'"${{!{letter}@}}"' for letter in _LETTERS)  # of all variables, without a fork
_SIGNALS = " ".join(str(n) for n in range(1, 32) if n not in (9, 19))

COUNTERS = """
for __envgen_i in /sys/fs/cgroup/memory.events /sys/fs/cgroup/memory/memory.oom_control \
/sys/fs/cgroup/pids.events /sys/fs/cgroup/pids/pids.events; do
[[ -r $__envgen_i ]] && while IFS=" " builtin read -r __envgen_k __envgen_v; do
case "${__envgen_i##*/}:$__envgen_k" in
memory*:oom_kill) builtin printf ' oom=%s' "$__envgen_v" ;;
pids.events:max) builtin printf ' pids=%s' "$__envgen_v" ;;
esac
done < "$__envgen_i"
done
builtin printf '\\n'
"""
"""Bash that prints the kernel's counters and ends the line; it starts no process."""

_REPORT = f"""
unset -f builtin
unset POSIXLY_CORRECT
{{
builtin shopt -u nocasematch
case ":$__envgen_set:" in *:xtrace:*) __envgen_x=x=1 ;; *) __envgen_x= ;; esac
builtin printf '%s report rc=%s' "$__envgen_mark" "$__envgen_rc"
builtin printf ' %s' "$__envgen_x" "$__envgen_kept"
eval "$__envgen_counters"
builtin trap -p EXIT
builtin trap - EXIT DEBUG ERR RETURN
builtin printf '%s state\\n' "$__envgen_mark"
builtin printf 'shopt -s extglob\\n'
builtin umask -p
builtin printf 'set --'
for __envgen_i; do builtin printf ' %q' "$__envgen_i"; done
builtin printf '\\n'
for __envgen_i in "${{DIRSTACK[@]}}"; do
[[ $__envgen_i == "~"* ]] && __envgen_i=$HOME${{__envgen_i#"~"}}
builtin printf '__envgen_cd %q\\n' "$__envgen_i"
done
builtin printf '__envgen_go\\nunset OLDPWD\\n'
for __envgen_i in {_NAMES}; do
case "$__envgen_i" in {_NOT_CARRIED}) ;; *) builtin declare -p -- "$__envgen_i" ;; esac
done
builtin trap -p {_SIGNALS}
builtin alias -p
builtin declare -f
builtin declare -Fx
builtin printf 'POSIXLY_CORRECT=1;unset -f %s\\nunset POSIXLY_CORRECT\\n' '{_OVER}'
builtin printf 'builtin shopt -u inherit_errexit extglob %s\\n' '{_DEFAULTS}'
builtin printf 'builtin shopt -s %s\\n' "${{__envgen_set//:/ }}"
for __envgen_i in {_OPTIONS}; do
case ":$__envgen_set:" in
*":$__envgen_i:"*) builtin printf 'builtin set -o %s\\n' "$__envgen_i" ;;
*) builtin printf 'builtin set +o %s\\n' "$__envgen_i" ;; esac
done
builtin printf '%s end\\n' "$__envgen_mark"
}} 2>/dev/null >&"$__envgen_err"
builtin printf '%s' "$__envgen_mark" >&"$__envgen_out"
"""

_GO = """\
__envgen_stack=()
__envgen_cd() { __envgen_stack+=("$1"); }
__envgen_go() {
unset -f __envgen_cd __envgen_go
cd -- "${__envgen_stack[0]}" || { cd -- "$__envgen_home" || cd /
printf '[%s is gone: now in %s]\\n' "${__envgen_stack[0]}" "$PWD" >&"$__envgen_out"; }
local i; for ((i = ${#__envgen_stack[@]} - 1; i > 0; i--)); do pushd -n "${__envgen_stack[i]}"; done
} >/dev/null
"""


@dataclass(frozen=True)
class State:
    """What a session's shell knows."""

    text: bytes
    """Bash that brings it about."""
    leaving: bytes = b"''"
    """The agent's EXIT trap, as a quoted word."""
    tracing: bool = False
    """Whether `set -x` is in force."""
    exit_code: int = 0


@dataclass(frozen=True)
class Report:
    """What a command's bash told at its end."""

    exit_code: int
    counters: "Counters"
    state: State | None
    """None when it was larger than what is carried."""


@dataclass(frozen=True)
class Counters:
    """What a sandbox has run into so far, as its kernel counts."""

    oom: int = 0
    """Processes killed for want of memory."""
    pids: int = 0
    """Processes not started for want of a number."""


def beginning(cwd: str, env: Mapping[str, str]) -> State:
    """The state of a new shell."""
    declared = "".join(f"declare -x {name}={shlex.quote(v)}\n" for name, v in env.items())
    return State(f"__envgen_cd {shlex.quote(cwd)}\n__envgen_go\nunset OLDPWD\n{declared}".encode())


def script(mark: str, home: str, state: State, command: str) -> bytes:
    """What the bash of one command reads, its length first.

    Args:
        mark: a word that no output has in it by chance.
        home: where to go when the working directory is gone.
        state: what the shell knows.
        command: the agent's text; NULs, which bash cannot hold, are left out.
    """
    text = command.replace("\0", "").encode("utf-8", "surrogateescape")
    parts = [
        b"__envgen_mark=%b __envgen_home=%b" % (mark.encode(), _quoted(home.encode())),
        b"__envgen_counters=" + _quoted(COUNTERS.encode()),
        b'printf "%s begin $$" "$__envgen_mark" >&2;eval "$__envgen_counters" >&2',
        b"exec {__envgen_in}<&0 {__envgen_out}>&1 {__envgen_err}>&2 2>&1 </dev/null",
        b"__envgen_report=" + _quoted(_REPORT.encode()),
        b"__envgen_exit=" + state.leaving,
        b"__envgen_kept= __envgen_command="
        + _quoted((b"set -x;" if state.tracing else b"") + text),
        b"unset __envgen_s __envgen_n LC_ALL PATH HOSTNAME TERM SHELL SHLVL OLDPWD",
        b"__envgen_leave=" + _quoted(_LEAVE.encode()),
        b"trap 'eval \"$__envgen_leave\"' EXIT",
        _GO.encode(),
        b"__envgen_status() { unset -f __envgen_status; return %d; }" % state.exit_code,
        b"{ eval " + _quoted(state.text) + b"; } 2>/dev/null",
        b"__envgen_status\n",
    ]
    whole = b"\n".join(parts)
    return b"%09d" % len(whole) + whole


def began(mark: str, channel: bytes) -> tuple[int, Counters] | None:
    """The shell's process id, and the counters when it began; None before it has said so."""
    start = f"{mark} begin ".encode()
    line = _line(channel, start)
    if line is None:
        return None
    words = line[len(start) :].split()
    return _number(b"".join(words[:1])), _counters(words)


def reported(mark: str, channel: bytes, before: State) -> Report | None:
    """The report on a command that has ended; None before it is complete."""
    start = f"{mark} report ".encode()
    line = _line(channel, start)
    if line is None:
        return None
    head, found, rest = channel.partition(line + b"\n")[2].partition(f"{mark} state\n".encode())
    text, ended, _ = rest.rpartition(f"{mark} end\n".encode())
    if not (found and ended):
        return None
    facts = dict(word.partition(b"=")[::2] for word in line.split())
    code = _number(facts.get(b"rc", b""))
    leaving = before.leaving
    if b"left" in facts:  # it has fired
        leaving = b"''"
    elif b"__envgen_leave" not in head and b"kept" not in facts:
        leaving = head.removeprefix(b"trap -- ").removesuffix(b" EXIT\n") or b"''"
    state = State(text, leaving, b"x" in facts, code)
    return Report(code, _counters(line.split()), state if len(text) < STATE_BYTES else None)


def _line(channel: bytes, start: bytes) -> bytes | None:
    at = channel.find(start)
    end = channel.find(b"\n", at)
    return channel[at:end] if at >= 0 and end >= 0 else None


def _counters(words: list[bytes]) -> Counters:
    facts = dict(word.partition(b"=")[::2] for word in words)
    return Counters(_number(facts.get(b"oom", b"")), _number(facts.get(b"pids", b"")))


def _number(word: bytes) -> int:
    """What an honest shell says is a short number; the agent may have written anything here."""
    return int(word) if word.isdigit() and len(word) < 16 else 0


def _quoted(text: bytes) -> bytes:
    return b"'" + text.replace(b"'", b"'\\''") + b"'"
