"""kobayashi2020 from end to end on tiny models: every result out of one pass, its numbers, and what the claims say."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

import headscope
from headscope.papers import kobayashi2020
from headscope.papers.kobayashi2020 import drawings, facts, lengths, tables
from headscope.papers.kobayashi2020.categories import Category
from headscope.papers.kobayashi2020.claims import by_length, not_shown, verdict
from headscope.statistics.norms.frequencies import Frequencies
from headscope.study.manifest import load_manifest
from headscope.study.results import figures
from headscope.study.results.result import Claim
from headscope.text import Corpus, Document
from tests import places
from tests.latex import compile_tables, tables_of
from tests.papers import legible
from tests.papers.samples import example, run_command, save_tiny
from tests.statistics.tester import lens_for

TABLES = {"table1", "table2", "table4", "claims"}
FIGURES = {f"fig{number}" for number in (3, 4, 5, 9, 10, 11, 12, 13, 14, 15, 25)} | {"categories", "joint", "mixing"}
SETTINGS = kobayashi2020.Settings(categories={"articles": "the a"}, every=1, sample=50)


@pytest.fixture(scope="module")
def corpus(data: dict[str, Path]) -> Corpus:
    return Corpus.from_files(data["text"], format="paragraph-pairs")


@pytest.fixture(scope="module")
def made() -> Iterator[dict[str, Figure]]:
    """The figures of `finished`."""
    with legible.kept() as found:
        yield found


@pytest.fixture(scope="module")
def finished(corpus: Corpus, tmp_path_factory: pytest.TempPathFactory, made: dict[str, Figure]) -> headscope.Run:
    out = tmp_path_factory.mktemp("run") / "run"
    return kobayashi2020.run(lens_for("bert"), kobayashi2020.Data(corpus), SETTINGS, out=out)


def test_every_result_in_all_forms(finished: headscope.Run) -> None:
    made = {name.removeprefix("kobayashi2020_") for name in finished.manifest["results"]}
    assert made == TABLES | FIGURES
    (left_out,) = finished.manifest["left_out"]  # section 5
    assert left_out.endswith("there is no data (--parallel).")
    for name in finished.manifest["results"]:
        assert not finished[name].empty
        for ending in ("parquet", "md", "tex"):
            assert (finished.folder / "tables" / f"{name}.{ending}").stat().st_size > 0
    for name in FIGURES:
        assert "<text" in (finished.folder / "figures" / f"kobayashi2020_{name}.svg").read_text()
        assert (finished.folder / "figures" / f"kobayashi2020_{name}.pdf").read_bytes().startswith(b"%PDF")


def test_every_table_compiles(finished: headscope.Run, tmp_path: Path) -> None:
    compile_tables(tables_of(finished.folder), tmp_path)


def test_one_pass_over_the_text_and_one_over_texts_that_are_cut(finished: headscope.Run) -> None:
    assert sorted(finished.parts) == ["lengths", "text"]


@pytest.mark.usefixtures("finished")
def test_figures_are_legible_and_say_whose_they_are(made: dict[str, Figure]) -> None:
    assert made.keys() == {f"kobayashi2020_{name}" for name in FIGURES}
    for name, figure in made.items():
        of_text = "" if name.endswith("fig9") else " · 2 documents of text.txt"  # f is the model's alone
        assert legible.said(figure) == f"BertModel{of_text}"
        assert legible.overlaps(figure) == []
        assert legible.clipped(figure) == []


def test_the_joint_norm_stands_beside_both_other_measures(finished: headscope.Run) -> None:
    joint, layers, heads_together = (
        finished[name] for name in ("kobayashi2020_joint", "kobayashi2020_fig3", "category_weights_joint_norm")
    )
    np.testing.assert_array_equal(joint["weight_separator"], layers["weight_separator"])
    np.testing.assert_array_equal(joint["share_norm_apart_separator"], layers["share_norm_separator"])
    pd.testing.assert_frame_equal(joint[list(heads_together)], heads_together)
    shown = (finished.folder / "tables" / "kobayashi2020_joint.md").read_text()
    for by in ("by weight", "by norm", "by joint norm"):
        assert f"| [SEP], {by} |" in shown


def test_appendix_d_s_own_rho_is_in_table_2(finished: headscope.Run) -> None:
    rho = finished["kobayashi2020_table2"].set_index("category")["rho_weighted"]
    shown = (finished.folder / "tables" / "kobayashi2020_table2.md").read_text()
    head, _, *rows = [line.split(" | ") for line in shown.splitlines() if line.startswith("|")]
    place = head.index("rho of α and ‖αf(x)‖ of tokens")
    (separator,) = [row for row in rows if row[0] == "| [SEP]"]
    assert separator[place] == f"{rho['separator']:.2f}"


def test_what_is_printed_counts_from_1(finished: headscope.Run) -> None:
    sample = finished["kobayashi2020_fig5"]
    shown = (finished.folder / "tables" / "kobayashi2020_fig5.md").read_text()
    rows = [line.split(" | ") for line in shown.splitlines() if line.startswith("| encoder")]
    assert [(int(row[3]), int(row[4])) for row in rows] == [
        (layer + 1, head + 1) for layer, head in zip(sample["layer"][:10], sample["head"][:10], strict=True)
    ]


# Figure 25


def test_texts_of_figure_25_have_many_lengths(tmp_path: Path) -> None:
    """All of these are longer than what is read: as they are, they would show one length, and claims of none."""
    lots = np.random.default_rng(0)
    words = ["the", "a", "cat", "dog", "mat", "sat", "on", "two", "and"]
    texts = [" ".join(lots.choice(words, 60)) + " ." for _ in range(120)]
    settings = kobayashi2020.Settings(max_tokens=32, every=10, sample=20, mixed=60)
    run = kobayashi2020.run(lens_for("bert"), kobayashi2020.Data(Corpus.of(texts)), settings, out=tmp_path / "run")
    table = run["kobayashi2020_fig25"]
    assert table["length"].tolist() == list(lengths.up_to(32))
    assert run.parts["lengths"].manifest["corpus"]["documents"] == 16  # one of each: a tenth of them would be fewer
    size = min(site.head_size for site in lens_for("bert").sites)
    short, long = (table[chosen]["effective_mean"] for chosen in (table["length"] <= size, table["length"] > size))
    assert short.to_numpy() == pytest.approx(1, abs=1e-5)
    assert (long < 0.999).all()
    claims = run["kobayashi2020_claims"].set_index("section").loc["G", "run"]
    assert claims.iloc[0].startswith("yes: 1.000; ")
    assert "could not be measured" not in set(claims)


def test_figure_25_reads_every_text(finished: headscope.Run) -> None:
    texts = finished.parts["text"].manifest["corpus"]["documents"]
    assert finished.parts["lengths"].manifest["corpus"]["documents"] == texts
    heads = sum(site.heads for site in lens_for("bert").sites)
    assert finished["effective_by_length"]["maps"].sum() == texts * heads


def test_every_length_has_as_many_texts_as_any_other() -> None:
    documents = [Document(f"text {number}") for number in range(1600)]
    cut = lengths.CutAtLengths(lengths.up_to(128))
    chosen = cut.spread(documents, 25)
    assert Counter(map(cut.length_of, chosen)) == dict.fromkeys(cut.lengths, 4)
    assert {one.text for one in chosen} == {one.text for one in cut.spread(documents[::-1][::-1], 25)}
    assert cut.spread(documents, 1) == documents, "none is left out"
    assert lengths.up_to(8) == (8,)
    assert (lengths.up_to(40)[0], lengths.up_to(40)[-1]) == (8, 40)


@pytest.mark.parametrize("found", [[128], [19, 128], [127, 128], list(lengths.up_to(128))])
def test_ticks_of_figure_25_are_whole_lengths_beside_each_other(found: list[int]) -> None:
    table = pd.DataFrame({"length": found, "effective_mean": 0.5, "norm_mean": 0.4})
    made = drawings.by_length(table.assign(effective_deviation=0.2, norm_deviation=0.3), 32)
    assert legible.overlaps(made) == []
    for panel in made.axes:
        labels = [label.get_text() for label in panel.get_xticklabels()]
        assert len(labels) == len(set(labels)) > 2
        assert all(label.isdigit() for label in labels)


def test_figure_3_is_the_mean_over_texts_and_heads(finished: headscope.Run, corpus: Corpus) -> None:
    """LayerW and LayerWN of [SEP] from the maps of every text."""
    lens, by_weight, by_norm = lens_for("bert"), [], []
    for document in corpus:
        reading = lens.read(document.text, pair=document.pair)
        separators = [place for place, token in enumerate(reading.tokens) if token == "[SEP]"]
        for found, measure in ((by_weight, "weight"), (by_norm, "norm")):
            scores = reading.scores(measure)  # layer head query key
            found.append(np.asarray(scores)[..., separators].sum(-1).mean((1, 2)))
    layers = finished["kobayashi2020_fig3"]
    np.testing.assert_allclose(layers["weight_separator"], np.mean(by_weight, 0), rtol=1e-4)
    np.testing.assert_allclose(layers["norm_separator"], np.mean(by_norm, 0), rtol=1e-4)


def test_results_hold_what_the_statistics_say(finished: headscope.Run) -> None:
    heads = finished["category_weights"]
    for number, name in ((4, "separator"), (10, "first"), (11, "punctuation"), (12, "other")):
        columns = [f"weight_{name}", f"value_norm_{name}", f"norm_{name}"]
        pd.testing.assert_frame_equal(finished[f"kobayashi2020_fig{number}"][columns], heads[columns])
    dispersion = finished["dispersion"]
    most, least = dispersion.loc[dispersion["cv"].idxmax()], dispersion.loc[dispersion["cv"].idxmin()]
    page = (finished.folder / "tables" / "kobayashi2020_table1.md").read_text()
    for which, row, theirs in (("max CV", most, "2-4"), ("min CV", least, "2-7")):
        (line,) = [line for line in page.splitlines() if line.startswith(f"| {which} |")]
        ours = f"{row['mean']:.2f} | {row['deviation']:.2f} | {row['cv']:.2f} | {row['largest']:.2f} | {row['smallest']:.2f}"
        assert f"| {which} | {row['layer'] + 1}-{row['head'] + 1} | {ours} | {theirs} |" in line


def test_shown_dispersion_by_hand() -> None:
    """Averages are of the heads' own CVs; the average row has neither head nor extremes."""
    heads = pd.DataFrame({"layer": [0, 1], "head": [2, 0], "mean": [1.0, 3.0], "deviation": [0.5, 0.3], "cv": [0.5, 0.1]})
    heads = heads.assign(largest=[2.0, 4.0], smallest=[0.25, 2.5])
    shown = tables.dispersion(heads, facts.TABLE1.frame, "Head").set_index("")
    assert shown.loc["max CV", ["Head", "CV", "Max", "Head*", "CV*"]].to_list() == ["1-3", "0.50", "2.00", "2-4", "0.37"]
    assert shown.loc["min CV", ["Head", "Min", "Min*"]].to_list() == ["2-1", "2.50", "1.35"]
    assert shown.loc["average", ["Head", "Mean", "CV", "Max", "CV*", "Max*"]].to_list() == [
        "",
        "2.00",
        "0.30",
        "",
        "0.22",
        "",
    ]


