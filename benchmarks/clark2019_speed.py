"""What the whole surface of clark2019 (section 3, figures 1, 2 and 4) costs beside the plain forward pass."""

from __future__ import annotations

import copy

from benchmarks.rows import Row
from benchmarks.settings import Settings
from benchmarks.study_cost import BATCHES, PLAIN, forward, fresh, wikitext_batches
from benchmarks.timing import alternate, as_ratios
from headscope.demo.model import open_model
from headscope.papers.clark2019.surface import one_pass
from headscope.statistics.base import settle_all
from headscope.study.count import update

PASS = "all of clark2019's surface in one pass"


def clark2019_speed(settings: Settings) -> list[Row]:
    """Every statistic of clark2019's surface in one pass against the plain forward pass: MiniLM on WikiText pairs."""
    with open_model() as lens:
        plain = copy.deepcopy(lens.model)
        plain.set_attn_implementation("sdpa")
        batches = wikitext_batches(lens, 1 if settings.quick else BATCHES)
        started = [statistic.start(lens.sites) for statistic in one_pass("weight")]

        def count() -> None:
            for batch in batches:
                update(lens, fresh(batch), started)
            settle_all(started)

        return as_ratios(alternate({PLAIN: lambda: forward(plain, batches), PASS: count}, settings.repeats), PLAIN, {})
