"""Heads as people write them: `3.1,5.0`, or `3` for a whole layer."""

import re
from collections.abc import Sequence

from headscope.errors import InputError
from headscope.lens.site import Site


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