def test_scatters_show_every_point() -> None:
    """Panels share their axes, and the first category may have the smallest norms."""
    three = [Category(name, name, "black", own=False) for name in ("first", "separator", "other")]
    sample = pd.DataFrame({"category": [one.name for one in three], "weight": [0.5, 1e-5, 0.9], "norm": [0.1, 20.0, 3.0]})
    for made in (drawings.scatter(sample, three), drawings.scatters(sample, three)):
        for panel in made.axes:
            (left, right), (low, high) = panel.get_xlim(), panel.get_ylim()
            assert left <= sample["weight"].min() < sample["weight"].max() <= right
            assert low <= sample["norm"].min() < sample["norm"].max() <= high


def test_the_page_says_what_is_not_shown() -> None:
    assert verdict(True, "0.75", 0.75) == "yes: 0.75"
    assert verdict(False, "nan", float("nan")) == "could not be measured"
    made = [Claim("4.2", "small", "", "no: 0.3"), Claim("4.3", "large", "", "yes: 0.7"), Claim("G", "same", "", "no: 0.9")]
    assert not_shown(made) == ["small: no: 0.3 (section 4.2)", "same: no: 0.9 (appendix G)"]


def test_short_texts_are_those_that_fit_a_heads_dimensions() -> None:
    table = pd.DataFrame({"length": [10, 30, 128], "effective_mean": [1.0, 1.0, 0.4], "norm_mean": [0.5, 0.7, 0.6]})
    effective, norm = by_length(table, 32)
    assert (effective.run, norm.run) == ("yes: 1.000; 0.400 at 128", "yes: 0.600; 0.600 at 128")
    assert "at most 32 tokens" in effective.claim
    assert [claim.run for claim in by_length(table, 8)] == ["could not be measured"] * 2


