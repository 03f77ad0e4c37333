"""Counted: every effect and number of each head, group by group of texts, so that any draw of texts gives them anew."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from headscope.ablation.removals import removable
from headscope.ablation.tables import PER, Merged
from headscope.ablation.work import CLEAN
from headscope.errors import InputError
from headscope.league.numbers import numbers_of, of_weights
from headscope.lens.head import Head, heads_of
from headscope.lens.lens import Lens
from headscope.statistics.base import Array, Statistic, ratio
from headscope.study.groups import stacked
from headscope.study.run import Run
from headscope.study.study import finished_shards, load_groups

ESTIMATES = "estimates"  # the folder that `ablate` keeps them in, and how they are called here


@dataclass
class Counted:
    """`parts` are sums by source and name, (group, ...) each; `numbers` and `effects` follow from any sum of groups."""

    heads: Sequence[Head]  # that were taken away
    ways: Sequence[str]
    parts: dict[str, Array]
    documents: int  # of all groups
    statistics: Sequence[Statistic]
    fixed: Mapping[str, Array]  # (head,) each: what no text changes
    places: Array  # of `heads` among the heads that statistics have
    estimated: Array  # of `heads` among those that estimates are of
    sites: Sequence[int]  # of all heads that statistics have

    @classmethod
    def of(
        cls, lens: Lens, effects: Run, estimates: Run | None, study: Run, statistics: Sequence[Statistic],
        heads: Sequence[Head], ways: Sequence[str],
    ) -> Counted:  # fmt: skip
        sources = {"effects": _merged(effects, effects.folder)}
        if estimates is not None and (estimates.folder / ESTIMATES).is_dir():
            sources[ESTIMATES] = _merged(estimates, estimates.folder / ESTIMATES)
        by_group = {one.table_name: load_groups(study, lens, one) for one in statistics}
        counted: list[set[int]] = [*map(set, sources.values()), *map(set, by_group.values())]
        groups = sorted(set.intersection(*counted))
        if not groups:
            raise InputError("No text of this corpus could be read: there is nothing to compare.")
        parts: dict[str, Array] = {}
        for source, found in sources.items():
            names = [(way, name) for way in (CLEAN, *ways) for name in found[groups[0]].get(way, {})]
            parts |= {
                f"{source} {way} {name}": np.stack([found[group][way][name] for group in groups]) for way, name in names
            }
        for table, states in by_group.items():
            sums = stacked([states[group].state for group in groups])
            parts |= {f"{table} {name}": some for name, some in sums.items()}
        every = [head for site in lens.sites for head in heads_of(site)]
        estimated = [head for site in removable(lens) for head in heads_of(site)]
        sites = [site.index for site in lens.sites for _ in range(site.heads)]
        places, of_estimates = (np.array([some.index(head) for head in heads]) for some in (every, estimated))
        documents = effects.manifest["counts"]["documents"]
        started = [one.start(lens.sites) for one in statistics]
        return cls(heads, ways, parts, documents, started, of_weights(lens, heads), places, of_estimates, sites)

    @property
    def groups(self) -> int:
        return len(next(iter(self.parts.values())))

    @property
    def layers(self) -> list[int]:
        """Which attention each head is of."""
        return [self.sites[place] for place in self.places]

    @property
    def effect_names(self) -> list[str]:
        """loss and kl, or states and pooled; the one that heads are ranked by first."""
        return [name for name in ("kl", "loss", "states", "pooled") if f"effects {self.ways[0]} {name}" in self.parts]

    def sums(self, draws: Array) -> dict[str, Array]:
        """draws: (draw, group), how often each group is in it -> (draw, ...) each."""
        return {name: np.einsum("dg,g...->d...", draws, part) for name, part in self.parts.items()}

    def effects(self, sums: Mapping[str, Array], way: str) -> dict[str, Array]:
        """Per predicted token or text, (..., head) each; not a number of texts that predict nothing."""
        return {
            name: ratio(sums[f"effects {way} {name}"], sums[f"effects {CLEAN} {PER[name]}"][..., None])
            for name in self.effect_names
        }

    def numbers(self, sums: Mapping[str, Array]) -> dict[str, Array]:
        """(..., head) each: what does not depend on what takes a head's place."""
        of_table = {
            one.table_name: {
                name.removeprefix(f"{one.table_name} "): some
                for name, some in sums.items()
                if name.startswith(f"{one.table_name} ")
            }
            for one in self.statistics
        }
        found = numbers_of(self.statistics, of_table, self.sites)
        shape = (*next(iter(found.values())).shape[:-1], len(self.heads))
        fixed = {name: np.broadcast_to(values, shape) for name, values in self.fixed.items()}
        return {name: values[..., self.places] for name, values in found.items()} | fixed

    def estimates(self, sums: Mapping[str, Array], way: str) -> dict[str, Array]:
        """(..., head) each: what backward passes say of a head when this takes its place."""
        first, second = (f"{ESTIMATES} {way} {name}_estimate" for name in ("loss", "kl"))
        if first not in sums:
            return {}
        tokens = sums[f"{ESTIMATES} {CLEAN} tokens"][..., None]
        loss = ratio(sums[first][..., self.estimated], tokens)
        found = {"gradient": loss, "gradient_size": np.abs(loss)}
        return found | ({"second_order": ratio(sums[second][..., self.estimated], tokens)} if second in sums else {})


def _merged(run: Run, folder: Path) -> dict[int, dict[str, dict[str, Array]]]:
    merged = Merged()
    for state, groups, _ in finished_shards(folder, run.manifest["shards"]):
        merged.add(state, groups)
    return merged.groups
