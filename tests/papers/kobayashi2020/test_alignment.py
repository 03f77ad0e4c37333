"""kobayashi2020, section 5, from end to end on a tiny Marian: tables 3 and 6, the figures, and what the claims say."""

from __future__ import annotations

import json
import sys
from contextlib import redirect_stdout
from dataclasses import replace
from io import StringIO
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgba

import headscope
from headscope.alignment.choice import Choice
from headscope.alignment.linking import link
from headscope.cli import main
from headscope.errors import InputError
from headscope.lens.tokens.encoder import BY_WORD
from headscope.papers import kobayashi2020
from headscope.papers.kobayashi2020 import facts
from headscope.papers.kobayashi2020.alignment import drawings, tables
from headscope.papers.kobayashi2020.alignment.aligners import Aligner
from headscope.papers.kobayashi2020.alignment.claims import claims
from headscope.papers.kobayashi2020.alignment.matrices import Pairing, examples, pairing
from headscope.papers.kobayashi2020.alignment.sections import Alignments, correlation
from headscope.statistics.alignment.scores import alignment_counts, scores
from headscope.study.results import figures
from headscope.text import Corpus, Document
from headscope.text.links import Links
from tests import places
from tests.latex import compile_tables, tables_of
from tests.papers.samples import run_command, save_tiny
from tests.statistics.tester import lens_for

LINES = [
    "the cat sat on the mat . ||| a dog sat on the mat .",
    "two dogs ||| two cats",
    "the unbelievable end ||| one unbelievable end",
    "one cat , two dogs ||| a cat and a dog",
    "a $ mat ||| the <b> mat",
    "the end . ||| the end .",
]
GOLD = ["1-1 2-2 3p3 4-4 5-5 6-6 7-7", "1-1 2-2", "1p1 2-2 3-3", "1-1 2-2 4p4 5-5", "1-1 3-3", "1-1 2-2 3-3"]
FIGURES = {"fig16", "aer", "fig8", "fig7", "fig17", "fig18"}
LAYERS, HEADS = 2, 4  # of the tiny model's decoder


@pytest.fixture(scope="module")
def documents() -> list[Document]:
    made = []
    for line, gold in zip(LINES, GOLD, strict=True):
        source, target = (side.split() for side in line.split("|||"))
        pairs = {kind: [tuple(int(n) - 1 for n in one.split(kind)) for one in gold.split() if kind in one] for kind in "-p"}
        links = Links(frozenset(pairs["-"]), frozenset(pairs["p"]))  # type: ignore[arg-type]
        made.append(Document(words=source, target_words=target, alignment=links))
    return made


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[headscope.Run, dict[str, object]]:
    """Through the command."""
    folder = tmp_path_factory.mktemp("alignment")
    (folder / "pairs.txt").write_text("".join(f"{line}\n" for line in LINES))
    (folder / "gold.txt").write_text("".join(f"{line}\n" for line in GOLD))
    model = save_tiny(folder / "model", "marian")
    options = ("--parallel", folder / "pairs.txt", "--gold", folder / "gold.txt", "--gold-base", 1, "--sentences", "1,5")
    command = ("paper", "kobayashi2020", model, *options, "-o", folder / "run", "--json")
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(StringIO()) as out:
        patch.setattr(sys, "argv", ["headscope", *map(str, command)])
        with pytest.raises(SystemExit) as left:
            main()
    assert not left.value.code
    manifest = json.loads((folder / "run" / "manifest.json").read_text())
    return headscope.Run(folder / "run", manifest), json.loads(out.getvalue())


def test_every_result_in_all_forms(finished: tuple[headscope.Run, dict[str, object]]) -> None:
    run, told = finished
    names = {name.removeprefix("kobayashi2020_") for name in run.manifest["results"]}
    assert names == FIGURES | {"table3", "claims"}
    (left_out,) = told["left_out"]  # section 4
    assert left_out.endswith("there is no data (--text).")
    for name in FIGURES:
        assert "<text" in (run.folder / "figures" / f"kobayashi2020_{name}.svg").read_text()
        assert (run.folder / "figures" / f"kobayashi2020_{name}.pdf").read_bytes().startswith(b"%PDF")
    assert {"aer_layers", "aer_heads", "alignment_errors_joint_norm_AWI", "mean_score_norm"} <= set(run.tables)
    assert [part.name for part in (run.folder / "parts").iterdir()] == ["alignment"]  # one pass


