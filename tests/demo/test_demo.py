"""The command: a summary that fits 80 columns, JSON that parses, pictures that are whole or not there, and the report."""

import io
import json
import sys
from pathlib import Path
from xml.etree import ElementTree

import matplotlib.image
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text
from rich.console import Console

from headscope.cli import main
from headscope.demo.observation import Observation
from headscope.demo.picture import draw, save
from headscope.demo.summary import print_summary
from headscope.report import description

pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def pictures(observation: Observation, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return save(draw(observation), tmp_path_factory.mktemp("pictures"))


def test_pictures_are_a_png_and_an_svg_and_nothing_else_is_left(pictures: list[Path]) -> None:
    png, svg = pictures
    assert png.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    assert matplotlib.image.imread(png).shape[:2] == (600, 1400)
    assert png.stat().st_size < 200_000
    assert ElementTree.parse(svg).getroot().tag.endswith("svg")
    assert sorted(png.parent.iterdir()) == [png, svg]


def test_labels_of_the_picture_do_not_overlap(observation: Observation) -> None:
    figure = draw(observation)
    figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in figure.findobj(Text) if text.get_text() and text.get_visible()]
    assert len(boxes) > 2 * 72
    overlapping = [(one, other) for i, one in enumerate(boxes) for other in boxes[:i] if one.overlaps(other)]
    assert not overlapping
    assert all(box.x0 >= 0 and box.x1 <= 1400 and box.y0 >= 0 and box.y1 <= 600 for box in boxes)


def test_a_picture_that_fails_leaves_the_old_one(
    observation: Observation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "demo.png").write_text("old")

    def fail_halfway(self: Figure, path: Path, **options: object) -> None:
        path.write_text("half")
        raise KeyboardInterrupt

    monkeypatch.setattr(Figure, "savefig", fail_halfway)
    with pytest.raises(KeyboardInterrupt):
        save(draw(observation), tmp_path)
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("demo.png", "old")]


def test_the_summary_fits_80_columns_and_is_plain_off_a_terminal(observation: Observation) -> None:
    written = io.StringIO()
    console = Console(file=written, width=80, highlight=False)
    print_summary(observation, [Path("out/demo.png"), Path("out/demo.svg")], Path("out/report.html"), console)
    said = written.getvalue()
    assert "\x1b" not in said
    commands = ("headscope doctor", "headscope serve", "headscope table")  # with paths as long as they are
    assert all(len(line) <= 80 for line in said.splitlines() if not any(command in line for command in commands))
    assert "0.2  99%" in said  # the head that looks at the previous token
    assert "out/demo.png" in said
    assert "out/report.html" in said
    assert f"headscope serve --run {observation.run}" in said


def test_the_snippet_of_the_summary_runs(observation: Observation) -> None:
    written = io.StringIO()
    print_summary(observation, [Path("demo.png")], Path("report.html"), Console(file=written, width=80, highlight=False))
    snippet = [
        line[4:] for line in written.getvalue().splitlines() if line.startswith(("    from", "    reading", "    print"))
    ]
    assert len(snippet) == 3
    exec("\n".join(snippet), {})


def test_json_parses_and_says_where_the_pictures_are(
    installed_model: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["headscope", "demo", "--json", "-o", str(tmp_path / "new" / "folder")])
    with pytest.raises(SystemExit) as exit:
        main()
    assert exit.value.code == 0
    found = json.loads(capsys.readouterr().out)
    assert len(found["heads"]) == 72
    assert len(found["layers"]) == 6
    assert found["heads"][2]["weight"]["previous"] > 0.9
    assert all(Path(picture).is_file() for picture in found["pictures"])
    report = Path(found["report"])
    assert report == tmp_path / "new" / "folder" / "report.html"
    assert report.stat().st_size < 15e6
    assert "<title>all-MiniLM-L6-v2 reads “The clock at Saint Orrin” · headscope</title>" in report.read_text("utf-8")


def test_a_folder_that_cannot_be_made_is_an_error_before_anything_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(sys, "argv", ["headscope", "demo", "-o", str(tmp_path / "file")])
    with pytest.raises(SystemExit) as exit:
        main()
    assert exit.value.code == 2
    assert "choose another with -o" in capsys.readouterr().err


def test_the_study_counts_what_a_report_shows(observation: Observation) -> None:
    described = description(observation.run)
    assert len(described["heads"]) == 72
    assert described["heads"][2]["role"] == "previous token"
    assert {head["family"] for head in described["heads"]} > {"position", "broad", "none"}
    assert all(len(head["exemplars"]) >= 3 for head in described["heads"])
    assert all(head["special"]["weight"] is not None and head["special"]["norm"] is not None for head in described["heads"])
    assert len(described["scatters"]) == 1
    assert len(described["findings"]) >= 8
