"""serve_model.py WEIGHTS PORT: an OpenAI-compatible server on 127.0.0.1, until told to end."""

import os
import signal
import sys

import xllamacpp

SLOTS, CONTEXT = 3, 4096
"""Conversations at once (each keeps the beginning of its last question), and tokens of each."""


def main(weights: str, port: str) -> None:
    """Serve until SIGINT or SIGTERM."""
    wanted = xllamacpp.CommonParams()
    wanted.model.path = weights
    wanted.hostnames = ["127.0.0.1"]
    wanted.port = int(port)
    wanted.cpuparams.n_threads = wanted.cpuparams_batch.n_threads = os.cpu_count() or 1
    wanted.n_parallel, wanted.n_ctx = SLOTS, CONTEXT * SLOTS
    wanted.verbosity = 0
    ends = {signal.SIGINT, signal.SIGTERM}
    signal.pthread_sigmask(signal.SIG_BLOCK, ends)  # before the server starts threads of its own
    server = xllamacpp.Server(wanted)
    print(f"{server.listening_address}/v1", flush=True)
    signal.sigwait(ends)
    os._exit(0)  # taking the server down waits for threads that never end


if __name__ == "__main__":
    main(*sys.argv[1:])
