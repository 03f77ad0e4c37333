"""Links: what is sure is possible, and flipping twice changes nothing."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from headscope.text.links import Links

pairs = st.frozensets(st.tuples(st.integers(0, 9), st.integers(0, 9)))


def test_by_hand() -> None:
    links = Links(frozenset({(0, 1)}), frozenset({(2, 1)}))
    assert links.sure == {(0, 1)}
    assert links.possible == {(0, 1), (2, 1)}
    assert links.flipped() == Links(frozenset({(1, 0)}), frozenset({(1, 2)}))
    assert Links.of([(0, 1), (0, 1)]) == Links(frozenset({(0, 1)}), frozenset({(0, 1)}))
    assert Links() == Links.of([])
    assert len({links, links.flipped().flipped()}) == 1, "equal links have equal hashes"


@given(pairs, pairs)
def test_laws(sure: frozenset[tuple[int, int]], possible: frozenset[tuple[int, int]]) -> None:
    links = Links(sure, possible)
    assert links.sure == sure
    assert links.possible == sure | possible
    assert links.flipped().flipped() == links