def test_figures_say_whose_they_are_and_print_layers_from_1(finished: tuple[headscope.Run, dict[str, object]]) -> None:
    run, _ = finished
    for name in FIGURES:
        svg = (run.folder / "figures" / f"kobayashi2020_{name}.svg").read_text()
        assert "model · 6 sentence pairs of pairs.txt" in svg
    assert "Pair 5: reference" in (run.folder / "figures" / "kobayashi2020_fig7.svg").read_text()
    shown = (run.folder / "tables" / "kobayashi2020_aer.md").read_text().splitlines()
    head, _, *rows = [[cell.strip() for cell in line.split("|")] for line in shown if line.startswith("|")]
    assert {row[head.index("layer")] for row in rows} == {"1", "2"}
    assert set(run["kobayashi2020_aer"]["layer"]) == {0, 1}


def test_every_table_compiles(finished: tuple[headscope.Run, dict[str, object]], tmp_path: Path) -> None:
    compile_tables(tables_of(finished[0].folder), tmp_path)


def test_words_are_text_in_figures(finished: tuple[headscope.Run, dict[str, object]]) -> None:
    """A dollar is no formula, and a tag is drawn, not run."""
    drawn = (finished[0].folder / "figures" / "kobayashi2020_fig7.svg").read_text()
    assert "&lt;b&gt;</text>" in drawn
    assert "<b>" not in drawn
    assert ">$</text>" in drawn


def test_table_3_is_the_error_of_links_counted_by_hand(
    finished: tuple[headscope.Run, dict[str, object]], documents: list[Document]
) -> None:
    """Every row with a place, and the layer means, from the links that the chosen attention writes."""
    lens, table = lens_for("marian"), finished[0]["kobayashi2020_table3"]

    def aer(layer: int, head: int | None, row: dict[str, object]) -> float:
        found = link(lens, documents, Choice(layer, head, str(row["measure"]), str(row["setting"])))
        counts = [alignment_counts(links, document.alignment) for links, document in zip(found, documents, strict=True)]  # type: ignore[arg-type]
        return float(scores(np.sum(counts, 0)).aer)

    rows = table.to_dict("records")
    assert len(rows) == 16
    for row in rows:
        head = None if pd.isna(row["head"]) else int(row["head"])
        expected = (
            np.mean([aer(layer, None, row) for layer in range(LAYERS)])
            if row["which"] == "layer mean"
            else aer(int(row["layer"]), head, row)
        )
        assert row["aer"] == pytest.approx(expected), row
        if row["which"] == "best head":
            assert row["aer"] == pytest.approx(
                min(aer(layer, head, row) for layer in range(LAYERS) for head in range(HEADS))
            )


def test_the_highest_norm_is_that_of_full_maps(
    finished: tuple[headscope.Run, dict[str, object]], documents: list[Document]
) -> None:
    """The mean over all pairs of a row and a key; a layer's is the sum of its heads' (footnote 15)."""
    lens, total, pairs = lens_for("marian"), 0.0, 0
    for document in documents:
        batch = lens.encoder.collate([lens.encoder.encode(document, encoding=BY_WORD)])
        found = []
        lens.run(batch, lambda block, found=found: found.append(block) if block.site.kind == "cross" else None)
        maps = np.stack([block.scores("norm")[0].numpy() for block in found])  # layer head row key
        total, pairs = total + maps.sum((2, 3)), pairs + maps.shape[2] * maps.shape[3]
    means = total / pairs
    table = finished[0]["kobayashi2020_table3"]
    layers, heads = (table[table["which"] == tables.HIGHEST[single]] for single in (False, True))
    assert set(layers["layer"]) == {int(means.sum(1).argmax())}
    assert set(zip(heads["layer"], heads["head"], strict=True)) == {divmod(int(means.argmax()), means.shape[1])}
    drawn = finished[0]["kobayashi2020_fig8"].sort_values(["layer", "head"])
    np.testing.assert_allclose(drawn["mean_norm"], means.ravel(), rtol=1e-4)


def _layers(aers: dict[tuple[str, str], list[float]], halves: tuple[list[float], list[float]] | None = None) -> pd.DataFrame:
    rows = []
    for (setting, measure), values in aers.items():
        for layer, aer in enumerate(values):
            row = {
                "setting": setting,
                "measure": measure,
                "layer": layer,
                "head": pd.NA,
                "aer": aer,
                "low": aer,
                "high": aer,
            }
            one, other = (half[layer] for half in halves) if halves else (aer, aer)
            rows.append({**row, "precision": 1.0, "recall": 1.0, "f1": 1.0, "aer_half_0": one, "aer_half_1": other})
    return pd.DataFrame(rows)


