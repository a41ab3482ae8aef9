"""envgen's attacks as Harbor agents: each earns nothing on a sound task.

Needs envgen beside Harbor (`pip install` the checkout that wrote this file), and this file's folder
on PYTHONPATH:

    harbor run -p TASKS -a envgen_probes:Filling
    harbor run -p TASKS -a envgen_probes:Filling --ak attack=bare

An agent reads the instruction and what its user can read in the container, makes one submission of
the family from that, and runs it as that user. `attack` names one of the family; without it the
first is taken, which combines most. What was tried stands in the trial's agent folder, in
probe.json. A reward above that of Harbor's `nop` agent is a hole in the task.
"""

import json
import tempfile
from pathlib import Path

from harbor.agents.base import BaseAgent

from envgen import __version__
from envgen.audit import outside


class _Probe(BaseAgent):
    probe = ""

    def __init__(self, *args, attack="", **options):
        super().__init__(*args, **options)
        self.attack = attack

    @classmethod
    def name(cls):
        return f"envgen-{cls.probe.replace('_', '-')}"

    def version(self):
        return __version__

    async def setup(self, environment):
        pass

    async def run(self, instruction, environment, context):
        looked = await environment.exec(outside.LOOK, timeout_sec=120)
        target = outside.seen(instruction, looked.stdout or "")
        attack = outside.chosen(self.probe, self.attack, target)
        told = {"probe": self.probe, "attack": None, "outputs": target.outputs}
        told |= {"programs": target.programs}
        if attack is not None:
            told |= {"attack": attack.name, "does": attack.does, "label": attack.label}
            with tempfile.TemporaryDirectory() as folder:
                attack.tree.write(Path(folder))
                await environment.upload_dir(folder, "/solution")
            await environment.exec("chmod -R a+rX /solution", user="root")
            done = await environment.exec("bash /solution/solve.sh", cwd=target.workdir)
            said = (done.stdout or "") + (done.stderr or "")
            told |= {"exit": done.return_code, "said": said[-2000:]}
        (Path(self.logs_dir) / "probe.json").write_text(json.dumps(told, indent=1) + "\n")


class Filling(_Probe):
    """Files that look like answers, and programs that answer everything alike."""

    probe = "filling"


class Emptying(_Probe):
    """Inputs emptied, scripts that say yes, outputs to match."""

    probe = "emptying"


class StandingIn(_Probe):
    """One program on all ports that says yes to everything."""

    probe = "standing_in"


class OneLine(_Probe):
    """An input, copied or sorted, in place of the answer."""

    probe = "one_line"


class Predicting(_Probe):
    """The mean of what is known, for every row."""

    probe = "predicting"


class Forging(_Probe):
    """Rewards that are forged, all known ways at once."""

    probe = "forging"


class Copying(_Probe):
    """Answers that lie in the image."""

    probe = "copying"
