"""What the whole surface of clark2019 (section 3, figures 1, 2 and 4) costs beside the plain forward pass."""

from __future__ import annotations

import copy

from benchmarks.passes import compared, count
from benchmarks.rows import Row
from benchmarks.settings import Settings
from benchmarks.study_cost import SHARDS, wikitext_shards
from headscope.demo.model import open_model
from headscope.papers.clark2019.surface import one_pass

PASS = "all of clark2019's surface in one pass"


def clark2019_speed(settings: Settings) -> list[Row]:
    """Every statistic of clark2019's surface in one pass against the plain forward pass: MiniLM on WikiText pairs."""
    with open_model() as lens:
        plain = copy.deepcopy(lens.model)
        plain.set_attn_implementation("sdpa")
        shards = wikitext_shards(lens, 1 if settings.quick else SHARDS)
        things = {PASS: lambda: count(lens, shards, one_pass("weight"))}
        return compared(things, lens, plain, shards, settings.repeats, {})