def _aligner(name: str, awi: list[float], **options: object) -> Aligner:
    """Three layers of one head each: worse by weight and with the output word; norms 1, 2, 3."""
    worse = [min(aer + 0.1, 1) for aer in awi]
    by = {("AWI", "norm"): awi, ("AWI", "weight"): worse, ("AWO", "norm"): worse[::-1], ("AWO", "weight"): [0.9] * 3}
    layers = _layers(by, **options)  # type: ignore[arg-type]
    norms = pd.DataFrame({"layer": [0, 1, 2], "head": 0, "mean_score": [1.0, 2.0, 3.0]})
    return Aligner(name, layers, layers.assign(head=0), norms)


def test_a_layer_is_tuned_on_one_half_and_judged_on_the_other() -> None:
    one = _aligner("one", [0.3, 0.2, 0.4], halves=([0.1, 0.2, 0.3], [0.5, 0.25, 0.6]))
    table = tables.methods(one.layers, one.heads, one.norms, halves=True)
    row = table[(table["setting"] == "AWI") & (table["measure"] == "norm")].set_index("which").loc["best layer"]
    assert (row["layer"], row["aer"], row["tuned_layer"], row["tuned_aer"]) == (1, 0.2, 0, 0.5)
    assert tables.methods(one.layers, one.heads, one.norms, halves=False)["tuned_aer"].isna().all()


def test_means_and_deviations_of_several_models_by_hand() -> None:
    """The best layer is each model's own; the deviation is the population's; layers from 1."""
    models = [_aligner("one", [0.3, 0.2, 0.4]), _aligner("two", [0.1, 0.4, 0.5])]
    made = tables.joined([(m.name, tables.methods(m.layers, m.heads, m.norms, halves=True)) for m in models])
    others = pd.DataFrame({"system": ["SmoothGrad", "eflomal"], "aer": [0.25, 0.5], "low": 0.2, "high": 0.6})
    shown = tables.shown(made, others).set_index(["Setting", "By", "Which"])
    best = shown.loc["AWI", "norm", "best layer"]
    assert best[["Where", "AER", "SD", "AER*, 4 heads", "AER*, 8 heads"]].to_list() == [
        "1 or 2",
        "15.0",
        "5.0",
        "25.0",
        "26.3",
    ]
    highest = shown.loc["AWI", "norm", "head with the highest average norm"]
    assert highest[["Where", "AER", "SD", "SD*, 4 heads"]].to_list() == ["3-1", "45.0", "5.0", "21.0"]
    assert shown.loc[("", "", "SmoothGrad"), ["AER", "AER*, 4 heads"]].to_list() == ["25.0", "36.4"]
    assert shown.loc[("", "", "eflomal"), ["AER", "SD", "AER*, 4 heads"]].to_list() == ["50.0", "", ""]
    assert shown.loc[("", "", "GIZA++"), ["AER", "AER*, 4 heads"]].to_list() == ["", "21.0"]


def test_claims_of_numbers_by_hand(documents: list[Document]) -> None:
    told = {claim.claim: claim.run for claim in claims(Alignments([_aligner("one", [0.3, 0.2, 0.4])], None, documents, []))}  # type: ignore[arg-type]
    assert told["AWI: a lower AER by norm than by weight"] == "yes: in 3 of 3 layers; 30.0 and 40.0 on average"
    assert told["a lower AER in AWI than in AWO (the best layer by norm)"] == "yes: 20.0 and 30.0"
    highest = "AWI: the layer with the highest average norm is the one with the lowest AER"
    assert told[highest] == "no: 40.0 (layer 3) and 20.0 (layer 2)"
    assert told["AWI: heads' average norm and AER have a negative correlation"] == "no: rho 0.50, r 0.50"
    assert told["AWO: heads' average norm and AER have a positive correlation"] == "no: rho -0.50, r -0.50"
    assert told["AWI: earlier layers have the lower AER (by norm)"].startswith("yes: 30.0 in the first 1 layers, 40.0")
    gradient = pd.DataFrame({"system": ["SmoothGrad"], "aer": [0.3], "low": [0.2], "high": [0.4]})
    with_gradient = replace(_aligner("one", [0.3, 0.2, 0.4]), others=gradient)
    made = claims(Alignments([with_gradient], None, documents, []))  # type: ignore[arg-type]
    assert [claim.run for claim in made if "gradients" in claim.claim] == ["no: 40.0 and 30.0"]


