"""Two directions joined by the product of their scores, against loops; and the scores of joined links."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headscope.alignment.choice import Choice
from headscope.alignment.head_set import HeadSet, Reader
from headscope.alignment.joining import mean_scores, product_links
from headscope.alignment.linking import Weighed, encode_pair, weigh
from headscope.text import Document
from tests.statistics.alignment.test_head_agreement import by_words
from tests.statistics.alignment.test_picking import PAIRS, full_map
from tests.statistics.tester import lens_for


def by_loops(forward: np.ndarray, backward: np.ndarray) -> dict[tuple[int, int], float]:
    """Rows of both sum to 1, the last column being 'no link': (target, source + 1) and (source, target + 1)."""
    targets, sources = forward.shape[0], backward.shape[0]
    joint = {(s, t): forward[t, s] * backward[s, t] for s in range(sources) for t in range(targets)}
    found = {}
    for (source, target), product in joint.items():
        best_of_target = max(range(sources), key=lambda s: joint[s, target]) == source
        best_of_source = max(range(targets), key=lambda t: joint[source, t]) == target
        beats_none = product > forward[target, -1] * backward[source, -1]
        if (best_of_target and best_of_source and beats_none) or np.sqrt(product) > 0.5:
            found[source, target] = np.sqrt(product)
    return found


@given(st.integers(1, 6), st.integers(1, 6), st.integers(0, 10_000), st.sampled_from([0.3, 1.0, 6.0]))
def test_against_loops(sources: int, targets: int, seed: int, sharpness: float) -> None:
    generator = np.random.default_rng(seed)
    forward, backward = (
        np.exp(sharpness * generator.normal(size=shape)) for shape in ((targets, sources + 1), (sources, targets + 1))
    )
    forward, backward = (matrix / matrix.sum(1, keepdims=True) for matrix in (forward, backward))
    found = product_links(Weighed({}, forward[:, :-1], forward[:, -1]), Weighed({}, backward[:, :-1], backward[:, -1]))
    assert found == pytest.approx(by_loops(forward, backward))


def test_exchanging_the_directions_exchanges_the_links() -> None:
    generator = np.random.default_rng(0)
    one = Weighed({}, generator.random((4, 3)), generator.random(4) / 4)
    other = Weighed({}, generator.random((3, 4)), generator.random(3) / 4)
    turned = product_links(other, one)
    assert {(t, s): score for (s, t), score in turned.items()} == pytest.approx(product_links(one, other))


@pytest.mark.parametrize("choice", [HeadSet((Reader(0, 1, "AWI"), Reader(1, 3, "AWO"))), Choice(1, 2, "weight")])
def test_what_a_model_says_of_every_two_words(choice) -> None:
    """Shares of a real forced decoding against full maps, cut to each text's own words in a padded batch."""
    lens = lens_for("marian")
    readers = choice.readers if isinstance(choice, HeadSet) else (Reader(choice.layer, choice.head, choice.setting),)
    for document, one in zip(PAIRS, weigh(lens, PAIRS, choice, shares=True), strict=True):
        encoded, total = encode_pair(lens, document), 0
        for reader in readers:
            scores = by_words(encoded, full_map(lens, encoded, choice.measure, reader.layer)[reader.head], reader.setting)
            total = total + scores / scores.sum(1, keepdims=True) / len(readers)
        words = len(document.words)
        np.testing.assert_allclose(one.shares, total[:, :words], rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(one.none, total[:, words:].sum(1), rtol=1e-4, atol=1e-6)
        for (source, target), score in one.links.items():
            row = total[target, source] / total[target].sum()
            column = total[target, source] / total[:, source].sum()
            expected = np.sqrt(row * column) if isinstance(choice, HeadSet) else row
            assert score == pytest.approx(expected, rel=1e-4)
    assert all(one.shares is None for one in weigh(lens, PAIRS, choice))


def test_words_without_a_token_at_the_end_have_nothing() -> None:
    lens = lens_for("marian")
    pairs = [Document(words=["a", "dog", "\u200b"], target_words=["the", "cat"])]
    (one,) = weigh(lens, pairs, Choice(0), shares=True)
    assert one.shares.shape == (2, 3)


def test_scores_of_joined_links() -> None:
    joined = frozenset({(0, 0), (1, 1), (2, 2)})
    assert mean_scores(joined, {(0, 0): 0.5, (1, 1): 0.8}, {(0, 0): 0.7, (2, 2): 0.2}) == {
        (0, 0): pytest.approx(0.6), (1, 1): pytest.approx(0.4), (2, 2): pytest.approx(0.1),
    }  # fmt: skip
