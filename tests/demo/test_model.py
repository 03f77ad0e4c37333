"""The demo's model is the published one, or there is an error that says what to do."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from headscope.cli import main
from headscope.demo.model import HUB_ID, PACKAGE, REQUIREMENT, check_weights, open_model, packaged_folder
from headscope.errors import ModelError


@pytest.fixture
def tampered_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package of the right name, found before any other; importing it would fail."""
    folder = tmp_path / PACKAGE / "model"
    folder.mkdir(parents=True)
    (tmp_path / PACKAGE / "__init__.py").write_text("raise AssertionError('imported')")
    (folder / "model.safetensors").write_bytes(b"other weights")
    monkeypatch.syspath_prepend(str(tmp_path))
    return folder


def test_other_weights_are_refused_with_what_to_do(tampered_package: Path) -> None:
    assert packaged_folder() == tampered_package
    with pytest.raises(ModelError, match=r"not the file that was published.*pip install --force-reinstall"):
        open_model()


def test_the_refusal_is_exit_code_2_and_one_line(
    tampered_package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["headscope", "demo", "-o", str(tmp_path / "out")])
    with pytest.raises(SystemExit) as exit:
        main()
    shown = capsys.readouterr()
    assert exit.value.code == 2
    assert shown.out == ""
    assert shown.err.count("\n") == 1
    assert str(tampered_package) in shown.err
    assert [file.name for file in (tmp_path / "out").iterdir()] == ["demo.txt"]


@pytest.mark.real
def test_one_flipped_bit_is_refused(installed_model: None, tmp_path: Path) -> None:
    folder = packaged_folder()
    assert folder is not None
    copy = Path(shutil.copy(folder / "model.safetensors", tmp_path))
    check_weights(copy)
    with copy.open("r+b") as opened:
        opened.seek(-1, os.SEEK_END)
        last = opened.read(1)[0]
        opened.seek(-1, os.SEEK_END)
        opened.write(bytes([last ^ 1]))
    with pytest.raises(ModelError, match="not the file that was published"):
        check_weights(copy)


def test_a_package_without_weights_does_not_count(tampered_package: Path) -> None:
    (tampered_package / "model.safetensors").unlink()
    assert packaged_folder() is None


def test_with_neither_way_the_error_names_both(tmp_path: Path) -> None:
    program = "from headscope.cli import main; from headscope.demo import model; model.PACKAGE = 'not_installed'; main()"
    # A process of its own: the hub's cache and its offline switch are read when transformers is imported.
    finished = subprocess.run(
        [sys.executable, "-c", program, "demo", "-o", str(tmp_path / "out")],
        env={**os.environ, "HF_HOME": str(tmp_path), "HF_HUB_OFFLINE": "1", "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert finished.returncode == 2
    assert f"pip install --no-deps {REQUIREMENT}" in finished.stderr
    assert HUB_ID in finished.stderr
    assert "Traceback" not in finished.stderr