def test_norms_that_do_not_vary_have_no_correlation() -> None:
    assert np.isnan(correlation(pd.Series([1.0, 1, 1]), pd.Series([1.0, 2, 3]))["pearson"])


def test_matrices_hold_the_links_that_are_written(documents: list[Document]) -> None:
    """The frames of figure 7 are the links of the layer, by weight and by norm."""
    lens = lens_for("marian")
    for document in documents:
        one = pairing(lens, document)
        assert (one.rows, one.columns[: one.words]) == (document.target_words, document.words)
        for measure in ("weight", "norm"):
            assert one.scores[measure].shape == (LAYERS, len(one.rows), len(one.columns))
            for layer in range(LAYERS):
                (expected,) = link(lens, [document], Choice(layer, None, measure))
                table = one.table(layer)
                framed = table[table[f"{measure}_highest"] & table["source"].notna()]
                assert set(zip(framed["source"], framed["target"], strict=True)) == expected
    (sure,) = [set(zip(some["source"], some["target"], strict=True)) for some in [table[table["sure"]]]]
    assert document.alignment is not None
    assert sure == document.alignment.sure


def test_frames_say_which_links_are_right() -> None:
    """Green in the reference, red outside it, grey at </s>."""
    scores_by_hand = np.array([[[3.0, 1, 0], [2, 1, 0], [0, 0, 1]]], dtype=np.float32)
    chosen = {measure: scores_by_hand.argmax(-1) for measure in ("weight", "norm")}
    both = dict.fromkeys(("weight", "norm"), scores_by_hand)
    one = Pairing(1, ["a", "b", "c"], ["x", "y", "</s>"], Links.of([(0, 0)]), both, chosen, 2)
    made = drawings.matrices([one], 0)
    colours = [patch.get_edgecolor() for patch in made.axes[1].patches]
    assert colours == [to_rgba(colour) for colour in ("#009E73", "#D55E00", "#5F6B76")]


def test_examples_are_of_readable_length() -> None:
    sizes = [3, 30, 9, 10]
    pairs = [Document(words=["w"] * size, target_words=["w"] * size) for size in sizes]
    assert examples(pairs, [])[0][0] == 3
    assert [number for number, _ in examples(pairs, [4, 1])] == [4, 1]
    assert examples(pairs[:2], [])[0][0] == 1
    with pytest.raises(InputError, match="There is no sentence 5"):
        examples(pairs, [5])


def test_several_models_and_other_aligners(documents: list[Document], tmp_path: Path, monkeypatch) -> None:
    """The second model is the first again: nothing deviates. An aligner that finds all sure links makes no errors."""
    monkeypatch.setattr(figures, "save", lambda made, stem: [])
    lens = headscope.open(save_tiny(tmp_path / "model", "marian"))
    monkeypatch.setattr(
        "headscope.papers.kobayashi2020.alignment.aligners.eflomal_links", lambda some: [one.alignment.sure for one in some]
    )
    monkeypatch.setattr("headscope.papers.kobayashi2020.alignment.aligners.find_program", lambda: None)
    data = kobayashi2020.Data(parallel=Corpus.from_documents(documents), also=[lens.source], eflomal=True)
    run = kobayashi2020.run(lens, data, out=tmp_path / "run")
    table = run["kobayashi2020_table3"]
    assert sorted(path.name for path in (run.folder / "parts").iterdir()) == ["alignment", "alignment-1", "eflomal"]
    assert len(table) == 2 * 16 + 1
    assert float(table.set_index("which").loc["eflomal", "aer"]) == 0
    page = (run.folder / "tables" / "kobayashi2020_table3.md").read_text()
    best = table[(table["setting"] == "AWI") & (table["measure"] == "norm") & (table["which"] == "best layer")].iloc[0]
    assert f"| AWI | norm | best layer | {best['layer'] + 1} | {100 * best['aer']:.1f} | 0.0 |" in page


def test_a_text_and_pairs_in_one_run(documents: list[Document], tmp_path: Path, monkeypatch) -> None:
    """Both halves of the paper, and a run of one half goes on with the other."""
    monkeypatch.setattr(figures, "save", lambda made, stem: [])
    lens, pairs = lens_for("marian"), Corpus.from_documents(documents)
    text = Corpus.from_documents(["the cat sat on the mat .", "two dogs , a cat ."])
    kobayashi2020.run(lens, kobayashi2020.Data(parallel=pairs), out=tmp_path / "run")
    run = kobayashi2020.run(lens, kobayashi2020.Data(text, parallel=pairs), out=tmp_path / "run")
    assert {"kobayashi2020_table1", "kobayashi2020_table3"} <= set(run.manifest["results"])
    sections = run["kobayashi2020_claims"]["section"].to_list()
    assert {"4.1", "4.2", "5.2", "5.3", "E.3"} <= set(sections)
    page = (run.folder / "kobayashi2020.md").read_text()
    assert facts.MODEL in page
    assert facts.TRANSLATOR in page


