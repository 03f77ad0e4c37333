"""What one head looks at most in one text. Sinks (lens/sinks.py) are left aside where they would hide it, and their share is
said. The first row of a causal attention sees nothing but itself: its 1 says nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from headscope.later import Tensor, torch
from headscope.lens.sinks import renormalised


class Strongest(NamedTuple):
    """What one head looks at most; all in tokens as people read them."""

    layer: int
    head: int | None  # None for all heads together
    sinks: float  # their share of all that the head gives
    token: str | None  # gets most of all that the head gives, or of what goes beyond its sinks; None where nothing does
    place: int | None  # of this token, which its text may have more than once
    share: float  # of all that, what this token gets
    link: tuple[str, str] | None  # who gives most to whom; None for a measure that has one number a token
    places: tuple[int, int] | None  # of both in their texts
    score: float  # of the link, or the token


class Candidates(NamedTuple):
    """Which scores of an attention say something of a head."""

    pairs: Tensor  # query key, bool: where a query has a choice, and sees the key
    sinks: Tensor  # key, bool
    without_sinks: bool  # whether they are left aside
    renormalise: bool = False  # whether scores are shares of what their row gives beyond sinks


def choices(queries: int, keys: int, causal: bool) -> Tensor:
    """(query, key), bool: what a query sees, without queries that see only one key.

    >>> choices(3, 3, causal=True).int().tolist()
    [[0, 0, 0], [1, 1, 0], [1, 1, 1]]
    """
    seen = torch.ones(queries, keys, dtype=torch.bool)
    seen = seen.tril() if causal else seen
    return seen & (seen.sum(1) > 1)[:, None]


def strongest_of(
    layer: int, head: int | None, scores: Tensor, among: Candidates, queries: Sequence[str], keys: Sequence[str]
) -> Strongest:
    """From one head's scores, (query, key) or (key,), and how the tokens are read."""
    by_pair = scores.dim() == 2
    total = scores.where(among.pairs, 0).sum(0) if by_pair else scores
    asked = ~among.sinks if among.without_sinks else torch.ones_like(among.sinks)
    open_to = among.pairs & asked if by_pair else asked
    on_sinks = float(total[among.sinks].sum() / total.sum())
    if among.renormalise:
        scores = renormalised(scores, among.sinks)
        total = scores.where(among.pairs, 0).sum(0) if by_pair else scores
    if not open_to.any():
        return Strongest(layer, head, on_sinks, None, None, float("nan"), None, None, float("nan"))
    most = int(total.masked_fill(~asked, -torch.inf).argmax())
    open_scores = scores.masked_fill(~open_to, -torch.inf)
    row, key = divmod(int(open_scores.argmax()), len(keys))
    share, score = float(total[most] / total[asked].sum()), float(open_scores.max())
    if not by_pair:
        return Strongest(layer, head, on_sinks, keys[most], most, share, None, None, score)
    return Strongest(layer, head, on_sinks, keys[most], most, share, (queries[row], keys[key]), (row, key), score)
