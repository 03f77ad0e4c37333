"""From sums over texts to tables: effects per predicted token with intervals, ranks, and what a layer's other heads do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from headscope.ablation.exact import Removal
from headscope.ablation.work import CLEAN
from headscope.later import pd
from headscope.lens.head import HEAD, Head
from headscope.statistics.base import Array, ratio
from headscope.statistics.columns import NATS, RATIO, SHARE, Column, declare
from headscope.statistics.kit.resampling import resampled, small_sample_tail
from headscope.study.state import State

NAME, LAYERS, SETS, CURVE = "ablation", "ablation_layers", "ablation_sets", "ablation_curve"
PER = {"loss": "tokens", "kl": "tokens", "states": "tokens", "pooled": "texts"}
_WITHOUT = "when it is taken away, per predicted token"
COLUMNS = {
    "loss": Column("Without it, change of the loss", NATS, f"How much the model's loss rises {_WITHOUT}.", "is needed more"),
    "kl": Column("Without it, KL", NATS, f"How far the model's predictions move {_WITHOUT}.", "changes more"),
    "states": Column("Without it, 1 - cos of states", RATIO, "How far the final states turn without it.", "changes more"),
    "pooled": Column("Without it, 1 - cos of texts", RATIO, "How far the mean of a text's states turns.", "changes more"),
    "loss_estimate": Column("Change of the loss, estimated", NATS, "From one backward pass.", "is needed more"),
    "kl_estimate": Column("KL, estimated", NATS, "From backward passes of labels that the model draws.", "changes more"),
    "largest_text": Column(
        "Most of one text in its effect", SHARE, "How much of its effect comes from a single text.", "acts in one text"
    ),
}
COLUMNS |= {
    f"{name}_others{end}": Column(
        f"{COLUMNS[name].title}, {what} of the other heads of its layer", COLUMNS[name].unit, f"The {what} over them.",
        "is a layer that matters", of_heads=False,
    )
    for name in PER
    for end, what in (("", "mean"), ("_deviation", "deviation"))
}  # fmt: skip
declare(NAME, COLUMNS, card_place=20)


@dataclass
class Merged:
    """The shards of one phase, merged in order: sums by way and group of documents."""

    groups: dict[int, dict[str, dict[str, Array]]] = field(default_factory=dict)
    largest: dict[str, Array] = field(default_factory=dict)  # by way, of each removal: the largest effect on one text

    def add(self, state: State, groups: Sequence[int]) -> None:
        for way, sums in state.items():
            if way == "largest":
                for name, values in sums.items():
                    self.largest[name] = np.maximum(self.largest.get(name, values), values)
                continue
            for row, group in enumerate(groups):
                into = self.groups.setdefault(group, {}).setdefault(way, {})
                for name, values in sums.items():
                    into[name] = into.get(name, np.zeros_like(values[row])) + values[row]

    def of(self, way: str) -> dict[str, Array]:
        """(group, ...) each."""
        found = [group[way] for group in self.groups.values()]
        return {name: np.stack([one[name] for one in found]) for name in found[0]}

    @property
    def clean(self) -> dict[str, float]:
        """Sums of what the model does with all its heads."""
        return {name: float(values.sum()) for name, values in self.of(CLEAN).items()}


def effects(merged: Merged, way: str) -> dict[str, Array]:
    """(removal,) each, with `_low` and `_high`."""
    clean, sums = merged.of(CLEAN), merged.of(way)
    parts = {**sums, **{f"per {name}": clean[name] for name in ("tokens", "texts")}}

    def derive(of: Mapping[str, Array]) -> dict[str, Array]:
        return {name: ratio(of[name], of[f"per {per}"][..., None]) for name, per in PER.items() if name in sums}

    found = derive({name: values.sum(0) for name, values in parts.items()})
    drawn = {name: (np.full_like(values, np.nan), np.full_like(values, np.nan)) for name, values in found.items()}
    if len(merged.groups) > 1:
        drawn = resampled(parts, derive, tail=small_sample_tail(len(merged.groups)))
    columns: dict[str, Array] = {}
    for name, values in found.items():
        columns |= {name: values, f"{name}_low": drawn[name][0], f"{name}_high": drawn[name][1]}
    main = "kl" if "kl" in sums else "states"
    total = sums[main].sum(0)
    columns["largest_text"] = np.divide(merged.largest[way], total, out=np.full_like(total, np.nan), where=total > 0)
    return columns


def head_table(heads: Sequence[Head], way: str, columns: Mapping[str, Array]) -> pd.DataFrame:
    """A row a head: the effects, its rank among all heads, and what the others of its layer do on average."""
    table = pd.DataFrame(heads, columns=HEAD).astype({"layer": "Int64", "head": "Int64"}).assign(how=way, **columns)
    main = next((name for name in ("kl", "states", "kl_estimate", "loss_estimate") if name in table), None)
    if main is not None:
        table["rank"] = table[main].rank(ascending=False, method="first", na_option="bottom").astype("Int64")
    for name in [name for name in ("loss", "kl", "states", "pooled") if name in table]:
        mean, deviation = others(table[name].to_numpy(), table.groupby(HEAD[:3], sort=False).ngroup().to_numpy())
        table[f"{name}_others"], table[f"{name}_others_deviation"] = mean, deviation
    return table


def head_columns(effects: Sequence[str], estimates: Sequence[str]) -> list[str]:
    """The columns of `head_table` that heads can be ordered by."""
    compared = [f"{name}{end}" for name in effects for end in ("_others", "_others_deviation")]
    return [*effects, *(["largest_text"] if effects else []), *estimates, "rank", *compared]


def others(values: Array, layers: Array) -> tuple[Array, Array]:
    """For each number the mean and the deviation of the others of its layer; not a number where there is none.

    >>> [some.round(3).tolist() for some in others(np.array([1.0, 2.0, 4.0, 7.0]), np.array([0, 0, 0, 1]))]
    [[3.0, 2.5, 1.5, nan], [1.0, 1.5, 0.5, nan]]
    """
    mean, deviation = np.full(len(values), np.nan), np.full(len(values), np.nan)
    for place in range(len(values)):
        rest = values[(layers == layers[place]) & (np.arange(len(values)) != place)]
        rest = rest[~np.isnan(rest)]
        if len(rest):
            mean[place], deviation[place] = rest.mean(), rest.std()
    return mean, deviation


def layer_table(removals: Sequence[Removal], way: str, columns: Mapping[str, Array]) -> pd.DataFrame:
    labels = pd.DataFrame([heads[0][:3] for heads in removals], columns=HEAD[:3]).astype({"layer": "Int64"})
    return labels.assign(heads=[len(heads) for heads in removals], how=way, **columns)


def set_table(removals: Sequence[Removal], way: str, columns: Mapping[str, Array]) -> pd.DataFrame:
    names = [", ".join(head.name for head in heads) for heads in removals]
    return pd.DataFrame({"heads": names, "how": way, **columns})


def curve_table(removals: Sequence[Removal], way: str, by: str, columns: Mapping[str, Array]) -> pd.DataFrame:
    """A row a step: how many heads are gone, the last of them, and what that does."""
    last = pd.DataFrame([heads[-1] for heads in removals], columns=HEAD).astype({"layer": "Int64", "head": "Int64"})
    last.insert(0, "gone", [len(heads) for heads in removals])
    return last.assign(how=way, by=by, **columns)


def chosen(columns: Mapping[str, Array], places: Sequence[int]) -> dict[str, Array]:
    return {name: values[list(places)] for name, values in columns.items()}
