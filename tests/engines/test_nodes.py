"""Several Ray nodes with addresses of their own: a whole one is lost, and the bytes are the same."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest

from tests import places
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


def test_a_host_with_another_version_is_refused_and_the_others_go_on(
    model, corpus, whole, start, tmp_path, tmp_path_factory
) -> None:
    run, other = tmp_path / "run", tmp_path / "other"
    shutil.copytree(places.ROOT / "src" / "headscope", other / "headscope")
    (other / "headscope" / "version.py").write_text('__version__ = "0.0.1"\n')
    with Hosts(tmp_path_factory.mktemp("r")) as hosts:
        hosts.add(PYTHONPATH=os.pathsep.join([str(other), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep))
        _, said = start(model, corpus, run, 2, hosts.address).communicate(timeout=300)
    told = " ".join(said.split())  # lines are wrapped
    assert re.search(r'has another model or other software than .* headscope was "\S+" and is "0\.0\.1"', told), said
    assert files_of(run) == whole
