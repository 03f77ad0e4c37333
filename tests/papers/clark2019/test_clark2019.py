"""clark2019 from end to end on tiny models: every result, what is left out, going on, the numbers behind."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

import headscope
from headscope.papers import clark2019
from headscope.papers.clark2019 import drawings, facts
from headscope.study.results import figures as figure_style
from headscope.text import Corpus
from tests import places
from tests.latex import compile_tables, tables_of
from tests.papers import legible
from tests.papers.samples import example, run_command, save_tiny
from tests.tiny import tiny
from tests.tiny_tokenizers import tiny_tokenizer

RESULTS = {"fig1", "fig1_maps", "fig2", "fig4", "fig5", "table1", "table2", "table3", "fig6", "claims"}


@pytest.fixture(scope="module")
def figures() -> Iterator[dict[str, Figure]]:
    """Those of `finished`."""
    with legible.kept() as made:
        yield made


@pytest.fixture(scope="module")
def finished(data: dict[str, Path], tmp_path_factory: pytest.TempPathFactory, figures: dict[str, Figure]) -> headscope.Run:
    lens = headscope.open(tiny("bert"), tiny_tokenizer("wordpiece"))
    given = clark2019.Data(
        text=Corpus.from_files(data["text"], format="paragraph-pairs"),
        treebank=Corpus.from_files(data["treebank"]),
        coreference=Corpus.from_files(data["coreference"]),
        vectors=data["vectors"],
    )
    with lens:
        return clark2019.run(lens, given, out=tmp_path_factory.mktemp("run") / "run")


def test_every_result_is_a_table_in_three_forms(finished: headscope.Run) -> None:
    made = {name.removeprefix("clark2019_") for name in finished.manifest["results"]}
    assert made == RESULTS
    for name in finished.manifest["results"]:
        assert not finished[name].empty
        for ending in ("parquet", "md", "tex"):
            assert (finished.folder / "tables" / f"{name}.{ending}").stat().st_size > 0


def test_every_table_compiles(finished: headscope.Run, tmp_path: Path) -> None:
    compile_tables(tables_of(finished.folder), tmp_path)


def test_figures_are_svg_and_pdf_with_text_as_text(finished: headscope.Run) -> None:
    for name in ("fig1", "fig1_maps", "fig2", "fig4", "fig5", "fig6"):
        svg = (finished.folder / "figures" / f"clark2019_{name}.svg").read_text()
        assert "<text" in svg
        assert (finished.folder / "figures" / f"clark2019_{name}.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.usefixtures("finished")
def test_figures_are_legible_and_say_whose_they_are(figures: dict[str, Figure]) -> None:
    text, trees, mentions = "2 documents of text.txt", "80 sentences of tree.conllu", "1 window of coref.conll"
    of = {"fig5": [trees, mentions], "fig6": [text, trees, mentions]}
    for name in ("fig1", "fig1_maps", "fig2", "fig4", "fig5", "fig6"):
        figure = figures[f"clark2019_{name}"]
        assert legible.said(figure) == " · ".join(["BertModel", *of.get(name, [text])])
        assert legible.overlaps(figure) == []
        assert legible.clipped(figure) == []


def test_small_gradients_have_their_power_beside_the_axis() -> None:
    """Above it is the legend."""
    by_layer = pd.DataFrame({"layer": [0, 1], "unmasked": [0.001, 0.0042], "[SEP]": [0.002, 0.003], "punctuation": 0.001})
    lines = {"all unmasked tokens": "unmasked", "[SEP]": "[SEP]", ". or ,": "punctuation"}
    made = drawings.gradients(by_layer, lines)
    assert legible.overlaps(made) == []
    (panel,) = made.axes
    assert panel.yaxis.get_offset_text().get_text() == ""
    assert panel.get_ylabel() == "Average |∂L/∂α| (10⁻³)"
    assert panel.lines[0].get_ydata().tolist() == pytest.approx([1, 4.2])


def test_names_of_heads_cover_neither_points_nor_each_other() -> None:
    """A crowd in the middle whose heads all know something."""
    lots = np.random.default_rng(0)
    place = lots.normal(size=(72, 2))
    place[40:52] = lots.normal(scale=0.12, size=(12, 2))
    known = ["" if head < 40 or head >= 52 else f"relation:{head}; obj; det" for head in range(72)]
    table = pd.DataFrame({"layer": np.arange(72) // 12, "head": np.arange(72) % 12, "x": place[:, 0], "y": place[:, 1]})
    made = drawings.heads_as_points(table.assign(behaviour=known))
    figure_style.say(made, "a model · some texts")
    names = {text: box for text, box in legible.boxes(made) if text.startswith("relation")}
    assert len(names) == 12
    assert legible.overlaps(made) == []
    assert legible.clipped(made) == []
    panel = made.axes[1]
    points = panel.transData.transform(place) * 72 / made.dpi
    covered = [name for name, box in names.items() if any(box.contains(*point) for point in points)]
    assert covered == []


def test_what_cannot_be_made_is_said(finished: headscope.Run) -> None:
    (left_out,) = finished.manifest["left_out"]
    assert left_out.startswith("Figure 3 (gradients): ")
    assert "language-model head" in left_out
    assert left_out in (finished.folder / "clark2019.md").read_text()


def test_tables_count_from_0_and_the_page_from_1(finished: headscope.Run) -> None:
    assert finished["clark2019_fig1"]["layer"].tolist() == sorted([0, 1, 2] * 4)
    shown = (finished.folder / "tables" / "clark2019_table1.md").read_text()
    best = finished["clark2019_table1"].query("relation == 'det' and better").iloc[0]
    (row,) = [line for line in shown.splitlines() if line.startswith("| det |")]
    assert f"| {best['layer'] + 1}-{best['head'] + 1} |" in row
    assert row.endswith("| det | 8-11 | 94.3 | 51.7 (+1) |")
    labels = [f"{layer}-{head}" for layer in (1, 2, 3) for head in (1, 2, 3, 4)]
    for name in ("clark2019_fig2", "clark2019_fig4"):
        shown = (finished.folder / "tables" / f"{name}.md").read_text()
        assert [line.split(" | ")[0].removeprefix("| ") for line in shown.splitlines() if "|" in line][2:] == labels
        assert finished[name]["layer"].min() == finished[name]["head"].min() == 0


def test_the_papers_numbers_stand_beside(finished: headscope.Run) -> None:
    page = (finished.folder / "clark2019.md").read_text()
    for number in ("65", "77", "3.89", "BERT-base"):
        assert number in page


def test_the_statistics_behind_are_tables_of_the_run(finished: headscope.Run) -> None:
    assert {"entropy", "offsets", "relations", "antecedents", "jensen_shannon"} <= set(finished.tables)


def test_run_again_gives_the_same_bytes(finished: headscope.Run, data: dict[str, Path]) -> None:
    def content() -> dict[str, bytes]:
        files = [file for part in ("tables", "figures") for file in (finished.folder / part).iterdir()]
        return {file.name: file.read_bytes() for file in files}

    before = content()
    lens = headscope.open(tiny("bert"), tiny_tokenizer("wordpiece"))
    with lens:
        text = Corpus.from_files(data["text"], format="paragraph-pairs")
        clark2019.run(lens, clark2019.Data(text=text), out=finished.folder)
    after = content()
    changed = {name for name in before if before[name] != after[name]}
    # Without the treebank, fewer claims are made and fewer behaviours marked; all else is as it was.
    assert changed <= {f"clark2019_{name}" for name in ("claims.parquet", "claims.md", "claims.tex", "fig6.parquet")} | {
        "clark2019_fig6.md", "clark2019_fig6.tex", "clark2019_fig6.svg", "clark2019_fig6.pdf"
    }  # fmt: skip


def test_other_settings_are_refused(finished: headscope.Run, data: dict[str, Path]) -> None:
    lens = headscope.open(tiny("bert"), tiny_tokenizer("wordpiece"))
    given = clark2019.Data(text=Corpus.from_files(data["text"]))
    with lens, pytest.raises(headscope.HeadscopeError, match="begun with another setting: seed was 0 and is 1"):
        clark2019.run(lens, given, clark2019.Settings(seed=1), out=finished.folder)


def test_command_on_a_decoder_by_norm(monkeypatch, capsys, data, tmp_path: Path) -> None:
    model = save_tiny(tmp_path / "model", "llama")
    options = [f"--{name}={path}" for name, path in data.items() if name in ("text", "treebank")]
    command = ("paper", "clark2019", model, *options, "-o", tmp_path / "run", "-m", "norm", "--no-twin")
    code, out, _ = run_command(monkeypatch, capsys, *command, "--json")
    told = json.loads(out)
    assert code == 0
    assert "clark2019_fig3" in told["results"]
    assert any("--coreference" in line for line in told["left_out"])
    assert "clark2019_table3" in told["results"]  # so that it is not said to be left out
    assert [line for line in told["left_out"] if "able 3" in line] == [
        "Of table 3 (section 5) only the probes that read words: there are no vectors (--vectors)."
    ]
    table = headscope.load_run(tmp_path / "run")["clark2019_fig2"]
    assert table["separator"].isna().all() or "</s>" in (tmp_path / "run" / "clark2019.md").read_text()


def test_what_a_reproduction_needs_is_set_on_the_command_line(monkeypatch, capsys, data, tmp_path: Path) -> None:
    model = save_tiny(tmp_path / "model")
    options = [f"--{name}={data[name]}" for name in ("text", "treebank", "coreference")]
    chosen = {
        "means": "texts",
        "clitics": False,
        "subtypes": False,
        "variant": "code",
        "candidates": "mentions",
        "singletons": True,
    }
    given = [part for name, value in chosen.items() for part in ("--set", f"{name}={value}")]
    command = ("paper", "clark2019", model, *options, "-o", tmp_path / "run", "--no-twin", "--json", *given)
    code, _, err = run_command(monkeypatch, capsys, *command)
    assert code == 0, err
    run = headscope.load_run(tmp_path / "run")
    assert chosen.items() <= run.manifest["settings"].items()
    assert {"relations_code_without_clitics_without_subtypes", "antecedents_mentions", "entropy_of_texts"} <= set(run.tables)
    assert "corefer with nothing are kept" in (tmp_path / "run" / "clark2019.md").read_text()


def test_gradients_of_a_translator_are_left_out_and_all_else_is_made(monkeypatch, capsys, data, tmp_path: Path) -> None:
    model = save_tiny(tmp_path / "model", "marian")
    options = [f"--{name}={path}" for name, path in data.items() if name in ("text", "treebank", "coreference")]
    command = ("paper", "clark2019", model, *options, "-o", tmp_path / "run", "--no-twin", "--json")
    code, out, err = run_command(monkeypatch, capsys, *command)
    assert code == 0, err
    told = json.loads(out)
    made = {name.removeprefix("clark2019_") for name in told["results"]}
    assert made == RESULTS
    (gradients,) = [line for line in told["left_out"] if line.startswith("Figure 3")]
    assert "predicts a target" in gradients


def test_command_without_data_and_with_a_study_in_the_way(monkeypatch, capsys, data, tmp_path: Path) -> None:
    model = save_tiny(tmp_path / "model")
    code, _, err = run_command(monkeypatch, capsys, "paper", "clark2019", model, "-o", tmp_path / "run")
    assert (code, "give at least one of --text" in err) == (2, True)
    assert run_command(monkeypatch, capsys, "study", model, data["text"], "-o", tmp_path / "study")[0] == 0
    command = ("paper", "clark2019", model, "--text", data["text"], "-o", tmp_path / "study")
    code, _, err = run_command(monkeypatch, capsys, *command)
    assert (code, "is the run of a study, not of clark2019" in err) == (2, True)


def test_facts_are_the_papers() -> None:
    """Printed in the text of the paper, where it is here: nothing was mistyped."""
    paper = places.PAPERS / "clark2019.txt"
    if not paper.is_file():
        pytest.skip("../shared/papers/clark2019.txt is not here")
    text = paper.read_text()
    for row in facts.TABLE1.frame.to_dict("records"):
        name = row["relation"].capitalize() if row["relation"] == "all" else row["relation"]
        assert f"{name} {row['head']} {row['accuracy']} {row['baseline']} ({row['offset']})" in text
    for row in facts.TABLE2.frame.to_dict("records"):
        numbers = " ".join(str(row[column]) for column in ("all", "pronoun", "proper", "nominal"))
        assert numbers in text
    for uas in facts.TABLE3.values():
        assert f" {uas}\n" in text


def test_tables_hold_what_markdown_shows(finished: headscope.Run) -> None:
    table = finished["clark2019_table3"]
    assert isinstance(table, pd.DataFrame)
    page = (finished.folder / "tables" / "clark2019_table3.md").read_text()
    for uas in table["uas"]:
        assert f"| {100 * uas:.1f} |" in page


def test_the_pages_example_works(monkeypatch, capsys, data, tmp_path: Path) -> None:
    save_tiny(tmp_path / "bert-base-uncased")
    shutil.copy(data["text"], tmp_path / "wiki.txt")
    monkeypatch.chdir(tmp_path)
    exec(example("clark2019"), {})
    assert "separator" in capsys.readouterr().out
