"""Which heads two contents have in common, by their names; and sentences about what only one of them has."""

from headscope.errors import InputError
from headscope.views.content import Content

Heads = dict[tuple[str, int], list[int]]  # by `encoder self` and layer: the model's own numbers


def heads_of(content: Content) -> Heads:
    """The heads that are here."""
    return {(attention.group, attention.layer): attention.heads for attention in content.attentions}


def shared_heads(a: Heads, b: Heads) -> Heads:
    """The heads that both have, in the order of the first; a sentence where there are none.

    >>> shared_heads({("encoder self", 0): [0, 1], ("encoder self", 1): [0]}, {("encoder self", 0): [1, 2]})
    {('encoder self', 0): [1]}
    """
    both = {place: [head for head in heads if head in b.get(place, [])] for place, heads in a.items()}
    found = {place: heads for place, heads in both.items() if heads}
    if not found:
        raise InputError(
            f"There is nothing to compare: no head of the one ({_kinds(a)}) is a head of the other ({_kinds(b)})."
        )
    return found


def left_out(a: Heads, b: Heads) -> list[str]:
    """What only one of the two has, and is therefore not compared.

    >>> left_out({("encoder self", 0): [0, 1], ("encoder self", 1): [0, 1]}, {("encoder self", 0): [0]})
    ['Only A has head 0.1 and layer 1 (encoder self): they are not compared.']
    """
    return [*_alone("A", a, b), *_alone("B", b, a)]


def _alone(name: str, heads: Heads, others: Heads) -> list[str]:
    said = []
    for group in dict.fromkeys(group for group, _ in heads):
        here = {layer: own for (kind, layer), own in heads.items() if kind == group}
        theirs = {layer: own for (kind, layer), own in others.items() if kind == group}
        if not theirs:
            said.append(f"Only {name} has {group} attention: it is not compared.")
            continue
        layers = [layer for layer in here if layer not in theirs]
        single = [
            f"{layer}.{head}" for layer, own in here.items() if layer in theirs for head in own if head not in theirs[layer]
        ]
        parts = [part for part in (_several("head", single), _several("layer", [str(layer) for layer in layers])) if part]
        if parts:
            it = "it is" if len(single) + len(layers) == 1 else "they are"
            said.append(f"Only {name} has {' and '.join(parts)} ({group}): {it} not compared.")
    return said


def _several(what: str, names: list[str]) -> str:
    """`layers 6, 7, 8`; of many the first and the last."""
    if len(names) < 2:
        return f"{what} {names[0]}" if names else ""
    listed = ", ".join(names) if len(names) <= 4 else f"{names[0]} to {names[-1]}"
    return f"{what}s {listed}"


def _kinds(heads: Heads) -> str:
    return ", ".join(dict.fromkeys(group for group, _ in heads)) or "nothing"
