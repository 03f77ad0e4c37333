"""What people give a view to draw: a reading, arrays, or what bertviz's functions take, whichever comes first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from headscope.errors import InputError
from headscope.later import Tensor
from headscope.lens.reading import Reading
from headscope.views.choosing import Included, Only
from headscope.views.content import Content


class Given(NamedTuple):
    """The same, by what each is."""

    reading: Reading | Content | None
    tokens: Sequence[str] | None
    scores: Any
    attention: str  # the kind that is asked for


def sort_given(first: Any, second: Any, scores: Any, attention: Any) -> Given:
    """A reading; or tokens and scores, in either order. bertviz calls scores `attention`, which is here a kind of it.

    >>> sort_given([[1.0]], ["a"], None, "").tokens, sort_given(["a"], [[1.0]], None, "").tokens
    (['a'], ['a'])
    """
    found: dict[str, list[Any]] = {"reading": [], "tokens": [], "scores": [scores]}
    kind = attention if isinstance(attention, str) else ""
    if not isinstance(attention, str):
        found["scores"].append(attention)
    for value, other in ((first, second), (second, first)):
        if value is not None:
            found[_kind(value, is_tokens=value is second and not _are_tokens(other))].append(value)
    given = {what: [value for value in values if value is not None] for what, values in found.items()}
    for what, values in given.items():
        if len(values) > 1:
            raise InputError(f"There are two {what.removesuffix('s')}s to draw: give one of them.")
    one = {what: values[0] if values else None for what, values in given.items()}
    return Given(one["reading"], one["tokens"], one["scores"], kind)


def sort_stacks(encoder: Any, decoder: Any, cross: Any, *, alone: bool) -> dict[str, Any]:
    """What was given of an encoder-decoder, by its kind; `alone`: nothing else was given to draw."""
    stacks = {"encoder": encoder, "decoder": decoder, "cross": cross}
    given = {name: scores for name, scores in stacks.items() if scores is not None}
    if given and not alone:
        raise InputError(
            f"There are two things to draw: give {next(iter(given))}_attention= and its like, or the other alone."
        )
    return given


def sort_chosen(only: Only | None, layers: Sequence[int] | None, heads: Sequence[int] | None) -> Only | Included | None:
    """Which heads are drawn, however that was said."""
    if layers is None and heads is None:
        return only
    if only is not None:
        raise InputError("only= and include_layers= or include_heads= say the same: give one of them.")
    return Included(layers, heads)


def check_action(action: str) -> None:
    if action not in ("view", "return"):
        raise InputError(f'html_action= is "view" or "return", not {action!r}.')


def _kind(value: Any, *, is_tokens: bool) -> str:
    """What a value is; `is_tokens` says it of an empty list."""
    if isinstance(value, (Reading, Content)):
        return "reading"
    if _are_tokens(value) or (is_tokens and isinstance(value, (list, tuple)) and not value):
        return "tokens"
    if isinstance(value, (list, tuple, Mapping, Tensor)) or hasattr(value, "__array__"):
        return "scores"
    raise InputError(f"A view draws a reading, as lens.read(...) returns it, not a {type(value).__name__}.")


def _are_tokens(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return value.dtype.kind == "U"
    return isinstance(value, (list, tuple)) and bool(value) and all(isinstance(one, str) for one in value)
