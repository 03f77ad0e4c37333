"""Kills, full disks and Ctrl-C: nothing that was finished is lost, and the tables are the same bytes."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import headscope
from headscope.files import CannotWrite
from tests import places
from tests.tiny import tiny
from tests.tiny_tokenizers import tiny_tokenizer

ROOT = places.ROOT
TEXTS = [f"the {'cat ' * (1 + n % 9)}sat on the mat , and the dog {n % 5}" for n in range(60)]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model")
    tiny("bert").save_pretrained(path)
    tiny_tokenizer("wordpiece").save_pretrained(path)
    return path


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "corpus.txt"
    path.write_text("\n".join(TEXTS))
    return path


def files_of(run: Path) -> dict[str, bytes]:
    return {str(file.relative_to(run)): file.read_bytes() for file in sorted(run.rglob("*")) if file.is_file()}


@pytest.mark.slow
def test_twenty_kills_change_no_byte(model: Path, corpus: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "tests.study.kill_runner", str(model), str(corpus), str(tmp_path / "killed"), "7"]
    subprocess.run(command, cwd=ROOT, env=environment, check=True, timeout=400)
    left = {name for name in files_of(tmp_path / "killed") if name.endswith(".unfinished")}
    killed = {name: data for name, data in files_of(tmp_path / "killed").items() if name not in left}
    assert killed == files_of(tmp_path / "whole")


@pytest.mark.slow
def test_ctrl_c_leaves_a_run_that_resumes(model: Path, corpus: Path, tmp_path: Path) -> None:
    longer = tmp_path / "longer.txt"  # so that a busy machine's test does not come too late with its signal
    longer.write_text(corpus.read_text() * 10)
    command = [
        sys.executable,
        "-m",
        "headscope",
        "study",
        str(model),
        str(longer),
        "-o",
        str(tmp_path / "r"),
        "--shard-size",
        "1",
    ]
    process = subprocess.Popen(
        command,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        # Tests that run in the background are deaf to Ctrl-C, and so would be what they start.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    shards = tmp_path / "r" / "shards"
    for _ in range(600):
        if shards.is_dir() and len(list(shards.iterdir())) >= 3:
            break
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert errors.strip().splitlines()[-1] == "headscope: interrupted; run the same command again to go on."
    assert "Traceback" not in errors
    again = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "Going on" in again.stderr
    assert (tmp_path / "r" / "tables" / "entropy.parquet").is_file()


def test_full_disk_is_said_and_the_run_resumes(model: Path, corpus: Path, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk]
    if os.geteuid() != 0 or not shutil.which("mount") or subprocess.run(command, capture_output=True).returncode:
        pytest.skip("a small tmpfs cannot be mounted here: that takes root")
    try:
        with headscope.open(model) as lens:
            with pytest.raises(CannotWrite, match=r"disk is full.*run the same command again"):
                headscope.study(lens, corpus, out=disk / "run", shard_size=2)
            finished = len(list((disk / "run" / "shards").iterdir()))
            assert 0 < finished < 30
            subprocess.run(["mount", "-o", "remount,size=8m", disk], check=True)
            headscope.study(lens, corpus, out=disk / "run", shard_size=2)
            headscope.study(lens, corpus, out=tmp_path / "whole", shard_size=2)
        assert files_of(disk / "run") == files_of(tmp_path / "whole")
    finally:
        subprocess.run(["umount", disk], check=False)
