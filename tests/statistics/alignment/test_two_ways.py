"""One matrix read both ways: by hand, against loops, and with padding that changes nothing."""

from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st

from headscope.statistics.alignment.two_ways import best_both_ways, mutual_links

SCORES = torch.tensor([[5.0, 1, 0, 0], [4, 3, 1, 0], [0, 2, 1, 9]])  # three target words, three source words, 'no link'
THERE = torch.ones(3, dtype=torch.bool)


def pairs(links: torch.Tensor) -> set[tuple[int, int]]:
    return {(target, source) for target, source in links.nonzero().tolist()}


def test_by_hand() -> None:
    by_row, by_column = best_both_ways(SCORES, THERE, THERE)
    assert pairs(by_row) == {(0, 0), (1, 0)}  # the last has its highest score where there is no link
    assert pairs(by_column) == {(0, 0), (1, 1), (1, 2)}  # of two equal ones, the first
    # (1, 1): 3 / 8 of its row, 3 / 6 of its column, and 3/16 is no more than 1/4.
    assert pairs(mutual_links(SCORES, THERE, THERE)) == {(0, 0)}


def test_a_word_that_takes_most_of_two_has_two_links() -> None:
    scores = torch.tensor([[9.0, 0, 0], [8, 1, 0]])  # 9/17 and 8/17 of the column, 1 and 8/9 of the row
    there = torch.ones(2, dtype=torch.bool)
    assert pairs(mutual_links(scores, there, there)) == {(0, 0), (1, 0)}
    declining = torch.tensor([[9.0, 0, 0], [8, 1, 20]])
    assert pairs(mutual_links(declining, there, there)) == {(0, 0)}


@given(st.integers(1, 5), st.integers(1, 5), st.integers(0, 1), st.integers(0, 2), st.integers(0, 2**30))
def test_against_loops_and_padded(targets: int, sources: int, others: int, more: int, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    scores = torch.rand(targets, sources + others, generator=generator, dtype=torch.float64)
    expected = set()
    for target in range(targets):
        for source in range(sources):
            here = scores[target, source]
            best = here == scores[target].max() and here == scores[:, source].max()
            most = (here / scores[target].sum() * here / scores[:, source].sum()).sqrt() > 0.5
            if best or most:
                expected.add((target, source))
    padded = torch.zeros(targets + more, sources + more + others, dtype=torch.float64)
    padded[:targets, :sources] = scores[:, :sources]
    padded[:targets, sources + more :] = scores[:, sources:]
    target, source = torch.arange(targets + more) < targets, torch.arange(sources + more) < sources
    assert pairs(mutual_links(padded, target, source)) == expected
