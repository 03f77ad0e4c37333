"""A logit's parts as the JSON of a page: all heads by kind and layer, each over the tokens that it looks at."""

from __future__ import annotations

from headscope.lens.site import Site
from headscope.views.schema import LogitGroup, LogitParts, LogitSum
from headscope.writing.logits import Logits

DIGITS = 5  # behind the point, of a part
NAMED = {
    "head": "heads",
    "attention": "attention, not by head",
    "embedding": "embedding",
    "mlp": "MLPs",
    "other": "other layers",
    "bias": "biases",
}


def logit_parts(found: Logits) -> LogitParts:
    """What the atlas of a logit shows."""
    groups: dict[str, list[Site]] = {}
    for site in found.heads:
        groups.setdefault(site.group, []).append(site)
    return LogitParts(
        total=found.total,
        remainder=found.remainder,
        at=found.texts[found.position],
        position=found.position,
        sums=[LogitSum(name=NAMED[of], part=part) for of, part in found.sums.items()],
        groups=[_group(name, sites, found) for name, sites in groups.items()],
    )


def _group(name: str, sites: list[Site], found: Logits) -> LogitGroup:
    parts = [[[round(part, DIGITS) for part in head] for head in found.heads[site].tolist()] for site in sites]
    return LogitGroup(name=name, layers=[site.layer for site in sites], parts=parts, tokens=found.key_texts[sites[0]])
