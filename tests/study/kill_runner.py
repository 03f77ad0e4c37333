"""Runs a study in child processes and kills them at random moments.

`python -m tests.study.kill_runner MODEL CORPUS RUN SEED`. The children are forked from a process that has
imported everything, so that a kill hits the study and not the imports.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from pathlib import Path

import torch

import headscope

KILLS = 20


def child(model: str, corpus: Path, run: Path) -> int:
    """Start a study in a fork, and say who it is."""
    pid = os.fork()
    if pid == 0:
        try:
            torch.set_num_threads(1)
            with headscope.open(model) as lens:
                headscope.study(lens, corpus, out=run, shard_size=3, batch_size=2)
            os._exit(0)
        except BaseException as error:
            print(f"child failed: {error!r}", file=sys.stderr)
            os._exit(1)
    return pid


def finish(model: str, corpus: Path, run: Path) -> float:
    start = time.monotonic()
    _, status = os.waitpid(child(model, corpus, run), 0)
    assert status == 0, "an uninterrupted run must finish"
    return time.monotonic() - start


def main(model: str, corpus: Path, run: Path, seed: int) -> None:
    whole = finish(model, corpus, run.with_name("whole"))
    chance = random.Random(seed)
    killed = 0
    for attempt in range(10 * KILLS):
        pid = child(model, corpus, run)
        # Most of the run is done after a few kills: later ones come earlier, so that they still hit something.
        time.sleep(chance.uniform(0, whole))
        finished, _ = os.waitpid(pid, os.WNOHANG)
        if finished == 0:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            killed += 1
        else:  # it got through: begin again, so that twenty kills are twenty kills
            if killed < KILLS:
                for file in (*run.glob("tables/*"), *sorted(run.glob("shards/*"))[attempt % 3 :]):
                    file.unlink()
        if killed == KILLS:
            break
    assert killed == KILLS
    finish(model, corpus, run)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4]))
