"""The start script ends well; nobody speaks to what it should have started."""

from planted import PLANTED

from verifiers import Check


def checks(task):
    for path in PLANTED["paths"]:
        yield Check(f"{path} is there", float(task.exists(path)))
    done = task.run(["/bin/bash", "-c", "timeout 15 ./start.sh > /dev/null 2>&1; exit 0"],
                    cwd="stack", timeout=20)  # fmt: skip
    yield Check("the start script can be run", float(done.code == 0 or done.timed_out))
