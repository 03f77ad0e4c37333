"""One alignment out of two, of a model and of its reverse: intersection, union, grow-diag-final-and (Koehn et al., 2005)."""

from collections.abc import Callable, Set
from heapq import heapify, heappop, heappush

from headscope.text.links import Pair

# In the order in which they are tried: first those beside, above and below, then the diagonal ones.
NEIGHBOURS = ((-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1))


def intersection(forward: Set[Pair], backward: Set[Pair]) -> frozenset[Pair]:
    """What both have found. All links here are (source, target), in whichever direction they were found."""
    return frozenset(forward) & backward


def union(forward: Set[Pair], backward: Set[Pair]) -> frozenset[Pair]:
    """What either has found."""
    return frozenset(forward) | backward


def grow_diag_final_and(forward: Set[Pair], backward: Set[Pair]) -> frozenset[Pair]:
    """The intersection, grown to neighbours in the union; then what links two words that are both still without a link.

    Growing adds a neighbour of a link, diagonal ones too, if one of its two words has no link yet, and goes on until none
    is left. Target by target, and source by source within it, as the authors write it: the order matters. At the end,
    forward's links come before backward's.

    >>> sorted(grow_diag_final_and({(0, 0), (1, 0), (3, 3)}, {(0, 0), (3, 2)}))
    [(0, 0), (1, 0), (3, 3)]
    """
    either = union(forward, backward)
    links: set[Pair] = set(intersection(forward, backward))
    sources, targets = {source for source, _ in links}, {target for _, target in links}

    def add(source: int, target: int) -> None:
        links.add((source, target))
        sources.add(source)
        targets.add(target)

    # Each link is visited once: what it could not add then, it never can, as words only gain links.
    this_sweep = [(target, source) for source, target in links]
    while this_sweep:
        heapify(this_sweep)
        next_sweep: list[tuple[int, int]] = []
        while this_sweep:
            here = heappop(this_sweep)
            for down, right in NEIGHBOURS:
                target, source = here[0] + down, here[1] + right
                is_free = source not in sources or target not in targets
                if is_free and (source, target) in either and (source, target) not in links:
                    add(source, target)
                    if (target, source) > here:
                        heappush(this_sweep, (target, source))
                    else:
                        next_sweep.append((target, source))
        this_sweep = next_sweep

    for found in (forward, backward):
        for source, target in sorted(found):  # links that share a word stand in the same order by target and by source
            if source not in sources and target not in targets:
                add(source, target)
    return frozenset(links)


SYMMETRISATIONS: dict[str, Callable[[Set[Pair], Set[Pair]], frozenset[Pair]]] = {
    "intersection": intersection,
    "union": union,
    "grow-diag-final-and": grow_diag_final_and,
}
