"""Kills, faults and differing workers, all real: the same bytes, or a sentence, and nothing that was counted is lost."""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import headscope
from headscope.engines import Ray
from headscope.engines.crew import WorkFailed
from headscope.errors import ModelError
from headscope.lens import ModelSource
from headscope.progress import Silent
from headscope.statistics import Entropy
from headscope.study.shards import shard_file
from tests.engines.clusters import files_of, finished, small_ray, wait_until
from tests.engines.driver import SHARDS, TEXTS
from tests.engines.planted import BAD, Deadly, Failing
from tests.engines.processes import alive, called, descendants, kill
from tests.papers.samples import save_tiny

pytestmark = [pytest.mark.slow, pytest.mark.cluster, pytest.mark.xdist_group("ray")]

KILLS = 5


def counting(driver: subprocess.Popen[str]) -> list[int]:
    return called(descendants(driver.pid), "ray::Worker.count")


def test_five_workers_and_the_driver_are_killed(model, corpus, whole, start, tmp_path: Path) -> None:
    run, chance, killed = tmp_path / "run", random.Random(3), 0
    driver = start(model, corpus, run, 2)
    for number in range(KILLS):
        before = finished(run)
        wait_until(lambda before=before: finished(run) >= before + 4)
        wait_until(lambda driver=driver: counting(driver))
        kill([chance.choice(counting(driver))])
        killed += 1
        if number == 2:  # and now who hands out the shards; workers end by themselves, Ray's own agents minutes later
            wait_until(lambda before=before: finished(run) >= before + 6)
            left = descendants(driver.pid)
            driver.kill()
            driver.wait()
            assert finished(run) < SHARDS
            try:
                wait_until(lambda left=left: not called(left, "ray::Worker"), 60)
            finally:
                kill(alive(left))
            driver = start(model, corpus, run, 2)
    assert finished(run) < SHARDS, "the last kill came too late to hit anything"
    _, said = driver.communicate(timeout=300)
    assert driver.returncode == 0, said
    assert (killed, len(re.findall(r"^Worker \d+ on \S+ is lost", said, re.MULTILINE))) == (KILLS, 2), said
    assert "Going on" in said
    left = {name: content for name, content in files_of(run).items() if not name.endswith(".unfinished")}
    assert left == whole


@pytest.fixture(scope="module")
def engine() -> Iterator[Ray]:
    with small_ray() as engine:
        yield engine


@pytest.mark.parametrize("planted", [Failing, Deadly])
def test_a_shard_that_always_fails_is_named_and_the_rest_is_kept(planted, model, engine: Ray, tmp_path: Path) -> None:
    texts = [*TEXTS[:13], f"the {BAD} end", *TEXTS[13:30]]
    source, counted = ModelSource(str(model)), {"shard_size": 2, "engine": engine}
    with pytest.raises(WorkFailed) as error:
        headscope.study(source, texts, [planted()], out=tmp_path / "run", **counted)
    said = str(error.value)
    why = "ZeroDivisionError: division by zero" if planted is Failing else "its worker died"
    assert re.match(r"Shard 6, documents 12 to 13 \(item 13 to item 14\), failed 3 times, the last time with: ", said)
    assert why in said
    log = re.search(r"its log, on \S+: (\S+)\)", said)
    assert log is not None
    assert Path(log[1]).is_file()
    assert len(said.splitlines()) == 1
    there = {index for index in range(16) if shard_file(tmp_path / "run", index).is_file()}
    assert there >= {0, 1, 2, 3, 4, 5}
    assert 6 not in there
    # Mended, it goes on: the sums are the same statistic's.
    headscope.study(source, texts, [Entropy()], out=tmp_path / "run", **counted)
    headscope.study(source, texts, [Entropy()], out=tmp_path / "here", shard_size=2)
    assert files_of(tmp_path / "run") == files_of(tmp_path / "here")


def test_workers_with_another_model_file_are_refused(model: Path, engine: Ray, tmp_path: Path) -> None:
    """The file is another one by the time that workers open it."""
    place = Path(shutil.copytree(model, tmp_path / "model"))
    other = save_tiny(tmp_path / "other", "bert")
    content = bytearray((other / "model.safetensors").read_bytes())
    content[-1] ^= 1

    class Swapped:
        def run(self, job, shards, progress):
            (place / "model.safetensors").write_bytes(content)
            return engine.run(job, shards, progress)

    with pytest.raises(ModelError, match=r"The worker on \S+ has another model .* model\.model\.safetensors was"):
        headscope.study(ModelSource(str(place)), TEXTS[:6], ["entropy"], out=tmp_path / "run", engine=Swapped())
    assert not (tmp_path / "run" / "shards").exists()


def test_no_worker_comes_where_there_is_no_room(model: Path, tmp_path: Path) -> None:
    with small_ray(threads=64, patience=3) as greedy, pytest.raises(WorkFailed, match=r"asks for 64 CPUs.*has \d CPUs"):
        headscope.study(ModelSource(str(model)), TEXTS[:6], ["entropy"], out=tmp_path / "run", engine=greedy)


def test_progress_says_who_works(model: Path, engine: Ray, tmp_path: Path) -> None:
    class Heard(Silent):
        def __init__(self) -> None:
            self.workers: list[str] = []

        def by(self, workers: str) -> None:
            self.workers.append(workers)

    heard = Heard()
    headscope.study(ModelSource(str(model)), TEXTS, ["entropy"], out=tmp_path / "run", engine=engine, progress=heard)
    assert heard.workers[0] in ("0 of 2 workers", "2 workers")
    assert heard.workers[-1] in ("1 of 2 workers", "2 workers")
    assert os.environ.get("RAY_USAGE_STATS_ENABLED") == "0"
