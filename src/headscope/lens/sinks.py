"""Which tokens of a text are sinks: those that heads look at when they have nothing to do.

Special tokens are, and the first token that a causal attention sees, whatever that is (clark2019, section 3.2; vig2019,
section 5.2). And so is any token that most heads of a layer park on, in two layers or more: a model may treat a comma, a
space or an article like the first token, and which one it is, only the text's own attention tells.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from headscope.errors import InputError
from headscope.later import Tensor, torch
from headscope.lens.block import AttentionBlock

PART = 0.25  # of what a row gives beyond known sinks: a row that gives a key more parks on it
TIMES = 2  # so many times what looking at all keys in sight alike would give it, at least: short texts have few keys
ROWS = 4  # that see a key, at least: fewer say nothing of it
LAYERS = 2  # in which most heads park on it: in a single one, heads may well agree on a word that matters


def known_sinks(special: Sequence[bool], causal: bool) -> list[bool]:
    """Of the tokens attended to, which are sinks in any text: special ones, and the first that a causal attention sees.

    >>> known_sinks([False, False, True], causal=True)
    [True, False, True]
    """
    return [one or (causal and place == 0) for place, one in enumerate(special)]


def parked_on(weights: Tensor, known: Tensor, within: bool) -> Tensor:
    """(head, query, key), (key,) -> (key,), bool: the keys beyond those known that most heads of one layer park on.

    A head parks on a key that most rows that see it, four at least, give more than a quarter of what they give beyond
    known sinks, and more than twice what they would if they looked at all other keys in sight alike. `within` one text,
    query i and key i are the same token, whose look at itself does not count. A key with a weight of 0 is not in sight.

    >>> rows = torch.tensor([[0.1, 0.6, 0.1, 0.1, 0.1]]).repeat(5, 1)  # all look at token 1, but for token 1
    >>> parked_on(rows[None], torch.zeros(5, dtype=torch.bool), within=True).int().tolist()
    [0, 1, 0, 0, 0]
    """
    parking = Parking(len(weights), known.to(weights.device), within)
    parking.add(weights)
    return parking.most()


class Parking:
    """How many rows of each head see a key and how many of them park on it, while the rows come one after another."""

    def __init__(self, heads: int, known: Tensor, within: bool) -> None:
        self.known, self.within = known, within
        self._seen = torch.zeros(heads, len(known), dtype=torch.long, device=known.device)  # rows that see a key
        self._parked = torch.zeros_like(self._seen)  # and those of them that park on it

    def add(self, weights: Tensor, first: int = 0) -> None:
        """Rows (head, row, key), of which the first is the text's row `first`."""
        for head, scores in enumerate(weights):  # head by head: all of a long text's would fill the memory
            asked = scores > 0
            in_sight = (asked & ~self.known).sum(1, keepdim=True)
            beyond = scores.masked_fill(self.known, 0)
            bar = (TIMES / in_sight).clamp(min=PART) * beyond.sum(1, keepdim=True)
            if self.within:
                asked.diagonal(first).fill_(False)
            self._seen[head] += asked.sum(0)
            self._parked[head] += (asked & (beyond > bar)).sum(0)

    def most(self) -> Tensor:
        """(key,), bool: the keys on which most heads park."""
        heads = ((2 * self._parked > self._seen) & (self._seen >= ROWS)).sum(0)
        return (2 * heads > len(self._seen)).cpu()


def sinks_of(known: Sequence[bool], parked: Sequence[Tensor]) -> list[bool]:
    """All sinks of a text: those known, and what `parked_on` says in two layers, or in the only one that was read.

    >>> layers = [torch.tensor([False, True, False]), torch.tensor([False, True, True]), torch.tensor([False, False, False])]
    >>> sinks_of([True, False, False], layers)
    [True, True, False]
    """
    found = torch.stack(list(parked)).sum(0) >= min(LAYERS, len(parked))
    return (found | torch.tensor(known)).tolist()


def rows_left(special: Sequence[bool], sinks: Sequence[bool], causal: bool) -> list[bool]:
    """Of the tokens that attend, which say something without sinks: not special ones, nor the first of a causal attention,
    which see nothing but sinks.

    >>> rows_left([False, False, False, True], [True, True, False, True], causal=True)
    [False, False, True, False]
    """
    first = sinks.index(False) if False in sinks else len(sinks)
    return [not one and not (causal and place < first) for place, one in enumerate(special)]


def renormalised(scores: Tensor, sinks: Tensor) -> Tensor:
    """(..., key), (key,) -> (..., key): what goes beyond sinks, as shares of it; without signs they add up to 1.

    >>> renormalised(torch.tensor([[0.5, 0.25, 0.25], [1.0, 0.0, 0.0]]), torch.tensor([True, False, False])).tolist()
    [[0.0, 0.5, 0.5], [0.0, 0.0, 0.0]]
    """
    beyond = scores.masked_fill(sinks, 0)
    total = beyond.abs().sum(-1, keepdim=True)
    return beyond / total.where(total > 0, 1)


def check_sinks(without: bool | None, renormalise: bool) -> None:
    """Say that two choices do not go together."""
    if renormalise and without is False:
        raise InputError(
            "What is left without sinks can't be renormalised with them in: leave out renormalise=True (--renormalise) or "
            "without_sinks=False (--with-sinks)."
        )


class TextSinks:
    """The sinks of one text by kind of attention, while its layers come one after another; of each a bit a token is kept."""

    def __init__(self, blocks: Iterable[AttentionBlock] = ()) -> None:
        self._known: dict[str, list[bool]] = {}
        self._parked: dict[str, list[Tensor]] = {}
        for block in blocks:
            self.add(block)

    def add(self, block: AttentionBlock) -> None:
        """One layer, all of its rows."""
        self._known[block.site.group] = known_sinks(block.key_sequences[0].special, block.is_causal)
        self._parked.setdefault(block.site.group, []).append(block.cached(parked_in))

    def by_group(self) -> dict[str, list[bool]]:
        """By `decoder self`, which of the tokens attended to are sinks, in the layers that have come so far."""
        return {group: sinks_of(known, self._parked[group]) for group, known in self._known.items()}


def sinks_in(block: AttentionBlock) -> list[bool]:
    """The sinks of one layer by itself."""
    return sinks_of(known_sinks(block.key_sequences[0].special, block.is_causal), [block.cached(parked_in)])


def parked_in(block: AttentionBlock) -> Tensor:
    """The keys of one layer that most of its heads park on; `block.cached(parked_in)` looks for them once."""
    known = torch.tensor(known_sinks(block.key_sequences[0].special, block.is_causal))
    rows = len(block.batch.query_sequences(block.site)[0])  # a model may pad a text to its own block size
    return parked_on(block.weights[0, :, :rows, : len(known)], known, block.site.kind == "self")
