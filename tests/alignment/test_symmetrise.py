"""Symmetrisation: by hand, against the authors' pseudocode swept over the whole matrix, and by laws."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from headscope.alignment.symmetrise import SYMMETRISATIONS, grow_diag_final_and, intersection, union

Pairs = frozenset[tuple[int, int]]
pairs = st.frozensets(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=20)


def swept(forward: Pairs, backward: Pairs, size: int = 6) -> Pairs:
    """Koehn et al. (2005) as written: e is the target word, f the source word; every sweep looks at every cell."""
    neighbouring = [(-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1)]
    alignment = {(e, f) for f, e in forward} & {(e, f) for f, e in backward}
    either = {(e, f) for f, e in forward} | {(e, f) for f, e in backward}

    def target_free(e: int) -> bool:
        return all(e != linked for linked, _ in alignment)

    def source_free(f: int) -> bool:
        return all(f != linked for _, linked in alignment)

    added = True
    while added:
        added = False
        for e in range(size):
            for f in range(size):
                if (e, f) in alignment:
                    for down, right in neighbouring:
                        new = (e + down, f + right)
                        if new in either and new not in alignment and (target_free(new[0]) or source_free(new[1])):
                            alignment.add(new)
                            added = True
    for found in (forward, backward):
        for e in range(size):
            for f in range(size):
                if (f, e) in found and target_free(e) and source_free(f):
                    alignment.add((e, f))
    return frozenset((f, e) for e, f in alignment)


def test_by_hand() -> None:
    forward = {(0, 0), (1, 1), (2, 1), (4, 4), (5, 2)}
    backward = {(0, 0), (1, 2), (4, 5), (3, 1)}
    assert intersection(forward, backward) == {(0, 0)}
    assert union(forward, backward) == {(0, 0), (1, 1), (2, 1), (4, 4), (5, 2), (1, 2), (4, 5), (3, 1)}
    # (1, 1) is diagonal to (0, 0); beside it (2, 1) has a free source and (1, 2) a free target; beside (2, 1), (3, 1) has a
    # free source. (5, 2) touches none of them and target 2 is taken. (4, 4) has two free words, after which (4, 5) has not.
    assert grow_diag_final_and(forward, backward) == {(0, 0), (1, 1), (2, 1), (1, 2), (3, 1), (4, 4)}


def test_growth_needs_a_free_word() -> None:
    both = {(0, 0), (1, 1)}
    assert grow_diag_final_and(both | {(1, 0)}, both) == both, "both words of (1, 0) are linked"


def test_without_a_common_link_only_the_last_step_adds() -> None:
    assert grow_diag_final_and({(0, 0)}, {(1, 0), (1, 1)}) == {(0, 0), (1, 1)}
    assert grow_diag_final_and({(1, 0)}, {(0, 0)}) == {(1, 0)}, "forward comes first"
    assert grow_diag_final_and(set(), set()) == frozenset()


def test_growth_goes_back_too() -> None:
    """A chain that runs towards smaller numbers needs a sweep for each link."""
    forward = {(4 - step, step) for step in range(5)} | {(5, 0)}
    assert grow_diag_final_and(forward, {(0, 4)}) == {(4 - step, step) for step in range(5)} | {(5, 0)}


@settings(max_examples=300)
@given(pairs, pairs)
@example(frozenset({(4, 0), (3, 1), (2, 2), (2, 1)}), frozenset({(2, 2), (1, 1)}))
def test_as_the_authors_write_it(forward: Pairs, backward: Pairs) -> None:
    common = frozenset(list(backward)[:3])  # so that there is something to grow from
    assert grow_diag_final_and(forward | common, backward) == swept(forward | common, backward)


@given(pairs, pairs)
def test_between_intersection_and_union(forward: Pairs, backward: Pairs) -> None:
    found = grow_diag_final_and(forward, backward)
    assert intersection(forward, backward) <= found <= union(forward, backward)


@pytest.mark.parametrize("name", SYMMETRISATIONS)
@given(pairs)
def test_two_that_agree_stay_as_they_are(name: str, found: Pairs) -> None:
    assert SYMMETRISATIONS[name](found, found) == found


@given(pairs, pairs)
def test_every_word_of_the_last_step_has_a_link(forward: Pairs, backward: Pairs) -> None:
    """No link of either side is left that joins two words without one."""
    found = grow_diag_final_and(forward, backward)
    sources, targets = {source for source, _ in found}, {target for _, target in found}
    assert all(source in sources or target in targets for source, target in forward | backward)
