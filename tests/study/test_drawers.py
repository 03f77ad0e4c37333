"""Figures that processes of their own draw: the same bytes, the same errors, and nobody is left behind."""

from __future__ import annotations

from pathlib import Path

import pytest

from headscope.files import CannotWrite
from headscope.later import Figure
from headscope.study.results import figures
from headscope.study.results.drawers import Drawers


def figure(number: int) -> Figure:
    made, axes = figures.figure(1, 2)
    axes[0, 0].scatter(range(number + 3), range(number + 3), rasterized=True)
    axes[0, 1].set(xlabel=f"Figure {number}, \N{GREEK SMALL LETTER ALPHA}", yscale="log", ylim=(1e-6, 1))
    figures.say(made, "Nobody's model")
    return made


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """As they are drawn here."""
    folder = tmp_path_factory.mktemp("here")
    for number in range(4):
        Drawers().save(figure(number), folder / f"figure{number}")
    return files(folder)


def test_processes_draw_the_same_bytes(tmp_path: Path, expected: dict[str, bytes], capfd) -> None:
    with Drawers(2) as drawers:
        drawers.begin()
        processes = [*drawers._started]
        assert len(processes) == 2
        for number in range(4):
            made = figure(number)
            drawers.save(made, tmp_path / f"figure{number}")
            made.clear()  # it was taken as it was
        drawers.wait()
        assert files(tmp_path) == expected
    assert [process.returncode for process in processes] == [0, 0]
    assert capfd.readouterr() == ("", "")


def test_a_file_beside_the_user_is_not_taken_for_a_library(tmp_path: Path, expected, monkeypatch, capfd) -> None:
    (tmp_path / "queue.py").write_text("raise SystemExit('not this one')")
    monkeypatch.chdir(tmp_path)
    with Drawers(1) as drawers:
        drawers.begin()
        (process,) = drawers._started
        drawers.save(figure(0), Path("figures") / "figure0")
        drawers.wait()
    assert (process.returncode, capfd.readouterr().err) == (0, "")
    assert files(tmp_path / "figures").items() <= expected.items()


def test_what_a_lost_process_leaves_is_drawn_here(tmp_path: Path, expected: dict[str, bytes]) -> None:
    with Drawers(1) as drawers:
        drawers.begin()
        drawers._started[0].kill()
        for number in range(4):
            drawers.save(figure(number), tmp_path / f"figure{number}")
        drawers.wait()
    assert files(tmp_path) == expected


def test_where_no_process_can_be_started_figures_are_drawn_here(tmp_path: Path, expected, monkeypatch) -> None:
    monkeypatch.setattr("sys.executable", str(tmp_path / "nowhere"))
    here = tmp_path / "figures"
    with Drawers(2) as drawers:
        drawers.begin()
        for number in range(4):
            drawers.save(figure(number), here / f"figure{number}")
        assert files(here) == expected


def test_what_cannot_be_written_is_said_here(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    with Drawers(1) as drawers:
        drawers.begin()
        drawers.save(figure(0), tmp_path / "file" / "figure0")
        with pytest.raises(CannotWrite, match="cannot be written"):
            drawers.wait()


def test_an_error_elsewhere_leaves_no_process_and_no_half_of_a_figure(tmp_path: Path, expected: dict[str, bytes]) -> None:
    with pytest.raises(KeyboardInterrupt), Drawers(1) as drawers:  # noqa: PT012
        drawers.begin()
        process = drawers._started[0]
        for number in range(4):
            drawers.save(figure(number), tmp_path / f"figure{number}")
        raise KeyboardInterrupt
    assert process.returncode == 0
    assert files(tmp_path).items() <= expected.items()
