"""`headscope serve` as a user meets it: a process of its own, an address, and Ctrl-C."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx2
import pytest

from headscope.cli import main
from tests import places
from tests.papers.samples import save_tiny

ROOT = places.ROOT


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "tiny"
    save_tiny(path, "bert")
    return path


@pytest.fixture
def start() -> Iterator[Callable[..., tuple[subprocess.Popen[str], str]]]:
    """Start the command: the process, and the first line that it prints."""
    started: list[subprocess.Popen[str]] = []

    def begin(*given: object) -> tuple[subprocess.Popen[str], str]:
        command = [sys.executable, *map(str, given)]
        environment = {**os.environ, "HF_HUB_OFFLINE": "1"}
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        process = subprocess.Popen(command, text=True, env=environment, cwd=ROOT, **pipes)  # type: ignore[call-overload]
        started.append(process)
        return process, process.stdout.readline()

    yield begin
    for process in started:
        process.kill()
        process.wait(20)


def address_in(line: str) -> str:
    found = re.search(r"http://\S+", line)
    assert found is not None, line
    return found[0]


@pytest.mark.slow
def test_from_the_first_line_to_ctrl_c(start: Callable[..., tuple[subprocess.Popen[str], str]], folder: Path) -> None:
    process, line = start("-m", "headscope", "serve", f"small={folder}", "--port", 0, "--max-tokens", 9)
    address = address_in(line)
    assert address.startswith("http://127.0.0.1:")
    assert "token" not in line
    (model,) = httpx2.get(f"{address}api/models").json()
    assert (model["name"], model["max_tokens"]) == ("small", 9)
    assert httpx2.post(f"{address}api/read", json={"model": "small", "text": "the cat"}).status_code == 200
    assert "live" in httpx2.get(address).text
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert (process.returncode, out, err) == (0, "Stopped.\n", "")


@pytest.mark.slow
def test_everywhere_means_with_a_token(start: Callable[..., tuple[subprocess.Popen[str], str]], folder: Path) -> None:
    # Without the other commands, whose imports take longest.
    _, line = start("-c", f"from headscope.cli.serve import serve; serve([{str(folder)!r}], host='0.0.0.0', port=0)")
    found = re.search(r":(\d+)/\?token=([\w-]{20,})", line)
    assert found is not None, line
    port, token = found.groups()
    address = f"http://127.0.0.1:{port}/"
    assert httpx2.get(f"{address}api/models").status_code == 401
    assert httpx2.get(f"{address}api/models", headers={"Authorization": f"Bearer {token}"}).status_code == 200
    with httpx2.Client(follow_redirects=True) as browser:
        assert browser.get(f"{address}?token={token}").url == address
        assert browser.get(f"{address}api/models").status_code == 200


def refused(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    monkeypatch.setattr(sys, "argv", ["headscope", "serve", *map(str, arguments)])
    capsys.readouterr()
    with pytest.raises(SystemExit) as left:
        main()
    captured = capsys.readouterr()
    assert (left.value.code, captured.out, captured.err.count("\n")) == (2, "", 1), captured.err
    return captured.err


def test_mistakes_are_one_sentence(monkeypatch, capsys, folder: Path, tmp_path: Path) -> None:
    assert "is not a run directory" in refused(monkeypatch, capsys, folder, "--run", tmp_path)
    assert "Two models are called a" in refused(monkeypatch, capsys, f"a={folder}", f"a={folder}")
    assert "write its name or path" in refused(monkeypatch, capsys, f"={folder}")
    assert "There is no folder" in refused(monkeypatch, capsys, "a=./nowhere")
    assert "choose another with --token" in refused(monkeypatch, capsys, folder, "--token", "short")
    assert "choose another with --port" in refused(
        monkeypatch, capsys, folder, "--host", "no.such.host.example", "--port", 0
    )


def test_without_the_extra(monkeypatch, capsys, folder: Path) -> None:
    """As if FastAPI were not installed."""
    for name in [name for name in sys.modules if name == "headscope.server" or name.startswith("headscope.server.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "fastapi", None)
    assert "pip install 'headscope[server]'" in refused(monkeypatch, capsys, folder)
