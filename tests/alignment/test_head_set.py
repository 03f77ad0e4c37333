"""A set of heads chosen from a table by hand, and its links against a loop over full maps."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from headscope.alignment.head_set import HeadSet, Reader, by_agreement
from headscope.alignment.linking import encode_pair, link
from headscope.errors import InputError
from tests.statistics.alignment.test_head_agreement import by_words
from tests.statistics.alignment.test_picking import PAIRS, full_map
from tests.statistics.tester import lens_for

ROWS = [  # layer, head, setting, score, with_first
    (0, 0, "AWI", 0.60, 1.0),
    (0, 0, "AWO", 0.50, 0.1),  # the same head, read beside
    (0, 1, "AWI", 0.55, 0.8),
    (1, 0, "AWO", 0.58, 0.7),
    (1, 0, "AWI", 0.46, 0.6),
    (1, 1, "AWI", 0.52, 0.2),  # good by itself, but looks elsewhere
    (2, 0, "AWI", 0.44, 0.9),  # less than three quarters of the best
]


def table(rows: list[tuple] = ROWS) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["layer", "head", "setting", "score", "with_first"])


def test_the_rule_by_hand() -> None:
    chosen = by_agreement(table())
    assert chosen.readers == (Reader(0, 0, "AWI"), Reader(1, 0, "AWO"), Reader(0, 1, "AWI"))
    assert chosen.warning == ""
    assert by_agreement(table(), most=1).readers == (Reader(0, 0, "AWI"),)
    assert by_agreement(table(ROWS[::-1])).readers == chosen.readers
    assert "0.60 to 0.55" in chosen.why


def test_a_setting_that_is_asked_for_is_kept_to() -> None:
    assert by_agreement(table(), setting="AWI").readers == (Reader(0, 0, "AWI"), Reader(0, 1, "AWI"), Reader(1, 0, "AWI"))
    assert by_agreement(table(), setting="AWO").readers == (Reader(1, 0, "AWO"),)
    assert by_agreement(table(ROWS[:3]), setting="AWO").readers == (Reader(0, 0, "AWO"),)


def test_who_comes_near_and_looks_elsewhere_is_named() -> None:
    near = [*ROWS, (3, 1, "AWO", 0.57, 0.05)]
    assert by_agreement(table(near)).warning.startswith(
        "The choice of heads is not certain: 3.1 AWO (0.57) agrees nearly as much as 0.0 AWI (0.60), and finds other links."
    )
    assert "3.1 AWO" not in by_agreement(table([*ROWS, (3, 1, "AWO", 0.53, 0.05)])).warning


def test_heads_that_agree_little_are_told_of() -> None:
    halved = [(layer, head, setting, score / 2, share) for layer, head, setting, score, share in ROWS]
    assert by_agreement(table(halved)).warning.startswith("No head agrees much with others (the best has 0.30 of 1")
    assert by_agreement(table(halved)).readers == by_agreement(table()).readers


@pytest.mark.parametrize("measure", ["weight", "norm"])
def test_links_against_loops(measure: str) -> None:
    lens = lens_for("marian")
    heads = HeadSet((Reader(0, 1, "AWI"), Reader(1, 3, "AWO"), Reader(0, 2, "AWI")), measure)
    expected = []
    for document in PAIRS:
        encoded = encode_pair(lens, document)
        total = 0
        for reader in heads.readers:
            scores = by_words(encoded, full_map(lens, encoded, measure, reader.layer)[reader.head], reader.setting)
            total = total + scores / scores.sum(1, keepdims=True)
        words = total[:, : len(document.words)]
        links = set()
        for target, source in np.ndindex(*words.shape):
            here = words[target, source]
            best = here == total[target].max() and here == words[:, source].max()
            most = np.sqrt(here / total[target].sum() * here / words[:, source].sum()) > 0.5
            if best or most:
                links.add((source, target))
        expected.append(links)
    assert any(expected)
    assert link(lens, PAIRS, heads, batch_size=2) == expected
    assert link(lens, PAIRS, heads, batch_size=1) == expected


def test_a_head_that_is_not_there() -> None:
    with pytest.raises(InputError, match="head 9 in layer 0"):
        link(lens_for("marian"), PAIRS, HeadSet((Reader(0, 9, "AWI"),)))
