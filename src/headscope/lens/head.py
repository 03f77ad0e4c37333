"""One head of one attention, the four columns that name it in every table, and how people name it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Self

from headscope.errors import InputError
from headscope.lens.site import Site, attention_named

HEAD = ["stack", "kind", "layer", "head"]


class Head(NamedTuple):
    """One head of one attention.

    >>> head = Head.of({"stack": "encoder", "kind": "self", "layer": 5, "head": 1, "entropy": 0.5})
    >>> head.label, head.name
    ('5.1', 'encoder self 5.1')
    """

    stack: str
    kind: str
    layer: int
    head: int

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Self:
        """The head that a row of a table is about."""
        return cls(str(row["stack"]), str(row["kind"]), int(row["layer"]), int(row["head"]))

    @property
    def label(self) -> str:
        return f"{self.layer}.{self.head}"

    @property
    def name(self) -> str:
        return f"{self.stack} {self.kind} {self.label}"


def heads_of(site: Site) -> list[Head]:
    """Every head of an attention."""
    return [Head(site.stack, site.kind, site.layer, head) for head in range(site.heads)]


def heads_named(names: Iterable[str | Head], sites: Sequence[Site]) -> list[Head]:
    """The heads that people name: `17.3`, `decoder cross 5.3`, or `17` for a whole layer; each once, in the order given.

    >>> sites = [Site(0, "encoder", "self", layer=0, heads=2), Site(1, "decoder", "cross", layer=0, heads=2)]
    >>> [head.name for head in heads_named(["cross 0.1", "encoder self 0"], sites)]
    ['decoder cross 0.1', 'encoder self 0.0', 'encoder self 0.1']
    """
    found = [head for name in names for head in ([name] if isinstance(name, Head) else _named(name, sites))]
    there = {head for site in sites for head in heads_of(site)}
    for head in found:
        if head not in there:
            raise InputError(f"There is no head {head.name}: this model has {_ranges(sites)}.")
    if not found:
        raise InputError("No head is named: write layer.head, as in 3.1, or a layer, as in 3.")
    return list(dict.fromkeys(found))


def _named(name: str, sites: Sequence[Site]) -> list[Head]:
    parsed = re.fullmatch(r"(?:(.*\S)\s+)?(\d+)(?:\.(\d+))?", name.strip())
    if parsed is None:
        raise InputError(f"{name!r} is not a head: write layer.head, as in 3.1 or decoder cross 3.1, or a layer, as in 3.")
    stack, kind = attention_named(parsed[1]) if parsed[1] else (None, None)
    layer, head = int(parsed[2]), parsed[3]
    here = [site for site in sites if stack in (None, site.stack) and kind in (None, site.kind)]
    at = [site for site in here if site.layer == layer]
    if not at:
        raise InputError(f"There is no layer {name}: this model has {_ranges(here or sites)}.")
    if len({(site.stack, site.kind) for site in here}) > 1:
        which = " or ".join(f"{site.group} {name.split()[-1]}" for site in at)
        raise InputError(f"{name!r} could be a head of several attentions: write {which}.")
    if head is not None and int(head) >= at[0].heads:
        raise InputError(f"There is no head {name}: layer {layer} has heads 0 to {at[0].heads - 1}.")
    return heads_of(at[0]) if head is None else [heads_of(at[0])[int(head)]]


def _ranges(sites: Sequence[Site]) -> str:
    """`encoder self 0 to 5, decoder cross 0 to 5`."""
    layers: dict[str, list[int]] = {}
    for site in sites:
        layers.setdefault(site.group, []).append(site.layer)
    return ", ".join(f"{group} layers {min(some)} to {max(some)}" for group, some in layers.items())
