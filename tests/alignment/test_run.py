"""headscope align from end to end on a tiny model: choosing, writing, going on, joining two directions, and errors."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import headscope
from headscope.alignment import Choice, align, linking, parts
from headscope.alignment.choosing import compared
from headscope.alignment.gold import first_with_gold, with_gold
from headscope.alignment.gradient import gradient_links
from headscope.alignment.head_set import by_agreement
from headscope.alignment.joining import product_links
from headscope.alignment.link_files import read_links
from headscope.alignment.run import flip, read_choices
from headscope.alignment.symmetrise import grow_diag_final_and
from headscope.alignment.tables import link_scores
from headscope.alignment.tuned_heads import TunedHeads
from headscope.alignment.tuning import tune
from headscope.errors import InputError
from headscope.lens.tokens.prompts import Prompt
from headscope.statistics import HeadAgreement
from headscope.text import Corpus
from headscope.text.links import Links
from headscope.text.parallel import parallel_documents
from tests.papers.samples import run_command, save_tiny
from tests.statistics.tester import lens_for
from tests.tiny import tiny
from tests.tiny_tokenizers import tiny_tokenizer

LINES = ["the cats sat ||| two dogs", "a dog , two dogs ||| the end", "one cat ||| the unbelievable cat", "the mat ||| on ."]
GOLD = ["0-0 1p1", "", "1-2", "0-0 1-1"]


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    (tmp_path / "pairs.txt").write_text("\n".join(LINES * 3) + "\n")
    (tmp_path / "gold.txt").write_text("\n".join(GOLD * 3) + "\n")
    return tmp_path


def gold_corpus(folder: Path) -> Corpus:
    return with_gold(parallel_documents(folder / "pairs.txt"), folder / "gold.txt")


def test_the_layer_with_the_highest_norm_without_gold_links(pairs: Path) -> None:
    run = align(lens_for("marian"), parallel_documents(pairs / "pairs.txt"), out=pairs / "run", by="norm")
    means = run["mean_norms"].groupby("layer")["mean_score"].sum()
    found = [links.sure for links in read_links(run.folder / "links.txt")]
    documents = list(parallel_documents(pairs / "pairs.txt"))
    expected = linking.link(lens_for("marian"), documents, Choice(int(means.idxmax())))
    assert found == expected
    assert "aer_layers" not in run.tables
    assert f"layer {means.idxmax()} by norm" in (run.folder / run.manifest["page"]).read_text()


@pytest.mark.parametrize("settings", [{}, {"by_head": True}, {"setting": "AWO", "measure": "weight"}])
def test_heads_that_agree_without_gold_links(pairs: Path, settings: dict[str, object]) -> None:
    lens, corpus = lens_for("marian"), parallel_documents(pairs / "pairs.txt")
    run = align(lens, corpus, out=pairs / "run", **settings)
    chosen = by_agreement(
        run["head_agreements"],
        measure=settings.get("measure", "norm"),
        setting=settings.get("setting"),
        most=1 if "by_head" in settings else 6,
    )
    assert len(run["head_agreements"]) == 2 * 2 * 4
    assert {reader.setting for reader in chosen.readers} <= ({"AWO"} if "setting" in settings else {"AWI", "AWO"})
    assert [links.sure for links in read_links(run.folder / "links.txt")] == linking.link(lens, list(corpus), chosen)
    assert chosen.label in (run.folder / "align.md").read_text()
    assert [chosen.label in line for line in read_choices(run)["chosen"]] == [True]
    assert read_choices(run)["warnings"] == [chosen.warning] * bool(chosen.warning)


def test_few_pairs_are_not_fewer_than_anybody_asked_for(pairs: Path, monkeypatch, capsys) -> None:
    model = save_tiny(pairs / "model", "marian")
    code, _, err = run_command(monkeypatch, capsys, "align", model, pairs / "pairs.txt", "-o", pairs / "run")
    assert (code, "asked for" in err) == (0, False), err


def test_averages_are_over_the_first_pairs(pairs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headscope.alignment.run.SURVEYED", 5)
    run = align(lens_for("marian"), parallel_documents(pairs / "pairs.txt"), out=pairs / "run")
    assert run.parts["survey"].manifest["counts"]["documents"] == 5
    assert len((run.folder / "links.txt").read_text().splitlines()) == 12


def test_error_rates_of_every_layer_and_head_with_gold_links(pairs: Path) -> None:
    run = align(lens_for("marian"), gold_corpus(pairs), out=pairs / "run", by="aer")
    layers, heads = run["aer_layers"], run["aer_heads"]
    assert len(layers) == 2 * 2 * 2
    assert len(heads) == 2 * 2 * 2 * 4
    assert {"setting", "measure", "layer", "head", "aer", "precision", "recall", "low", "high"} <= set(heads.columns)
    best = layers.loc[layers["aer_half_0"].idxmin()]
    scores = run["align_scores"].iloc[0]
    assert scores["aer"] == pytest.approx(best["aer"])
    assert (layers["low"] <= layers["aer"] + 1e-9).all()
    assert (layers["aer"] <= layers["high"] + 1e-9).all()


@pytest.mark.parametrize("settings", [{"layer": 1, "head": 2}, {}])
def test_a_killed_run_goes_on_to_the_same_bytes(
    pairs: Path, monkeypatch: pytest.MonkeyPatch, settings: dict[str, int]
) -> None:
    monkeypatch.setattr(parts, "SHARD", 2)
    whole = align(lens_for("marian"), gold_corpus(pairs), out=pairs / "whole", **settings)

    calls = 0
    real = linking.weigh

    def killed(*given: object, **named: object) -> list[linking.Weighed]:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise KeyboardInterrupt
        return real(*given, **named)

    monkeypatch.setattr("headscope.alignment.run.weigh", killed)
    with pytest.raises(KeyboardInterrupt):
        align(lens_for("marian"), gold_corpus(pairs), out=pairs / "cut", **settings)
    assert not (pairs / "cut" / "links.txt").exists()
    resumed = align(lens_for("marian"), gold_corpus(pairs), out=pairs / "cut", **settings)
    assert calls == 3 + 4  # six shards, two of them finished before
    for name in ("links.txt", "tables/aer_heads.parquet", "tables/align_scores.parquet", "align.md", "choices.json"):
        assert (resumed.folder / name).read_bytes() == (whole.folder / name).read_bytes()
    with pytest.raises(InputError, match="layer"):
        align(lens_for("marian"), gold_corpus(pairs), out=pairs / "cut", layer=0)


def test_two_directions_are_joined(pairs: Path) -> None:
    lens = lens_for("marian")
    run = align(lens, gold_corpus(pairs), out=pairs / "run", layer=0, reverse=lens)
    forward, reverse, joined = (
        [links.sure for links in read_links(run.folder / f"{name}.txt", format="pharaoh")]
        for name in ("forward", "reverse", "links")
    )
    assert joined == [grow_diag_final_and(one, other) for one, other in zip(forward, reverse, strict=True)]
    documents = [*gold_corpus(pairs)]
    flipped = [headscope.text.Document(words=one.target_words, target_words=one.words) for one in documents]
    there = linking.link(lens, flipped, Choice(0))
    assert reverse == [Links.of(links).flipped().sure for links in there]
    assert run["align_scores"]["system"].tolist() == ["links", "forward", "reverse"]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny(tmp_path_factory.mktemp("models") / "marian", "marian")


def test_the_command(pairs: Path, model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    given = ["align", model, pairs / "pairs.txt", "--gold", pairs / "gold.txt", "-o", pairs / "run"]
    code, said, _ = run_command(monkeypatch, capsys, *given)
    assert code == 0
    assert "AER" in said
    assert "links.txt" in said
    told = json.loads(run_command(monkeypatch, capsys, *given, "--json")[1])
    assert told["scores"][0]["system"] == "links"
    assert told["chosen"][0].rstrip(".").replace("`", "") in said
    assert all(f"Warning: {line}" in said for line in told["warnings"])
    assert Path(told["links"]).is_file()


@pytest.mark.parametrize("two_files", [False, True])
def test_texts_the_wrong_way_round(
    two_files: bool, tmp_path: Path, model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Links of source and target, texts as target and source: both ways out are named, and the right one goes through."""
    sides = [line.split(" ||| ") for line in LINES]
    (tmp_path / "pairs.txt").write_text("".join(f"{target} ||| {source}\n" for source, target in sides))
    (tmp_path / "source.txt").write_text("".join(f"{source}\n" for source, _ in sides))
    (tmp_path / "target.txt").write_text("".join(f"{target}\n" for _, target in sides))
    (tmp_path / "gold.txt").write_text("2-0\n4-1\n1-2\n0-0 1-1\n")
    files = [[tmp_path / "target.txt", tmp_path / "source.txt"], [tmp_path / "pairs.txt"]][not two_files]
    more = ["--gold", tmp_path / "gold.txt", "-o", tmp_path / "run"]
    code, _, err = run_command(monkeypatch, capsys, "align", model, *files, *more)
    assert code == 2
    assert "line 1: the link 2-0 is outside its sentence of 2 source and 3 target words" in err
    assert (
        "source and target look exchanged. If the model translates from the language of 'two dogs', as the source has it"
        in err
    )
    assert "give --gold-first target. If not, the texts are the wrong way round: give " in err
    assert err.endswith("give the two files in the other order.\n" if two_files else "give --first target.\n")
    right = files[::-1] if two_files else [*files, "--first", "target"]
    assert run_command(monkeypatch, capsys, "align", model, *right, *more)[0] == 0


