"""Every token in one category: first, separator, punctuation, other (kobayashi2020, eq. 14), and those that a user names.

The paper's A is {[CLS]}, B {[SEP]}, C {".", ","}, D the rest. In general: `first` is a special token that starts the text,
and the first token of a decoder's text whatever it is (null attention); `separator` any other special token.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from headscope.errors import InputError
from headscope.later import Tensor, torch
from headscope.lens.score_block import ScoreBlock
from headscope.lens.side import Side
from headscope.statistics.kit.key_masks import surface

CATEGORIES = {
    "first": "the first token",
    "separator": "separators",
    "punctuation": "periods and commas",
    "other": "all other tokens",
}
USUAL = tuple(CATEGORIES)


def parse_categories(given: Mapping[str, str]) -> dict[str, str]:
    """A user's categories, checked: `/a regular expression/` that a whole token must match, or tokens with spaces between.

    >>> parse_categories({"articles": "a an the", "numbers": "/[0-9]+/"})
    {'articles': 'a an the', 'numbers': '/[0-9]+/'}
    """
    for name, rule in given.items():
        if name in USUAL:
            raise InputError(f"The category {name!r} exists already; give yours another name.")
        _matcher(name, rule)
    return dict(given)


def category_names(given: Mapping[str, str]) -> tuple[str, ...]:
    """All categories in order: a user's own, then the usual ones; a token is in the first that fits."""
    return (*given, *USUAL)


def key_categories(block: ScoreBlock, given: Mapping[str, str]) -> Tensor:
    """(batch, key), int64: which of `category_names(given)` each key is in; padding is in `other`."""
    return block.attended.cached(_categories, block.weights.shape[-1], block.is_causal, tuple(given.items()))


def beyond_sinks(block: ScoreBlock) -> Tensor:
    """(batch, key), bool: which keys are neither the first token nor a separator, nor padding."""
    return block.attended.cached(beyond_sinks_of, block.key_mask, block.is_causal)


def beyond_sinks_of(side: Side, mask: Tensor, causal: bool) -> Tensor:
    """The same of what is attended to; `mask` is False at padding."""
    return (side.cached(_categories, mask.shape[1], causal, ()) > USUAL.index("separator")) & mask


def _categories(side: Side, length: int, causal: bool, given: tuple[tuple[str, str], ...]) -> Tensor:
    own = [_matcher(name, rule) for name, rule in given]
    first, separator, punctuation, other = range(len(own), len(own) + len(USUAL))

    def category(label: str, special: bool, position: int, starts: str | None) -> int:
        for number, matches in enumerate(own):
            if matches(surface(label)):
                return number
        if special:
            return first if label == starts else separator
        if position == 0 and causal:
            return first
        return punctuation if surface(label) in (".", ",") else other

    found = torch.full((len(side.labels), length), other)
    for row, (labels, special) in enumerate(zip(side.labels, side.special, strict=True)):
        starts = labels[0] if labels and special[0] else None
        pairs = enumerate(zip(labels, special, strict=True))
        found[row, : len(labels)] = torch.tensor([category(*pair, position, starts) for position, pair in pairs])
    return found.to(side.device)


def _matcher(name: str, rule: str) -> Callable[[str], bool]:
    if len(rule) > 2 and rule.startswith("/") and rule.endswith("/"):
        try:
            pattern = re.compile(rule[1:-1])
        except re.error as error:
            raise InputError(f"The rule of the category {name!r}, {rule}, is no regular expression: {error}.") from error
        return lambda token: pattern.fullmatch(token) is not None
    tokens = set(rule.split())
    if not tokens:
        raise InputError(f"The category {name!r} has no tokens: give some with spaces between, or /a regular expression/.")
    return tokens.__contains__
