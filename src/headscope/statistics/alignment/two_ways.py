"""One matrix of scores read both ways: each target word's best source word, and each source word's best target word."""

from __future__ import annotations

from headscope.later import Tensor, torch

TINY = 1e-30


def best_both_ways(scores: Tensor, target: Tensor, source: Tensor) -> tuple[Tensor, Tensor]:
    """Links by rows and links by columns, (..., target word, source word) each.

    scores: (..., target word, column), columns being the source words and then what means 'no link'. `target` and `source`
    say which words there are, as padding has none: they broadcast against (..., target word) and (..., source word).
    A row that is highest at 'no link' has no link; a column always has one, since no target token means 'no link'.
    """
    words = source.shape[-1]
    rows, columns = (torch.arange(size, device=scores.device) for size in (scores.shape[-2], words))
    there = target[..., :, None] & source[..., None, :]
    by_row = scores.argmax(-1)[..., None] == columns
    by_column = scores[..., :words].masked_fill(~target[..., :, None], -1).argmax(-2)[..., None, :] == rows[:, None]
    return by_row & there, by_column & there


def mutual_links(scores: Tensor, target: Tensor, source: Tensor) -> Tensor:
    """Links of two words that are each other's best, or that give each other most of what they have.

    The second is where sqrt(a b) > 1/2: a is the part of the target word's row, 'no link' included, that the source word
    has, and b the part of the source word's column that the target word has. So a word can have two links, if not many.
    """
    by_row, by_column = best_both_ways(scores, target, source)
    words = scores[..., : source.shape[-1]]
    of_row, of_column = scores.sum(-1, keepdim=True), words.sum(-2, keepdim=True)
    most = words * words > (of_row * of_column) / 4
    return (by_row & by_column) | (most & target[..., :, None] & source[..., None, :])


def link_shares(scores: Tensor, words: int) -> Tensor:
    """sqrt(a b) of every two words, as above: (..., target word, column) -> (..., target word, source word)

    >>> (link_shares(torch.tensor([[2.0, 0.0, 0.0], [0.0, 1.0, 3.0]]), 2)).tolist()
    [[1.0, 0.0], [0.0, 0.5]]
    """
    linked = scores[..., :words]
    whole = scores.sum(-1, keepdim=True) * linked.sum(-2, keepdim=True)
    return torch.where(whole > 0, linked * whole.clamp(min=TINY).rsqrt(), 0.0)
