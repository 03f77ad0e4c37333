"""Which heads say most about one text: those that look hardest at single tokens beyond sinks, and what they do in it.

A page of all heads says nothing at first sight. The heads that it opens with are those whose rows give most to one token
each; first of them those that do what has a name (previous token, induction, ...) in this very text.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from headscope.later import Tensor, torch
from headscope.lens.block import AttentionBlock
from headscope.lens.sinks import known_sinks, parked_in, rows_left

HALF = 0.5  # of what goes beyond sinks: from here on a place names a head (clark2019, section 3.1)
LITTLE = 0.1  # of all that it gives: a head that leaves less beyond sinks is not named by it
CLEAR = 0.2  # of focus: from here on a name is seen in the picture, and puts its head first
TWICE = 2.0  # what other tokens give to the same place: less, and the head looks there whoever asks
REPEATED = 3  # rows whose token comes again, at least: fewer say nothing of repetition
MOST = 12  # heads of a kind of attention that are kept though they have no name
OPENED = 3  # of one layer, that a page opens with at the most

ROLES = ("induction", "duplicate token", "previous token", "next token", "same token")  # what says most first


class Telling(NamedTuple):
    """What one head does in a text."""

    layer: int
    head: int
    role: str  # by this text alone; empty where no place has more than half
    share: float  # of what goes beyond sinks, that goes to the place of the role
    focus: float  # what its rows give to one token beyond sinks, on average: of all that they give
    query: int  # its strongest link beyond sinks
    key: int
    weight: float


def places_of(tokens: Sequence[str], special: Sequence[bool], causal: bool) -> dict[str, Tensor]:
    """(query, key), bool, by role: where a head that has it would look. A token without such a place has an empty row.

    >>> found = places_of(["a", "b", "a", "b"], [False] * 4, causal=True)
    >>> found["induction"].int().tolist()[2:], found["previous token"].int().tolist()[1]
    ([[0, 1, 0, 0], [0, 0, 1, 0]], [1, 0, 0, 0])
    """
    numbers = {token: number for number, token in enumerate(dict.fromkeys(tokens))}
    ids = torch.tensor([numbers[token] for token in tokens])
    count = len(ids)
    at = torch.arange(count)
    apart = at[:, None] - at  # query less key
    known = ~torch.tensor(special, dtype=torch.bool)
    alike = (ids[:, None] == ids) & known[:, None] & known & (apart != 0)
    copies = alike & (apart > 0) if causal else alike
    behind = torch.zeros_like(copies)
    behind[:, 1:] = copies[:, :-1] & (apart[:, :-1] != 1)  # what follows the copy just before is the token itself
    return dict(zip(ROLES, (behind, copies, apart == 1, apart == -1, apart == 0), strict=True))


def telling_heads(
    weights: Tensor, sinks: Tensor, rows: Tensor, places: dict[str, Tensor]
) -> list[tuple[str, float, float, int, int, float]]:
    """(head, query, key), (key,), (query,) -> of each head role, share, focus, and the strongest link beyond sinks.

    `rows` are those that are counted; of them, those that see two keys or more beyond sinks, for others have no choice.

    >>> weights = torch.tensor([[[1.0, 0, 0], [0.2, 0.8, 0], [0.1, 0.6, 0.3]]])
    >>> none = torch.zeros(3, dtype=torch.bool)
    >>> telling_heads(weights, none, ~none, {"same token": torch.eye(3, dtype=torch.bool)})
    [('same token', 0.55, 0.7, 1, 1, 0.8)]
    """
    found = []
    for scores in weights:  # head by head: all of a long text's would fill the memory
        beyond = scores.masked_fill(sinks, 0)
        counted = rows & ((beyond > 0).sum(1) > 1)
        beyond = beyond[counted]
        if not beyond.numel() or not float(beyond.sum()):
            found.append(("", 0.0, 0.0, 0, 0, 0.0))
            continue
        given = scores[counted].sum(1)
        focus = float((beyond.amax(1) / given.where(given > 0, 1)).mean())
        row, key = divmod(int(beyond.argmax()), beyond.shape[1])
        role, share = _named(beyond, counted, places) if float(beyond.sum() / given.sum()) >= LITTLE else ("", 0.0)
        found.append(
            (role, round(share, 4), round(focus, 4), int(counted.nonzero()[row]), key, round(float(beyond[row, key]), 4))
        )
    return found


def _named(beyond: Tensor, counted: Tensor, places: dict[str, Tensor]) -> tuple[str, float]:
    """The first role whose place has more than half of what goes beyond sinks, and that share."""
    for role, place in places.items():
        here = place[counted]
        usual = torch.zeros_like(beyond[0])
        given = beyond
        if role in ROLES[:2]:  # judged on the rows that have a copy to look for, and against those for which it is none
            with_copy = here.any(1)
            if int(with_copy.sum()) < REPEATED:
                continue
            usual = _usually_given(beyond, here)
            here, given = here[with_copy], beyond[with_copy]
        total = float(given.sum())
        share = float(given[here].sum()) / total if total else 0.0
        by_others = float(((here * usual).sum(1) * given.sum(1)).sum()) / total if total else 0.0
        if share > HALF and share >= TWICE * by_others:
            return role, share
    return "", 0.0


def _usually_given(beyond: Tensor, here: Tensor) -> Tensor:
    """(row, key) twice -> (key,): the mean share that a key gets of the rows that see it and whose place it is not.

    >>> _usually_given(torch.tensor([[0.2, 0.6], [0.1, 0.1]]), torch.tensor([[False, False], [True, False]])).tolist()
    [0.25, 0.625]
    """
    others = (beyond > 0) & ~here
    shares = beyond / beyond.sum(1, keepdim=True).clamp(min=torch.finfo(beyond.dtype).tiny)
    return (shares * others).sum(0) / others.sum(0).clamp(min=1)


def telling_in(
    layer: int,
    weights: Tensor,
    attending: Sequence[bool],
    attended: Sequence[bool],
    causal: bool,
    tokens: Sequence[str] | None,
    parked: Tensor,
    heads: Sequence[int] | None = None,
) -> list[Telling]:
    """What each head of one layer does, from its weights (head, query, key) and which tokens of both sides are special.

    Its sinks are those of any text, and those on which most heads of this very layer are `parked`. `tokens`, where query i
    and key i are the same one. `heads` are the numbers of those that are here, if these are not all.
    """
    sinks = torch.tensor(known_sinks(attended, causal)) | parked
    rows = torch.tensor(rows_left(attending, sinks.tolist(), causal))
    places = {} if tokens is None else places_of(tokens, attended, causal)
    on = weights.device
    found = telling_heads(weights, sinks.to(on), rows.to(on), {role: place.to(on) for role, place in places.items()})
    return [Telling(layer, head, *one) for head, one in zip(heads or range(len(found)), found, strict=True)]


class TextTelling:
    """The telling heads of one text, while its layers come one after another."""

    def __init__(self, blocks: Iterable[AttentionBlock] = ()) -> None:
        self._found: dict[str, list[Telling]] = {}
        for block in blocks:
            self.add(block)

    def add(self, block: AttentionBlock) -> None:
        """One layer, all of its rows."""
        self._found.setdefault(block.site.group, []).extend(block.cached(_telling_of))

    def by_group(self, sinks: dict[str, list[bool]]) -> dict[str, list[Telling]]:
        """By `decoder self`, the heads that say most, best first: all that have a name, and some others."""
        return {group: ranked(found, sinks[group]) for group, found in self._found.items()}


def ranked(found: Sequence[Telling], sinks: Sequence[bool]) -> list[Telling]:
    """Heads whose name is clearly seen first, rare roles before others, then by focus; all with a name, and some others.

    A head whose strongest link goes to a sink of the text is left out: the picture would not show it.

    >>> heads = [Telling(0, 0, "", 0, 0.9, 2, 1, 0.9), Telling(0, 1, "same token", 0.8, 0.7, 1, 1, 0.8)]
    >>> [one.head for one in ranked(heads, [True, False])], ranked(heads, [True, True])
    ([1, 0], [])
    """
    order = {role: place for place, role in enumerate((*ROLES, ""))}
    left = [one for one in found if one.focus > 0 and not sinks[one.key]]
    best = sorted(left, key=lambda one: (order[one.role if one.focus >= CLEAR else ""], -one.focus))
    others = [one for one in best if not one.role][:MOST]
    return [one for one in best if one.role or one in others]


def opening(telling: Sequence[Telling]) -> tuple[int, list[int]] | None:
    """The layer and the heads that a page opens with: the best head, and others of its layer; None where none says anything.

    >>> best = Telling(2, 5, "previous token", 0.8, 0.7, 3, 2, 0.9)
    >>> opening([best, best._replace(layer=1), best._replace(head=1)])
    (2, [5, 1])
    """
    if not telling:
        return None
    first = telling[0]
    beside = [one.head for one in telling[1:] if one.layer == first.layer and one.focus >= HALF * first.focus]
    return first.layer, [first.head, *beside[: OPENED - 1]]


def _telling_of(block: AttentionBlock) -> list[Telling]:
    site, attending, attended = block.site, block.batch.query_sequences(block.site)[0], block.key_sequences[0]
    weights = block.weights[0, :, : len(attending), : len(attended)]
    tokens, parked = attended.tokens if site.kind == "self" else None, block.cached(parked_in)
    return telling_in(site.layer, weights, attending.special, attended.special, block.is_causal, tokens, parked)
