"""Several Ray nodes with addresses of their own: a whole one is lost, and the bytes are the same."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.engines.clusters import files_of, finished, wait_until
from tests.engines.driver import SHARDS
from tests.engines.hosts import Hosts

pytestmark = [pytest.mark.slow, pytest.mark.cluster, pytest.mark.xdist_group("ray")]


def test_a_whole_host_is_lost(model, corpus, whole, start, tmp_path: Path, tmp_path_factory) -> None:
    run = tmp_path / "run"
    with Hosts(tmp_path_factory.mktemp("r")) as hosts:
        hosts.add()
        gone = hosts.add()
        driver = start(model, corpus, run, 3, hosts.address)
        wait_until(lambda: finished(run) >= 30)
        hosts.lose(gone)
        assert finished(run) < SHARDS - 20, "too late to lose anything"
        _, said = driver.communicate(timeout=300)
    assert driver.returncode == 0, said
    assert re.search(r"^Worker \d+ on \S+ is lost", said, re.MULTILINE), said
    assert files_of(run) == whole