def test_claims_follow_from_the_tables(finished: headscope.Run) -> None:
    claims = finished["kobayashi2020_claims"].set_index("claim")["run"]
    assert claims["average CV of ‖f(x)‖"] == f"{finished['dispersion']['cv'].mean():.2f}"
    layers = finished["kobayashi2020_fig3"]
    less = int((layers["share_norm_separator"] < layers["weight_separator"]).sum())
    told = claims["[SEP]: a smaller share by norm than by weight"]
    assert told.startswith(f"{'yes' if less > 1.5 else 'no'}: in {less} of 3 layers")
    rho = finished["norm_correlation"].set_index("category")["rho"]["separator"]
    told = claims["[SEP]: α and ‖f(x)‖ have a negative correlation (rho)"]
    assert told == f"{'yes' if rho < -0.1 else 'no'}: {rho:.2f}"
    page = (finished.folder / "kobayashi2020.md").read_text()
    lacking = [claim for claim, told in claims.items() if told.startswith("no:")]
    assert all(f"- {claim}: no: " in page for claim in lacking)


def test_figure_9_has_all_heads_and_draws_one_a_layer(finished: headscope.Run) -> None:
    table = finished["kobayashi2020_fig9"]
    assert table.groupby(["layer", "head"]).ngroups == 12
    shown = (finished.folder / "tables" / "kobayashi2020_fig9.md").read_text()
    assert [line.split()[1].split("-")[0] for line in shown.splitlines() if line[:3] in ("| 1", "| 2", "| 3")] == [
        "1",
        "2",
        "3",
    ]


