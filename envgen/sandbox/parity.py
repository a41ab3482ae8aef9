"""What every sandbox looks like from inside, on every engine and host: the parity rules as data."""

from envgen.records import AGENT_UID, HOME

HOSTNAME = "sandbox"
GRADER_CAPABILITIES = ("CHOWN", "DAC_OVERRIDE", "FOWNER", "KILL", "SETGID", "SETUID")
"""What a root job may do: own, read, drop privileges, kill. An agent's job has no capability."""

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_THREAD_VARIABLES = (
    "GOMAXPROCS",
    "MKL_NUM_THREADS",
    "NUMEXPR_MAX_THREADS",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "PYTHON_CPU_COUNT",
    "RAYON_NUM_THREADS",
    "TOKIO_WORKER_THREADS",
    "UV_THREADPOOL_SIZE",
)


def environment(uid: int, cpus: int) -> dict[str, str]:
    """The whole environment of a job; nothing of the host's."""
    root = uid != AGENT_UID
    return {
        "PATH": PATH,
        "HOME": "/root" if root else HOME,
        "USER": "root" if root else "agent",
        "LOGNAME": "root" if root else "agent",
        "SHELL": "/bin/bash",
        "TERM": "dumb",
        "HOSTNAME": HOSTNAME,
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        "container": "envgen",
        "MAKEFLAGS": f"-j{cpus}",
        "JAVA_TOOL_OPTIONS": f"-XX:ActiveProcessorCount={cpus}",
        **dict.fromkeys(_THREAD_VARIABLES, str(cpus)),
    }
