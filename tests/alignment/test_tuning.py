"""Weights of heads from a few gold links: against a plain regression on full maps, and on planted heads."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from headscope.alignment.head_set import Reader
from headscope.alignment.linking import encode_pair, link, weigh
from headscope.alignment.tuned_heads import TunedHeads
from headscope.alignment.tuning import PENALTIES, Sentence, left_out, ridge, tune
from headscope.errors import InputError
from headscope.statistics.alignment.scores import alignment_counts, scores
from headscope.statistics.alignment.sides import SETTINGS
from headscope.text.links import Links
from tests.statistics.alignment.test_head_agreement import by_words
from tests.statistics.alignment.test_picking import PAIRS, full_map
from tests.statistics.tester import lens_for


def textbook_features(lens, document, measure: str) -> np.ndarray:
    """(candidate, target word, source word) by loops over full maps: AWI's heads, then AWO's."""
    encoded = encode_pair(lens, document)
    found = []
    for setting in SETTINGS:
        for layer in range(2):
            for of_head in full_map(lens, encoded, measure, layer):
                by_word = by_words(encoded, of_head, setting)
                words = by_word[:, : len(document.words)]
                shares = np.zeros(words.shape)
                for target, source in np.ndindex(*words.shape):
                    row, column = by_word[target].sum(), words[:, source].sum()
                    shares[target, source] = np.sqrt(words[target, source] / row * words[target, source] / column)
                found.append(shares)
    return np.array(found)


def textbook_weights(features: list[np.ndarray], golds: list[Links], penalty: float) -> np.ndarray:
    """Ridge as a plain least-squares problem: rows of sqrt(penalty) below the data hold down all weights but the last."""
    rows, told = [], []
    for shares, gold in zip(features, golds, strict=True):
        for target, source in np.ndindex(*shares.shape[1:]):
            if (source, target) in gold.sure or (source, target) not in gold.possible:
                rows.append([*shares[:, target, source], 1.0])
                told.append(float((source, target) in gold.sure))
    size = len(rows[0]) - 1
    held = np.sqrt(penalty) * np.eye(size, size + 1)
    return np.linalg.lstsq(np.vstack([rows, held]), np.array([*told, *[0.0] * size]), rcond=None)[0]


@pytest.mark.parametrize("measure", ["norm", "weight"])
def test_against_a_plain_regression_with_full_maps(measure: str) -> None:
    lens = lens_for("marian")
    features = [textbook_features(lens, document, measure) for document in PAIRS]
    golds = [document.alignment for document in PAIRS]
    tuned, table, counted = tune(lens, PAIRS, measure=measure, batch_size=2)
    assert [reader.label for reader in tuned.readers[:1] + tuned.readers[-1:]] == ["0.0 AWI", "1.3 AWO"]
    errors, rates, by_pair = [], [], []
    for penalty in PENALTIES:
        squared, told, counts = 0.0, 0, []
        for place, (shares, gold) in enumerate(zip(features, golds, strict=True)):
            others = [other for other in range(len(PAIRS)) if other != place]
            *weights, intercept = textbook_weights([features[o] for o in others], [golds[o] for o in others], penalty)
            predicted = np.tensordot(weights, shares, 1) + intercept
            counts.append(alignment_counts({(s, t) for t, s in np.argwhere(predicted > 0.5).tolist()}, gold))
            for target, source in np.ndindex(*predicted.shape):
                if (source, target) in gold.sure or (source, target) not in gold.possible:
                    squared += (predicted[target, source] - ((source, target) in gold.sure)) ** 2
                    told += 1
        errors.append(squared / told)
        by_pair.append(counts)
        rates.append(float(scores(np.sum(counts, axis=0)).aer))
    assert table["squared_error"].tolist() == pytest.approx(errors, rel=1e-4)
    assert table["aer"].tolist() == pytest.approx(rates)
    best = PENALTIES[int(np.argmin(errors))]
    assert counted.tolist() == np.array(by_pair[int(np.argmin(errors))]).tolist()
    assert table.loc[table["chosen"], "penalty"].tolist() == [best]
    expected = textbook_weights(features, golds, best)
    assert [*tuned.weights, tuned.intercept] == pytest.approx(expected.tolist(), abs=1e-4)

    found = weigh(lens, PAIRS, tuned, batch_size=2)
    for shares, one in zip(features, found, strict=True):
        predicted = np.tensordot(expected[:-1], shares, 1) + expected[-1]
        assert set(one.links) == {(source, target) for target, source in np.argwhere(predicted > 0.5).tolist()}
        assert all(one.links[s, t] == pytest.approx(min(predicted[t, s], 1), abs=1e-4) for s, t in one.links)


def planted(seed: int, pairs: int = 10) -> tuple[list[Sentence], list[str]]:
    """Sentences in which two heads look at the right word, two one word beside it, and four at anything."""
    generator = np.random.default_rng(seed)
    kinds = ["noise", "right", "beside", "noise", "right", "noise", "beside", "noise"]
    sentences = []
    for _ in range(pairs):
        size = int(generator.integers(6, 15))
        shares = 0.3 * generator.random((len(kinds), size, size))
        for head, kind in enumerate(kinds):
            if kind != "noise":
                shares[head, np.arange(size), (np.arange(size) + (kind == "beside")) % size] += 0.5
        sentences.append(Sentence.of(shares, Links.of([(place, place) for place in range(size)])))
    return sentences, kinds


@pytest.mark.parametrize("seed", range(4))
def test_a_planted_good_head_gets_the_weight(seed: int) -> None:
    sentences, kinds = planted(seed)
    table, _ = left_out(sentences)
    squares, products = (sum(sums) for sums in zip(*(one.sums() for one in sentences), strict=True))
    *weights, _ = ridge(squares, products, 1.0)
    right = [weight for weight, kind in zip(weights, kinds, strict=True) if kind == "right"]
    others = [abs(weight) for weight, kind in zip(weights, kinds, strict=True) if kind != "right"]
    assert min(right) > 3 * max(others)
    assert table["aer"].min() < 0.02
    shuffled = [replace(one, sure=np.roll(one.sure, 3), possible=np.roll(one.possible, 3)) for one in sentences]
    assert left_out(shuffled)[0]["aer"].min() > 0.5  # what nothing speaks for is not learnt


def test_a_heavy_penalty_holds_weights_down() -> None:
    sentences, _ = planted(0)
    squares, products = (sum(sums) for sums in zip(*(one.sums() for one in sentences), strict=True))
    sizes = [float(np.abs(ridge(squares, products, penalty)[:-1]).sum()) for penalty in (0.1, 10.0, 1e6)]
    assert sizes[0] > sizes[1] > sizes[2]
    assert sizes[2] < 0.01


def test_one_setting_alone() -> None:
    tuned = tune(lens_for("marian"), PAIRS, setting="AWO").heads
    assert {reader.setting for reader in tuned.readers} == {"AWO"}
    assert len(tuned.readers) == 8


def test_errors() -> None:
    lens = lens_for("marian")
    with pytest.raises(InputError, match="at least two pairs, better ten"):
        tune(lens, PAIRS[:1])
    only_possible = [replace(one, alignment=Links(frozenset(), one.alignment.possible)) for one in PAIRS]
    with pytest.raises(InputError, match="no sure gold links"):
        tune(lens, only_possible)


def test_weights_are_read_again(tmp_path: Path) -> None:
    lens = lens_for("marian")
    tuned = tune(lens, PAIRS).heads
    tuned.save(tmp_path / "weights.json")
    again = TunedHeads.load(tmp_path / "weights.json")
    assert (again.readers, again.weights, again.intercept, again.measure) == (
        tuned.readers, tuned.weights, tuned.intercept, tuned.measure,
    )  # fmt: skip
    assert link(lens, PAIRS, again) == link(lens, PAIRS, tuned)
    assert again.table()["weight"].max() == max(tuned.weights)
    for wrong in ("", "[]", '{"heads": []}', "{"):
        (tmp_path / "weights.json").write_text(wrong)
        with pytest.raises(InputError, match="has no weights of heads"):
            TunedHeads.load(tmp_path / "weights.json")
    with pytest.raises(InputError, match="cannot be read"):
        TunedHeads.load(tmp_path / "nowhere.json")


def test_a_head_that_is_not_there() -> None:
    with pytest.raises(InputError, match="head 9 in layer 0"):
        link(lens_for("marian"), PAIRS, TunedHeads((Reader(0, 9, "AWI"),), (1.0,), 0.0))