def test_without_a_file_the_text_is_counted(finished: headscope.Run, corpus: Corpus) -> None:
    counted, expected = (
        Frequencies.read(finished.folder / "frequency.txt"),
        Frequencies.count(lens_for("bert").tokenizer, corpus),
    )
    assert list(counted) == list(expected)


def test_run_again_gives_the_same_bytes_and_other_settings_are_refused(finished: headscope.Run, corpus: Corpus) -> None:
    def content() -> dict[str, bytes]:
        files = [file for part in ("tables", "figures") for file in (finished.folder / part).iterdir()]
        return {file.name: file.read_bytes() for file in files}

    before, lens, data = content(), lens_for("bert"), kobayashi2020.Data(corpus)
    kobayashi2020.run(lens, data, SETTINGS, out=finished.folder)
    assert content() == before
    with pytest.raises(headscope.HeadscopeError, match="begun with another setting"):
        kobayashi2020.run(lens, data, kobayashi2020.Settings(seed=1), out=finished.folder)


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures are made, but not written: `finished` has shown that they can be."""
    monkeypatch.setattr(figures, "save", lambda made, stem: [])


@pytest.mark.usefixtures("undrawn")
def test_command_on_a_decoder_with_a_frequency_file(monkeypatch, capsys, data, tmp_path: Path) -> None:
    model = save_tiny(tmp_path / "model", "llama")
    Frequencies({id: 100 - id for id in range(90)}).write(tmp_path / "ranks.txt")
    options = ("--text", data["text"], "--frequency", tmp_path / "ranks.txt", "--category", "dogs=/dogs?/", "--segments", 3)
    command = ("paper", "kobayashi2020", model, *options, "-o", tmp_path / "run", "--json")
    code, out, err = run_command(monkeypatch, capsys, *command)
    assert (code, err) == (0, "")
    told = json.loads(out)
    assert {"kobayashi2020_table2", "kobayashi2020_fig14", "kobayashi2020_categories"} <= set(told["results"])
    assert not (tmp_path / "run" / "frequency.txt").exists()
    assert load_manifest(tmp_path / "run" / "parts" / "text")["corpus"]["documents"] == 3
    page = (tmp_path / "run" / "kobayashi2020.md").read_text()
    assert "first token" in page  # in the place of [CLS]
    assert "[CLS]" not in page


@pytest.mark.usefixtures("undrawn")
def test_an_encoder_without_a_first_token_of_its_own(data: dict[str, Path], tmp_path: Path) -> None:
    corpus = Corpus.from_files(data["text"], format="paragraphs")
    run = kobayashi2020.run(lens_for("marian"), kobayashi2020.Data(corpus), out=tmp_path / "run")
    assert any(line.startswith("Figure 10 (section 4.2): no token") for line in run.manifest["left_out"])
    assert (run["kobayashi2020_fig3"]["stack"] == "encoder").all()
    page = (run.folder / "kobayashi2020.md").read_text()
    assert "of `</s>` in heads" in page  # and no tag
    assert "\n- </s>" not in page


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "give at least one of --text and --parallel"),
        (("--text", "TEXT", "--category", "articles"), "is not NAME=RULE"),
        (("--text", "TEXT", "--category", "a=the", "--category", "a=an"), "'a' is given twice"),
        (("--text", "TEXT", "--category", "first=the"), "'first' exists already"),
        (("--text", "TEXT", "--frequency", "none.txt"), "none.txt"),
    ],
)
def test_command_says_what_is_wrong(monkeypatch, capsys, data, tmp_path: Path, options, said) -> None:
    model = save_tiny(tmp_path / "model")
    given = [str(data["text"]) if option == "TEXT" else option for option in options]
    code, _, err = run_command(monkeypatch, capsys, "paper", "kobayashi2020", model, *given, "-o", tmp_path / "run")
    assert code == 2
    assert said in err


def test_facts_are_the_papers() -> None:
    """Printed in the text of the paper, where it is here: nothing was mistyped."""
    paper = places.PAPERS / "kobayashi2020.txt"
    if not paper.is_file():
        pytest.skip("../shared/papers/kobayashi2020.txt is not here")
    text = paper.read_text()
    for table in (facts.TABLE1.frame, facts.TABLE4.frame):
        for row in table.to_dict("records"):
            numbers = [row[name] for name in ("mean", "deviation", "cv", "largest", "smallest")]
            assert " ".join(f"{number:.2f}" for number in numbers if number == number) in text
    for head in ("2-4", "2-7"):
        assert "Layer {}–Head {} ({} CV)".format(*head.split("-"), "max" if head == "2-4" else "min") in text
    for place, which in (("12", "max"), ("7", "min")):
        assert f"\n{place} ({which} CV)" in text
    of_pairs = facts.TABLE2.frame
    assert "Number of vectors\n" + "\n".join(f"{pairs:,}" for pairs in of_pairs["pairs"]) + "\n" in text
    assert "\n".join(f"{rho:.2f}" for rho in of_pairs["rho"]) + "\n" in text
    (every, ordinary) = facts.FREQUENCY.frame.to_dict("records")
    assert f"was {every['norm']:.2f}, indicating" in text
    assert f"(ρ = {every['weight']:.2f})" in text
    assert f"was {ordinary['weight']:.2f} for the attention\nweights and {ordinary['norm']:.2f} for the norms" in text
    assert f"at least {facts.SINGULAR_RATIO} times" in text


@pytest.mark.usefixtures("undrawn")
def test_the_pages_example_works(monkeypatch, capsys, data, tmp_path: Path) -> None:
    save_tiny(tmp_path / "bert-base-uncased")
    shutil.copy(data["text"], tmp_path / "wiki.txt")
    monkeypatch.chdir(tmp_path)
    exec(example("kobayashi2020"), {})
    assert "section" in capsys.readouterr().out
