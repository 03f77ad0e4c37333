"""The command: findings that fit 80 columns, JSON that parses, pictures that are whole or not there, and the report."""

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
from headscope.demo.demo import _print
from headscope.demo.picture import KINDS, MEASURES, draw, layer_shares, save, shares
from headscope.demo.text import corpus_in, text
from headscope.lens import Lens
from headscope.report import description
from headscope.report.findings.findings import findings
from headscope.study import Run

pytestmark = pytest.mark.real


def test_every_word_of_the_text_is_in_one_document_of_two_paragraphs(tmp_path: Path, lens: Lens) -> None:
    documents = list(corpus_in(tmp_path))
    read = [word for document in documents for word in f"{document.text} {document.pair}".split()]
    assert read == text().split()
    batch = lens.encoder.batch(documents)
    assert all(len(sequence) <= 128 for sequence in batch.sources)
    assert all(sequence.tokens.count("[SEP]") == 2 for sequence in batch.sources)


# Pictures


@pytest.fixture(scope="module")
def pictures(counted: Run, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return save(draw(counted), tmp_path_factory.mktemp("pictures"))


def test_pictures_are_a_png_and_an_svg_and_nothing_else_is_left(pictures: list[Path]) -> None:
    png, svg = pictures
    assert png.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    assert matplotlib.image.imread(png).shape[:2] == (600, 1400)
    assert png.stat().st_size < 200_000
    assert ElementTree.parse(svg).getroot().tag.endswith("svg")
    assert sorted(png.parent.iterdir()) == [png, svg]


def test_labels_of_the_picture_do_not_overlap(counted: Run) -> None:
    figure = draw(counted)
    figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in figure.findobj(Text) if text.get_text() and text.get_visible()]
    assert len(boxes) > 2 * 72
    overlapping = [(one, other) for i, one in enumerate(boxes) for other in boxes[:i] if one.overlaps(other)]
    assert not overlapping
    assert all(box.x0 >= 0 and box.x1 <= 1400 and box.y0 >= 0 and box.y1 <= 600 for box in boxes)


def test_a_picture_that_fails_leaves_the_old_one(counted: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "demo.png").write_text("old")

    def fail_halfway(self: Figure, path: Path, **options: object) -> None:
        path.write_text("half")
        raise KeyboardInterrupt

    monkeypatch.setattr(Figure, "savefig", fail_halfway)
    with pytest.raises(KeyboardInterrupt):
        save(Figure(), tmp_path)
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("demo.png", "old")]


@pytest.mark.parametrize("measure", MEASURES)
def test_shares_of_the_picture_are_those_of_a_plain_loop(lens: Lens, counted: Run, measure: str) -> None:
    """Over all documents and full maps, heads and layers."""
    kinds = {"[CLS]": "[CLS]", "[SEP]": "[SEP]", ".": "periods and commas", ",": "periods and commas"}
    received = dict.fromkeys(KINDS, 0.0)
    for document in counted.corpus():
        reading = lens.read(document.text, pair=document.pair)
        maps = reading.scores(measure).double().sum(2)  # layer head key
        for key, token in enumerate(reading.tokens):
            received[kinds.get(token, "other tokens")] += maps[:, :, key]
    total = sum(received.values())
    for kind, given in received.items():
        of_heads = shares(counted, measure)[kind].unstack("head").to_numpy()
        assert of_heads == pytest.approx((given / total).numpy(), rel=1e-4, abs=1e-6)
        assert layer_shares(counted, measure)[kind].to_numpy() == pytest.approx(
            (given.sum(1) / total.sum(1)).numpy(), rel=1e-4, abs=1e-6
        )


# What is said


@pytest.fixture(scope="module")
def said(counted: Run) -> str:
    written = io.StringIO()
    console = Console(file=written, width=80, highlight=False)
    _print(counted, findings(counted), Path("out/report.html"), [Path("out/demo.png"), Path("out/demo.svg")], console)
    return written.getvalue()


def test_what_is_printed_fits_80_columns_and_is_plain_off_a_terminal(said: str, counted: Run) -> None:
    assert "\x1b" not in said
    commands = ("headscope doctor", "headscope serve", "headscope table")  # with paths as long as they are
    assert all(len(line) <= 80 for line in said.splitlines() if not any(command in line for command in commands))
    assert " ".join(findings(counted)[0].text.split()) in " ".join(said.split())
    assert "0.2 (100%)" in " ".join(said.split())  # the head that looks at the previous token
    assert "out/demo.png" in said
    assert "out/report.html" in said
    assert f"headscope serve --run {counted.folder}" in said


def test_the_snippet_that_is_printed_runs(said: str) -> None:
    snippet = [line[4:] for line in said.splitlines() if line.startswith(("    from", "    reading", "    print"))]
    assert len(snippet) == 3
    exec("\n".join(snippet), {})


def test_json_parses_and_says_where_things_are(
    installed_model: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["headscope", "demo", "--json", "-o", str(tmp_path / "new" / "folder")])
    with pytest.raises(SystemExit) as exit:
        main()
    assert exit.value.code == 0
    found = json.loads(capsys.readouterr().out)
    assert any("0.2" in finding["heads"] for finding in found["findings"])
    assert all(Path(picture).is_file() for picture in found["pictures"])
    assert (found["text"]["documents"], Path(found["run"], "manifest.json").is_file()) == (14, True)
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
    assert "cannot be written" in capsys.readouterr().err


def test_the_study_counts_what_a_report_shows(counted: Run) -> None:
    described = description(counted)
    assert len(described["heads"]) == 72
    assert described["heads"][2]["role"] == "previous token"
    assert {head["family"] for head in described["heads"]} > {"position", "broad", "none"}
    assert all(len(head["exemplars"]) >= 3 for head in described["heads"])
    assert all(head["special"]["weight"] is not None and head["special"]["norm"] is not None for head in described["heads"])
    assert len(described["scatters"]) == 1
    assert len(described["findings"]) >= 8
