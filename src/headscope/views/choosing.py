"""Which heads a view holds, as people say it: `3.1,5.0`, or `3` for a whole layer; {3: [1]}; layers or heads alone."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from headscope.errors import InputError
from headscope.lens.site import Site

Only = Mapping[int, Sequence[int]]  # layer -> heads


class Included(NamedTuple):
    """These heads of these layers, or all of them where it says none: bertviz's include_layers and include_heads."""

    layers: Sequence[int] | None
    heads: Sequence[int] | None

    def among(self, there: Mapping[int, int]) -> Only:
        """
        >>> Included([5], None).among({4: 2, 5: 2}), Included(None, [1]).among({4: 2, 5: 2})
        ({5: [0, 1]}, {4: [1], 5: [1]})
        """
        layers = list(there) if self.layers is None else self.layers
        return {layer: list(range(there.get(layer, 0)) if self.heads is None else self.heads) for layer in layers}


def heads_by_layer(attentions: Iterable[tuple[int, int]]) -> dict[int, int]:
    """How many heads every attention of a layer has, of layers and heads of each.

    >>> heads_by_layer([(0, 8), (0, 4)])
    {0: 4}
    """
    found: dict[int, int] = {}
    for layer, heads in attentions:
        found[layer] = min(heads, found.get(layer, heads))
    return found


def heads_chosen(only: Only | Included | None, there: Mapping[int, int]) -> Only | None:
    """{layer: heads} of what is there, or None for all; an error, where some are not: `there` is how many each layer has."""
    chosen = only.among(there) if isinstance(only, Included) else only
    for layer, some in (chosen or {}).items():
        if layer not in there:
            raise InputError(f"There is no layer {layer} to draw: there are {', '.join(map(str, sorted(there)))}.")
        for head in some:
            if head not in range(there[layer]):
                raise InputError(f"There is no head {layer}.{head}: layer {layer} has heads 0 to {there[layer] - 1}.")
    return chosen


def heads_named(names: str, sites: Sequence[Site]) -> dict[int, list[int]]:
    """{layer: heads} of what is named, in the order of the layers.

    >>> sites = [Site(index=layer, stack="encoder", kind="self", layer=layer, heads=2) for layer in range(4)]
    >>> heads_named("3.1, 0", sites)
    {0: [0, 1], 3: [1]}
    """
    most = {site.layer: site.heads for site in sites}
    chosen: dict[int, set[int]] = {}
    for name in filter(None, re.split(r"[\s,]+", names)):
        found = re.fullmatch(r"(\d+)(?:\.(\d+))?", name)
        if found is None:
            raise InputError(f"{name!r} is not a head: write layer.head, as in 3.1, or a layer, as in 3.")
        layer, head = int(found[1]), found[2]
        if layer not in most:
            raise InputError(f"There is no layer {layer}: this model has {', '.join(map(str, sorted(most)))}.")
        if head is not None and int(head) >= most[layer]:
            raise InputError(f"There is no head {name}: layer {layer} has heads 0 to {most[layer] - 1}.")
        chosen.setdefault(layer, set()).update(range(most[layer]) if head is None else [int(head)])
    if not chosen:
        raise InputError("No head is named: write layer.head, as in 3.1, or a layer, as in 3.")
    return {layer: sorted(chosen[layer]) for layer in sorted(chosen)}
