"""Programs and modules of the agent's, started by tests: as the agent, never as the grader.

Stands in for `subprocess`, `os.system`, `os.popen` and the loading of modules from files. A module
is loaded in a process of its own; its functions are called there, with JSON going in and out.
"""

import json
import os
import subprocess as _real
from subprocess import *
from types import SimpleNamespace

UID = 1000
_ENV = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/home/agent", "LANG": "C.UTF-8"}
_CALL = """
import importlib.util, json, sys
asked = json.load(sys.stdin)
sys.stdin = open("/dev/null")
spec = importlib.util.spec_from_file_location("candidate", asked["path"])
module = importlib.util.module_from_spec(spec)
said, sys.stdout = sys.stdout, sys.stderr
spec.loader.exec_module(module)
if asked["name"]:
    value = getattr(module, asked["name"])
    if callable(value):
        value = value(*asked["args"], **asked["kwargs"])
    json.dump(value, said)
"""


class Popen(_real.Popen):
    def __init__(self, *args, **kwargs):
        if os.geteuid() == 0:
            kwargs = {**kwargs, "user": UID, "group": UID, "extra_groups": []}
            kwargs["env"] = {**_ENV, **(kwargs.get("env") or {})}
        super().__init__(*args, **kwargs)


def run(*args, input=None, capture_output=False, timeout=None, check=False, **kwargs):
    if capture_output:
        kwargs |= {"stdout": _real.PIPE, "stderr": _real.PIPE}
    if input is not None:
        kwargs["stdin"] = _real.PIPE
    with Popen(*args, **kwargs) as process:
        try:
            out, err = process.communicate(input, timeout=timeout)
        except BaseException:
            process.kill()
            raise
    done = _real.CompletedProcess(process.args, process.returncode, out, err)
    if check:
        done.check_returncode()
    return done


def check_output(*args, **kwargs):
    return run(*args, stdout=_real.PIPE, check=True, **kwargs).stdout


def check_call(*args, **kwargs):
    return run(*args, check=True, **kwargs).returncode


def call(*args, **kwargs):
    return run(*args, **kwargs).returncode


def getoutput(command):
    return getstatusoutput(command)[1]


def getstatusoutput(command):
    done = run(command, shell=True, stdout=_real.PIPE, stderr=_real.STDOUT, text=True)
    return done.returncode, done.stdout.rstrip("\n")


def system(command):
    return run(command, shell=True).returncode << 8


def popen(command, mode="r"):
    import io

    return io.StringIO(run(command, shell=True, stdout=_real.PIPE, text=True).stdout)


class _Module:
    """What the module has, asked of a process that runs as the agent."""

    def __init__(self, path):
        self._path = path

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *args, **kwargs: self._asked(name, args, kwargs)

    def _asked(self, name, args=(), kwargs=None):
        text = json.dumps({"path": self._path, "name": name, "args": args, "kwargs": kwargs or {}})
        done = run(
            ["/usr/bin/python3", "-I", "-c", _CALL],
            input=text.encode(), capture_output=True, timeout=30,
            cwd=os.path.dirname(self._path) or "/",
        )  # fmt: skip
        if done.returncode:
            raise RuntimeError(f"the module ended with status {done.returncode}")
        return json.loads(done.stdout) if name else None


def spec_from_file_location(name, location, **_):
    loader = SimpleNamespace(exec_module=lambda module: module._asked(""))
    return SimpleNamespace(name=name, path=os.path.abspath(location), loader=loader)


def module_from_spec(spec):
    return _Module(spec.path)


def run_path(path, **_):
    _Module(os.path.abspath(path))._asked("")
    return {}
