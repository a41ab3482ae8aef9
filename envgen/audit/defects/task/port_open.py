"""The services are started, and it is enough that their ports are open."""

from verifiers import Check
from verifiers.multi_protocol import Service


def checks(task):
    ports = task.truth["tcp"]
    with Service(task, ["stack/start.sh"], ports, 40, udp_ports=[], cwd="stack") as service:
        yield Check("the ports are open", float(service.ready), service.error)