def test_gradients_stand_in_the_table(documents: list[Document], tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(figures, "save", lambda made, stem: [])
    data = kobayashi2020.Data(parallel=Corpus.from_documents(documents[1:3]), gradient=2)
    run = kobayashi2020.run(lens_for("marian"), data, out=tmp_path / "run")
    row = run["kobayashi2020_table3"].set_index("which").loc["SmoothGrad"]
    assert 0 <= float(row["aer"]) <= 1
    assert (run.folder / "parts" / "gradient-2" / "00000.txt").read_text().count("\n") == 2


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--parallel", "PAIRS"), "give --gold FILE too"),
        (("--gold", "GOLD"), "give at least one of --text and --parallel"),
        (("--text", "PAIRS", "--gold", "GOLD"), "give --parallel FILE too"),
        (("--parallel", "PAIRS", "--gold", "GOLD"), "--gold-base 1"),
        (("--parallel", "PAIRS", "--gold", "GOLD", "--gold-base", "1", "--sentences", "x"), "no numbers with commas"),
        (("--parallel", "PAIRS", "--gold", "GOLD", "--gold-base", "1", "--sentences", "7"), "There is no sentence 7"),
    ],
)
def test_command_says_what_is_wrong(monkeypatch, capsys, tmp_path: Path, options, said) -> None:
    files = {"PAIRS": tmp_path / "pairs.txt", "GOLD": tmp_path / "gold.txt"}
    for name, lines in (("PAIRS", LINES), ("GOLD", GOLD)):
        files[name].write_text("".join(f"{line}\n" for line in lines))
    model = save_tiny(tmp_path / "model", "marian")
    given = [files.get(option, option) for option in options]
    code, _, err = run_command(monkeypatch, capsys, "paper", "kobayashi2020", model, *given, "-o", tmp_path / "run")
    assert code == 2
    assert said in err


def test_a_program_that_is_missing_is_said_before_anything_is_counted(documents, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("headscope.alignment.eflomal.PROGRAM", "no-such-aligner")
    data = kobayashi2020.Data(parallel=Corpus.from_documents(documents), eflomal=True)
    with pytest.raises(InputError, match="is not installed"):
        kobayashi2020.run(lens_for("marian"), data, out=tmp_path / "run")
    assert not (tmp_path / "run" / "parts").exists()


def test_a_model_without_cross_attention_is_refused(documents: list[Document], tmp_path: Path) -> None:
    data = kobayashi2020.Data(parallel=Corpus.from_documents(documents))
    with pytest.raises(InputError, match="has no cross attention"):
        kobayashi2020.run(lens_for("bert"), data, out=tmp_path / "run")


def test_facts_are_the_papers() -> None:
    """Printed in the text of the paper, where it is here: its columns stand under one another."""
    paper = places.PAPERS / "kobayashi2020.txt"
    if not paper.is_file():
        pytest.skip("../shared/papers/kobayashi2020.txt is not here")
    text = paper.read_text().replace("0,7", "0.7")
    table = facts.ALIGNMENT.frame
    for setting in ("AWO", "AWI"):
        of = table[table["setting"] == setting]
        for heads, order in (("4", [2, 3, 4, 5]), ("8", [2, 3, 5, 4])):  # table 6 has the head before the layer
            for column in (f"aer_{heads}", f"sd_{heads}"):
                for rows in ([0, 1], order):
                    assert "\n" + "\n".join(f"{of[column].iloc[row]:.1f}" for row in rows) + "\n" in text, (setting, column)
    for aer in facts.OTHER_ALIGNERS.values():
        assert f"\n{aer}\n" in text
    awi, awo = facts.NORM_AND_AER.frame.to_dict("records")
    assert f"−{-awi['spearman_4']:.2f} and\n−{-awi['pearson_4']:.2f}" in text
    assert f"(Spearman’s ρ is {awo['spearman_4']:.2f}, and the Pearson’s r is\n{awo['pearson_4']:.2f})" in text
    assert f"−{-awi['spearman_8']:.2f}\nand −{-awi['pearson_8']:.2f}" in text
    assert f"is {awo['spearman_8']:.2f} and the Pearson’s r is {awo['pearson_8']:.2f}" in text
