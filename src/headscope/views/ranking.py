"""Heads ranked by how much they changed from one of two contents to the other."""

import numpy as np

from headscope.lens.head import Head
from headscope.lens.reading import Level
from headscope.study.run_by_head import HeadStatistic
from headscope.views.change import change
from headscope.views.content import Attention, Content
from headscope.views.joint_maps import in_both, on_axes

CHANGE = "change"  # the statistic
ABOUT = (
    "half the sum of |B − A| over what a token gives, as shares of it (a decoder's sinks count as one token); the mean over "
    "the tokens that both have: 0 where nothing has changed, 1 where nothing is as it was"
)


def change_of(first: Attention, second: Attention, joint: Content, level: Level) -> dict[str, float]:
    """How much each head of an attention has changed, by `encoder self 3.1`; `joint` is the content of the difference."""
    rows, columns, measure = joint.sides[first.query], joint.sides[first.key], ranked_by(first)
    if rows.joint is None or len(first.scores[measure]) != len(first.heads):
        return {}  # a measure of all heads together
    before = on_axes(first.scores[measure], rows, columns, "a", level)
    after = on_axes(second.scores[measure], rows, columns, "b", level)
    sinks = np.array(joint.sinks_of(first, level), dtype=bool) if first.is_causal else None
    changes = change(before, after, in_both(rows.joint, level), sinks).tolist()
    return {head.name: value for head, value in zip(_heads(first), changes, strict=True) if not np.isnan(value)}


def ranked_by(attention: Attention) -> str:
    """The measure by which heads are ranked: the weight, or the first where it is not there."""
    return "weight" if "weight" in attention.scores else next(iter(attention.scores))


def change_statistic(values: dict[str, float]) -> list[HeadStatistic]:
    """What heads are sorted by; nothing where nothing is known of any."""
    return [HeadStatistic(CHANGE, "change", ABOUT, values)] if values else []


def most_changed(content: Content, group: str = "") -> Head | None:
    """The head that changed most, of one kind of attention or of the first; None where nothing is known."""
    changes = next((one.values for one in content.statistics if one.name == CHANGE), {})
    heads = [head for attention in content.of_group(group or content.groups[0]) for head in _heads(attention)]
    return max((head for head in heads if head.name in changes), key=lambda head: changes[head.name], default=None)


def _heads(attention: Attention) -> list[Head]:
    return [Head(attention.stack, attention.kind, attention.layer, head) for head in attention.heads]
