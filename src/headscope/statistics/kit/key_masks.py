"""Tokens by category: which keys of a block are special, a period or comma, or anything a caller names."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from headscope.later import Tensor, torch
from headscope.lens.score_block import ScoreBlock
from headscope.lens.side import Side

# Marks of tokenizers: GPT-2's and sentencepiece's leading space, BERT's continuation, BPE's end of word.
_MARKS = ("Ġ", "▁", "##")


def surface(token: str) -> str:
    """A token without its tokenizer's marks.

    >>> surface("Ġ,"), surface("##s"), surface("▁.")
    (',', 's', '.')
    """
    for mark in _MARKS:
        if token != mark:
            token = token.removeprefix(mark)
    return token.removesuffix("</w>")


def keys_where(block: ScoreBlock, chosen: Callable[..., bool], *arguments: str) -> Tensor:
    """(batch, key): 1 where `chosen(label, is special, *arguments)`, else 0."""
    return block.attended.cached(where, block.weights.shape[-1], chosen, *arguments)


def where(side: Side, length: int, chosen: Callable[..., bool], *arguments: str) -> Tensor:
    mask = torch.zeros(len(side.labels), length)
    asked = cache(lambda label, special: chosen(label, special, *arguments))  # texts repeat their tokens
    for row, (labels, special) in enumerate(zip(side.labels, side.special, strict=True)):
        mask[row, : len(labels)] = torch.tensor([float(one) for one in map(asked, labels, special)])
    return mask.to(side.device)


def is_special(label: str, special: bool, wanted: str) -> bool:
    return special and label == wanted


def is_period(label: str, special: bool) -> bool:
    return not special and surface(label) == "."


def is_comma(label: str, special: bool) -> bool:
    return not special and surface(label) == ","


def separators(side: Side) -> Tensor:
    """(batch, position): 1 at special tokens that do not start a text, nor are like those that do."""
    mask = torch.zeros(len(side.labels), side.longest)
    for row, (tokens, flags) in enumerate(zip(side.labels, side.special, strict=True)):
        found = [float(special and token != tokens[0]) for token, special in zip(tokens, flags, strict=True)]
        mask[row, : len(tokens)] = torch.tensor(found)
    return mask.to(side.device)


def special_labels(side: Side) -> list[str]:
    """The special tokens of a side, each once."""
    pairs = [pair for texts in zip(side.labels, side.special, strict=True) for pair in zip(*texts, strict=True)]
    return list(dict.fromkeys(label for label, special in pairs if special))
