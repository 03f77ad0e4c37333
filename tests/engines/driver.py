"""`python -m tests.engines.driver MODEL CORPUS RUN WORKERS [ADDRESS]`: a slow study on Ray, to be killed."""

from __future__ import annotations

import sys

import headscope
from headscope.engines import Ray
from headscope.lens import ModelSource
from headscope.progress import Bar
from tests.engines.planted import Slowly

SHARD = 3  # documents
SHARDS = 150
TEXTS = [f"the {'cat ' * (1 + n % 9)}sat on the mat , and the dog" for n in range(SHARD * SHARDS)]


def main(model: str, corpus: str, run: str, workers: str, address: str | None = None) -> None:
    init = {"num_cpus": int(workers), "object_store_memory": 100 * 2**20}
    with Ray(address, int(workers), threads=1, init=init) as engine, Bar() as bar:
        headscope.study(ModelSource(model), corpus, [Slowly()], out=run, shard_size=SHARD, engine=engine, progress=bar)


if __name__ == "__main__":
    main(*sys.argv[1:])
