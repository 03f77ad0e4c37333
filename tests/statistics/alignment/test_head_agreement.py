"""How far heads agree as aligners: against loops over full maps, and on planted heads that do and do not align."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import torch

from headscope.alignment.head_set import by_agreement
from headscope.alignment.linking import encode_pair
from headscope.errors import InputError
from headscope.statistics import HeadAgreement
from headscope.statistics.alignment.sides import SETTINGS
from headscope.statistics.alignment.two_ways import best_both_ways
from tests.statistics.alignment.test_picking import PAIRS, full_map
from tests.statistics.tester import lens_for


def by_words(encoded, scores: np.ndarray, setting: str) -> np.ndarray:
    """(row, key) -> (target word, source word and then special tokens): the textbook."""
    words = []
    for word in range(len(encoded.target.words)):
        rows = [row for row, of in enumerate(encoded.target.word_of) if of == word]
        mean = np.mean([scores[row if setting == "AWI" else row - 1] for row in rows], axis=0)
        keys = [
            sum(mean[key] for key, of in enumerate(encoded.source.word_of) if of == source)
            for source in range(len(encoded.source.words))
        ]
        words.append(keys + [mean[key] for key, special in enumerate(encoded.source.special) if special])
    return np.array(words)


@pytest.mark.parametrize("measure", ["weight", "norm"])
def test_against_loops(measure: str) -> None:
    lens = lens_for("marian")
    encoded = [encode_pair(lens, document) for document in PAIRS]
    counted = HeadAgreement(measure=measure).start(lens.sites)
    lens.run(lens.encoder.collate(encoded), counted.update)
    layers, heads = 2, 4
    links: list[list[set]] = []
    found = []
    for setting in SETTINGS:
        for layer in range(layers):
            for head in range(heads):
                mutual, count = set(), 0
                for text, one in enumerate(encoded):
                    scores = by_words(one, full_map(lens, one, measure, layer)[head], setting)
                    words = len(one.source.words)
                    rows = {(text, target, int(row.argmax())) for target, row in enumerate(scores) if row.argmax() < words}
                    columns = {(text, int(scores[:, source].argmax()), source) for source in range(words)}
                    mutual |= rows & columns
                    count += len(rows) + len(columns)
                links.append(mutual)
                found.append(count)
    table = counted.table()
    assert table["setting"].tolist() == ["AWI"] * 8 + ["AWO"] * 8
    expected = [2 * len(some) / count for some, count in zip(links, found, strict=True)]
    assert table["two_ways"].tolist() == pytest.approx(expected)
    together = [[2 * len(a & b) / max(len(a) + len(b), 1) for b in links] for a in links]
    for place, row in enumerate(together):
        others = sorted((value for other, value in enumerate(row) if other != place), reverse=True)
        assert table["consensus"][place] == pytest.approx(np.mean(others[:8]))
    assert table["with_first"].tolist() == pytest.approx(together[int(table["score"].argmax())])


def planted(kinds: list[str], seed: int = 0, texts: int = 20) -> pd.DataFrame:
    """The table of planted heads: `right` ones align, `beside` ones look one word beside, others at anything or one word."""
    generator = np.random.default_rng(seed)
    found, shared = np.zeros(len(kinds)), np.zeros((len(kinds), len(kinds)))
    for _ in range(texts):
        size = int(generator.integers(6, 15))
        order = np.arange(size)
        swap = int(generator.integers(size - 1))
        order[[swap, swap + 1]] = order[[swap + 1, swap]]
        maps = []
        for kind in kinds:
            scores = generator.random((size, size + 1))
            where = {"right": order, "beside": np.roll(order, 1), "sink": np.zeros(size, int)}.get(kind)
            if where is not None:
                sure = generator.random(size) < 0.9
                scores[np.arange(size)[sure], where[sure]] += 2
            maps.append(scores)
        there = torch.ones(size, dtype=torch.bool)
        rows, columns = best_both_ways(torch.tensor(np.array(maps)), there, there)
        mutual = (rows & columns).flatten(1).double().numpy()
        found += (rows.sum((1, 2)) + columns.sum((1, 2))).numpy()
        shared += mutual @ mutual.T
    labels = pd.DataFrame({"layer": 0, "head": range(len(kinds)), "setting": "AWI"})
    return labels.assign(**HeadAgreement().columns({"found": found, "shared": shared}))


@pytest.mark.parametrize("seed", range(5))
def test_planted_bad_heads_are_not_chosen(seed: int) -> None:
    kinds = ["noise", "right", "sink", "beside", "right", "noise", "beside", "right", "right", "sink", "right", "noise"]
    chosen = by_agreement(planted(kinds, seed))
    assert {kinds[reader.head] for reader in chosen.readers} == {"right"}
    assert len(chosen.readers) == 5
    again = by_agreement(planted(kinds, seed + 100))
    assert {reader.head for reader in again.readers} == {reader.head for reader in chosen.readers}


def test_two_camps_of_one_size_are_a_warning() -> None:
    chosen = by_agreement(planted(["right"] * 4 + ["beside"] * 4 + ["noise"] * 4))
    heads = {reader.head for reader in chosen.readers}
    assert heads in ({0, 1, 2, 3}, {4, 5, 6, 7})  # never some of both
    assert "not certain" in chosen.warning
    assert by_agreement(planted(["right"] * 6 + ["beside"] * 2)).warning == ""


def test_heads_that_agree_in_nothing() -> None:
    nothing = {"found": np.ones(4), "shared": np.zeros((4, 4))}
    table = pd.DataFrame({"layer": 0, "head": range(4), "setting": "AWI"}).assign(**HeadAgreement().columns(nothing))
    with pytest.raises(InputError, match="name one with --layer"):
        by_agreement(table)