def test_an_empty_line_is_not_to_be_skipped(
    pairs: Path, model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Links go by lines: the command has no --on-error, and advises none."""
    (pairs / "pairs.txt").write_text("the cat ||| a dog\n\n")
    code, _, err = run_command(monkeypatch, capsys, "align", model, pairs / "pairs.txt", "-o", pairs / "run")
    assert code == 2
    assert err.endswith("line 2: there is no ||| between the two sides, with spaces around it; correct it.\n")
    (pairs / "en.txt").write_text("the cat\n\n")
    code, _, err = run_command(monkeypatch, capsys, "align", model, pairs / "en.txt", pairs / "en.txt", "-o", pairs / "two")
    assert code == 2
    assert err.endswith("en.txt, line 2: the source side is empty; correct it.\n"), err


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"gold": "3-0\n\n\n\n"}, "line 1.*look exchanged.*--gold-first target"),
        ({"gold": "2-4\n\n\n\n"}, "line 1.*--gold-base 1"),
        ({"gold": "0-0\n"}, "ends after line 1"),
        ({"pairs": "the cat |||\n"}, "line 1"),
        ({"pairs": "the cat\n"}, r"line 1.*\|\|\|"),
    ],
)
def test_errors_name_the_line_and_the_flag(tmp_path: Path, change: dict[str, str], message: str) -> None:
    (tmp_path / "pairs.txt").write_text(change.get("pairs", "the cats ||| a dog , sat\n" * 4))
    (tmp_path / "gold.txt").write_text(change.get("gold", "\n" * 4))
    with pytest.raises(InputError, match=message):
        list(gold_corpus(tmp_path))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"head": 1}, "--layer"),
        ({"by": "luck"}, "agreement, norm, aer, states, not 'luck'"),
        ({"setting": "AWX"}, "AWI, AWO, not 'AWX'"),
        ({"measure": "effective"}, "weight, norm, not"),
        ({"symmetrise": "both"}, "intersection"),
        ({"prompt": "{source} {target}", "by": "norm"}, "In a prompt norms do not tell.*--by aer"),
        ({"weights": "weights.json", "by": "norm"}, "--weights weighs all heads: leave out --by"),
        ({"weights": "weights.json", "layer": 1}, "--weights weighs all heads: leave out --by"),
        ({"weights": "weights.json"}, "weights.json cannot be read: No such file"),
        ({"by": "states", "prompt": "{source} {target}"}, "no heads and no direction: leave out --prompt"),
    ],
)
def test_settings_that_make_no_sense(pairs: Path, settings: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        align(lens_for("marian"), parallel_documents(pairs / "pairs.txt"), out=pairs / "run", **settings)
    assert not (pairs / "run").exists()


def test_layers_heads_and_models_that_are_not_there(pairs: Path) -> None:
    corpus = parallel_documents(pairs / "pairs.txt")
    with pytest.raises(InputError, match="layer 7; choose one of 0 to 1"):
        align(lens_for("marian"), corpus, out=pairs / "one", layer=7)
    with pytest.raises(InputError, match="head 9 in layer 0; choose one of 0 to 3"):
        align(lens_for("marian"), corpus, out=pairs / "two", layer=0, head=9)
    with pytest.raises(InputError, match="gold"):
        align(lens_for("marian"), corpus, out=pairs / "three", by="aer")
    with pytest.raises(InputError, match="no cross attention"):
        align(lens_for("bert"), corpus, out=pairs / "four")
    (pairs / "empty.txt").write_text("")
    with pytest.raises(InputError, match="nothing to align"):
        align(lens_for("marian"), parallel_documents(pairs / "empty.txt"), out=pairs / "five")
    assert not any((pairs / name).exists() for name in ("one", "two", "three", "four", "five"))


def test_a_decoder_reads_a_prompt(pairs: Path) -> None:
    lens = lens_for("llama")
    template = "the cat {source} , {target}"
    run = align(lens, gold_corpus(pairs), out=pairs / "run", by="aer", prompt=template)
    layers = run["aer_layers"]
    assert set(layers["layer"]) == {0, 1, 2}
    best = layers.loc[layers["aer_half_0"].idxmin()]
    assert run["align_scores"]["aer"][0] == pytest.approx(best["aer"])
    choice = Choice(int(best["layer"]), None, str(best["measure"]), str(best["setting"]))
    expected = linking.link(lens, list(gold_corpus(pairs)), choice, prompt=Prompt(template))
    assert [links.sure for links in read_links(run.folder / "links.txt")] == expected
    with pytest.raises(InputError, match="needs no prompt"):
        align(lens_for("marian"), gold_corpus(pairs), out=pairs / "other", layer=0, prompt=template)


def test_gradients_stand_in_the_same_table(pairs: Path) -> None:
    lens = lens_for("marian")
    run = align(lens, gold_corpus(pairs), out=pairs / "run", layer=0, gradient=2)
    assert run["align_scores"]["system"].tolist() == ["links", "gradient"]
    found = [links.sure for links in read_links(run.folder / "gradient.txt")]
    assert found == gradient_links(lens, list(gold_corpus(pairs)), samples=2)


def scores_of(folder: Path) -> list[list[str]]:
    return [line.split("\t") for line in (folder / "scores.tsv").read_text().splitlines()[1:]]


def test_the_score_of_each_link(pairs: Path) -> None:
    """In a file of its own: links.txt has the bytes that it has without."""
    lens = lens_for("marian")
    plain = align(lens, gold_corpus(pairs), out=pairs / "plain")
    assert not (plain.folder / "scores.tsv").exists()
    run = align(lens, gold_corpus(pairs), out=pairs / "run", scores=True)
    assert (run.folder / "links.txt").read_bytes() == (plain.folder / "links.txt").read_bytes()
    documents = list(gold_corpus(pairs))
    expected = linking.weigh(lens, documents, by_agreement(run["head_agreements"]))
    rows = scores_of(run.folder)
    assert len(rows) == sum(len(one.links) for one in expected) > 0
    for line, source, target, score, source_word, target_word in rows:
        document, links = documents[int(line) - 1], expected[int(line) - 1].links
        assert float(score) == pytest.approx(links[int(source), int(target)], abs=1e-4)
        assert (source_word, target_word) == (document.words[int(source)], document.target_words[int(target)])
    again = align(lens, gold_corpus(pairs), out=pairs / "plain", scores=True)  # nothing is counted again for it
    assert (again.folder / "scores.tsv").read_bytes() == (run.folder / "scores.tsv").read_bytes()


@pytest.mark.parametrize("symmetrise", ["intersection", "union", "product"])
def test_two_models_by_every_rule(pairs: Path, symmetrise: str) -> None:
    """A tiny model, and another one as its reverse, by the textbook."""
    lens, documents = lens_for("marian"), list(gold_corpus(pairs))
    asked = {"setting": "AWI", "symmetrise": symmetrise, "scores": True, "draw": [1]}
    with headscope.open(tiny("marian", decoder_attention_heads=2), tiny_tokenizer("bpe")) as other:
        run = align(lens, gold_corpus(pairs), out=pairs / "run", reverse=other, **asked)
        turned = run.parts["survey-reverse"][HeadAgreement(measure="norm")]
        back = linking.weigh(other, list(map(flip, documents)), by_agreement(turned, setting="AWI"), shares=True)
    there = linking.weigh(lens, documents, by_agreement(run["head_agreements"], setting="AWI"), shares=True)
    forward, reverse, joined = (
        [links.sure for links in read_links(run.folder / f"{name}.txt", format="pharaoh")]
        for name in ("forward", "reverse", "links")
    )
    assert forward == [frozenset(one.links) for one in there]
    assert reverse == [frozenset(one.flipped().links) for one in back]
    assert forward != reverse
    if symmetrise == "product":
        assert joined == [frozenset(product_links(one, two)) for one, two in zip(there, back, strict=True)]
    else:
        combine = frozenset.intersection if symmetrise == "intersection" else frozenset.union
        assert joined == [combine(one, two) for one, two in zip(forward, reverse, strict=True)]
    assert {(int(line) - 1, int(s), int(t)) for line, s, t, *_ in scores_of(run.folder)} == {
        (place, *pair) for place, links in enumerate(joined) for pair in links
    }
    assert (run.folder / "figures" / "links_1.svg").is_file()
    with pytest.raises(InputError, match="no line 13 to draw: the texts have 12"):
        align(lens, gold_corpus(pairs), out=pairs / "more", draw=[13])


def test_a_killed_product_goes_on_to_the_same_bytes(pairs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "SHARD", 5)
    lens = lens_for("marian")
    asked = {"layer": 0, "reverse": lens, "symmetrise": "product"}
    whole = align(lens, gold_corpus(pairs), out=pairs / "whole", **asked)
    cut = align(lens, gold_corpus(pairs), out=pairs / "cut", **asked)
    for name in ("forward/00001.txt", "reverse/00002.txt"):
        (cut.folder / "parts" / name).unlink()
    (cut.folder / "links.txt").unlink()
    resumed = align(lens, gold_corpus(pairs), out=pairs / "cut", **asked)
    assert (resumed.folder / "links.txt").read_bytes() == (whole.folder / "links.txt").read_bytes()


def tuned_pairs(folder: Path, count: int = 4) -> Corpus:
    (folder / "gold10.txt").write_text("\n".join((GOLD * 3)[:count]) + "\n")
    return first_with_gold(parallel_documents(folder / "pairs.txt"), folder / "gold10.txt")


def test_tuned_heads(pairs: Path) -> None:
    lens = lens_for("marian")
    some = tuned_pairs(pairs)
    assert len(list(some)) == 3  # a blank line is a pair that nobody has aligned
    run = align(lens, gold_corpus(pairs), out=pairs / "run", tune=some)
    expected, table, _ = tune(lens, list(some))
    found = [links.sure for links in read_links(run.folder / "links.txt", format="pharaoh")]
    assert found == linking.link(lens, list(gold_corpus(pairs)), expected)
    assert run["tuning"]["aer"].tolist() == pytest.approx(table["aer"].tolist())
    assert TunedHeads.load(run.folder / "weights.json").weights == expected.weights
    chosen = read_choices(run)["chosen"]
    assert "each left out in turn; the heads that agree, untuned, have" in chosen[0]
    # The lines are repeated: all pairs that are among the tuned ones are left out of what is reported.
    assert chosen[1] == "Error rates are those of the 3 pairs that were not tuned on."
    assert run["align_scores"]["system"].tolist() == ["links", "untuned"]
    others = [document for document in gold_corpus(pairs) if document.words == ["a", "dog", ",", "two", "dogs"]]
    again = link_scores(
        {"links": [Links.of(one) for one in linking.link(lens, others, expected)]}, [one.alignment for one in others]
    )
    assert run["align_scores"]["aer"][0] == again["aer"][0]

    same = align(lens, parallel_documents(pairs / "pairs.txt"), out=pairs / "same", weights=run.folder / "weights.json")
    assert (same.folder / "links.txt").read_bytes() == (run.folder / "links.txt").read_bytes()
    with pytest.raises(InputError, match="another setting: tune was"):
        align(lens, gold_corpus(pairs), out=run.folder, tune=tuned_pairs(pairs, 3).take(2))
    every = align(lens, gold_corpus(pairs), out=pairs / "every", tune=gold_corpus(pairs))
    assert "align_scores" not in every.tables
    assert read_choices(every)["chosen"][1] == "All pairs were tuned on: there is no error rate of others."


def test_whether_tuning_helps_is_said() -> None:
    """By counts (found, in sure, in possible, sure) of ten pairs: clearly, clearly not, and not to be told."""
    right, wrong = np.array([[10, 10, 10, 10]] * 10), np.array([[10, 2, 2, 10]] * 10)
    assert compared(right, wrong) == ("the heads that agree, untuned, have 80.0", "")
    said, warning = compared(wrong, right)
    assert said == "the heads that agree, untuned, have 0.0"
    assert warning.startswith("Tuning harms on the pairs that it was given: AER 80.0 with each left out in turn, 0.0 by")
    mixed = np.concatenate([right[:5], wrong[:5]])
    assert compared(mixed, mixed[::-1]) == (
        "the heads that agree, untuned, have 40.0, and these pairs are too few to tell which is better", "",
    )  # fmt: skip


def test_both_directions_are_tuned(pairs: Path) -> None:
    lens = lens_for("marian")
    run = align(lens, gold_corpus(pairs), out=pairs / "run", tune=tuned_pairs(pairs), reverse=lens, symmetrise="product")
    turned = tune(lens, list(map(flip, tuned_pairs(pairs)))).heads
    assert TunedHeads.load(run.folder / "weights-reverse.json").weights == pytest.approx(turned.weights)
    assert run["align_scores"]["system"].tolist() == ["links", "forward", "reverse", "untuned"]


@pytest.mark.parametrize(
    ("gold", "message"),
    [
        ("", "gold10.txt is empty: give a line of gold links"),
        ("0-0\n" * 13, "has gold links of 13 pairs, but the texts have 12"),
        ("0p0\n1p1\n0p0\n", "no sure gold links"),
        ("0-0\n", "at least two pairs"),
        ("\n\n\n", "at least two pairs"),
        ("0-0\n9-0\n", "line 2: the link 9-0 is outside its sentence"),
        ("0-0\nyes\n", "line 2: 'yes' is no link"),
    ],
)
def test_files_to_tune_on_that_will_not_do(
    gold: str, message: str, pairs: Path, model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (pairs / "gold10.txt").write_text(gold)
    given = ["align", model, pairs / "pairs.txt", "--tune", pairs / "gold10.txt", "-o", pairs / "run"]
    code, _, err = run_command(monkeypatch, capsys, *given)
    assert code == 2
    assert message in err
    assert not (pairs / "run").exists()


def test_the_command_with_everything(
    pairs: Path, model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tuned_pairs(pairs)
    given = ["align", model, pairs / "pairs.txt", "--gold", pairs / "gold.txt", "--tune", pairs / "gold10.txt"]
    code, said, err = run_command(monkeypatch, capsys, *given, "--scores", "--draw", "1", "--draw", "4", "-o", pairs / "run")
    assert code == 0, err
    for word in ("tuned weights", "untuned", "scores.tsv", "weights.json"):
        assert word in said
    assert {path.name for path in (pairs / "run" / "figures").iterdir()} == {
        f"links_{line}.{kind}" for line in (1, 4) for kind in ("svg", "pdf")
    }
    code, _, err = run_command(
        monkeypatch, capsys, "align", model, pairs / "pairs.txt", "--reverse", "auto", "-o", pairs / "x"
    )
    assert code == 2
    assert "marian does not say which model is its reverse" in err
