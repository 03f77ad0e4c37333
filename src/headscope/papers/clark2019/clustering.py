"""Section 6: heads as points that are as far apart as they differ, with layers and behaviours marked (figure 6)."""

from __future__ import annotations

from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from headscope import colours
from headscope.heads.clusters import SameLayer, clusters, embed, nearest_in_layer
from headscope.heads.patterns import NONE
from headscope.heads.roles import ABOVE, ENOUGH
from headscope.papers.clark2019.surface_figures import PATTERN_COLOURS
from headscope.statistics.between_heads.jensen_shannon import distance_matrix
from headscope.statistics.words.relations import ALL, ALL_BUT_PUNCTUATION
from headscope.study.results import figures
from headscope.study.results.result import Claim, Result, paper_label
from headscope.study.results.workspace import own_heads

COREFERENCE = "coreference"
_MARKS = "osD^vP*X"


def behaviours(
    patterns: pd.DataFrame | None, best_heads: pd.DataFrame | None, antecedents: pd.DataFrame | None
) -> pd.DataFrame:
    """layer, head, behaviour: what the other sections have found; the first of several, syntax before surface."""
    found = []
    if best_heads is not None:
        chosen = best_heads[best_heads["better"] & ~best_heads["relation"].isin([ALL, ALL_BUT_PUNCTUATION])]
        clear = chosen["held_out"] >= chosen["baseline_held_out"] + ABOVE
        chosen = chosen[clear & (chosen["cases"] >= ENOUGH)]
        found.append(chosen[["layer", "head"]].assign(behaviour=chosen["relation"]))
    if antecedents is not None:
        heads = own_heads(antecedents)
        best = heads.loc[[heads["all"].idxmax()]]
        found.append(best[["layer", "head"]].assign(behaviour=COREFERENCE))
    if patterns is not None:
        named = patterns[patterns["pattern"] != NONE]
        found.append(named[["layer", "head"]].assign(behaviour=named["pattern"]))
    if not found:
        return pd.DataFrame(columns=["layer", "head", "behaviour"])
    together = pd.concat(found, ignore_index=True).drop_duplicates()
    return together.groupby(["layer", "head"], as_index=False)["behaviour"].agg("; ".join)


def figure6(divergence: pd.DataFrame, found: pd.DataFrame, seed: int) -> tuple[Result, list[Claim]]:
    """Figure 6 out of a `jensen_shannon` table, with hierarchical clusters as the table behind it."""
    labels, matrix = distance_matrix(divergence)
    embedding = embed(matrix, seed)
    count = round(len(matrix) ** 0.5)
    table = clusters(labels, matrix, count).assign(x=embedding.points[:, 0], y=embedding.points[:, 1])
    table = table.merge(found, on=["layer", "head"], how="left").fillna({"behaviour": ""})
    same = nearest_in_layer(labels, matrix)
    result = Result(
        "clark2019_fig6",
        "Figure 6: heads by the Jensen-Shannon distance between them",
        table,
        _shown(table),
        _draw(table),
        [
            "Multidimensional scaling of mean Jensen-Shannon divergences in nats; "
            f"Kruskal's stress is {embedding.stress:.2f} (0 would be exact). Clusters are hierarchical, by average "
            "linkage, as many as the square root of the number of heads.",
            "A relation of at least 100 cases is marked where its best head is 10 points above the best fixed offset, on "
            "held-out halves.",
        ],
    )
    return result, [_claim(same)]


def _claim(same: SameLayer) -> Claim:
    run = f"{100 * same.share:.0f} % of the nearest heads; {100 * same.chance:.0f} % by chance"
    return Claim("6", "heads of the same layer are near each other", "often", run)


def _shown(table: pd.DataFrame) -> pd.DataFrame:
    """One row a cluster."""
    rows = []
    for number, group in table.groupby("cluster"):
        heads = [paper_label(head.layer, head.head) for head in group.itertuples()]
        met = [name for several in group["behaviour"] for name in several.split("; ") if name]
        counted = pd.Series(met, dtype=object).value_counts()
        rows.append(
            {
                "Cluster": number,
                "Heads": " ".join(heads),
                "Silhouette": round(float(group["silhouette"].mean()), 2),
                "Behaviours": ", ".join(f"{name} ({count})" for name, count in counted.items()),
            }
        )
    return pd.DataFrame(rows)


def _draw(table: pd.DataFrame) -> Figure:
    made, axes = figures.figure(1, 2, width=2 * colours.COLUMN, height=3.6)
    by_layer, by_behaviour = axes.flat
    points = by_layer.scatter(table["x"], table["y"], c=table["layer"] + 1, cmap="viridis", s=26, linewidths=0)
    scale = made.colorbar(points, ax=by_layer, location="bottom", shrink=0.6, aspect=30, pad=0.02)
    scale.outline.set_visible(False)
    scale.set_label("Layer", fontsize=7.5)
    scale.ax.tick_params(labelsize=7, length=0)
    by_layer.set_title("Layers", fontsize=8.5, fontweight="bold", loc="left")
    by_behaviour.set_title("Behaviours", fontsize=8.5, fontweight="bold", loc="left")
    _draw_behaviours(by_behaviour, table)
    for panel in (by_layer, by_behaviour):
        panel.set_xticks([])
        panel.set_yticks([])
        panel.set_aspect("equal", adjustable="datalim")
        for spine in panel.spines.values():
            spine.set_visible(False)
    return made


def _draw_behaviours(panel: Any, table: pd.DataFrame) -> None:
    """Patterns by colour, relations and coreference by name beside their heads."""
    first = table["behaviour"].map(
        lambda several: next((name for name in several.split("; ") if name in PATTERN_COLOURS), "")
    )
    knows = table["behaviour"] != ""
    for label, colour, chosen in (
        ("no behaviour found", colours.PALE, ~knows),
        ("named relation", colours.FAINT, knows & (first == "")),
    ):
        panel.scatter(table["x"][chosen], table["y"][chosen], s=18, color=colour, linewidths=0, label=label)
    for name, mark in zip([name for name in PATTERN_COLOURS if name != NONE], _MARKS, strict=False):
        group = table[first == name]
        if len(group):
            panel.scatter(group["x"], group["y"], s=26, color=PATTERN_COLOURS[name], marker=mark, linewidths=0, label=name)
    _name_heads(panel, table)
    figures.legend(panel, loc="upper center", bbox_to_anchor=(0.5, -0.02), ncols=3, markerscale=1.2)


def _name_heads(panel: Any, table: pd.DataFrame) -> None:
    """What a head knows beside its point, at the first of a few places where no other name is in the way."""
    size = 5.5
    panel.figure.draw_without_rendering()  # so that places in points are known
    taken: list[tuple[float, float, float, float]] = []
    for head in table.sort_values("y", ascending=False).itertuples():
        named = [name for name in head.behaviour.split("; ") if name and name not in PATTERN_COLOURS]
        if not named:
            continue
        text = ", ".join(named[:2]) + (f" +{len(named) - 2}" if len(named) > 2 else "")
        across, up = panel.transData.transform((head.x, head.y)) * 72 / panel.figure.dpi
        width = 0.55 * size * len(text)
        for right, above in _PLACES:
            left = across + (4 if right else -4 - width)
            box = (left, up + above, left + width, up + above + size)
            if not any(_overlap(box, other) for other in taken):
                break
        taken.append(box)
        place = {"xytext": (4 if right else -4, above), "ha": "left" if right else "right", "va": "bottom"}
        panel.annotate(text, (head.x, head.y), textcoords="offset points", fontsize=size, color=colours.INK, **place)


_PLACES = [(right, above) for above in (-2, 5, -9, 12, -16, 19, -23) for right in (True, False)]


def _overlap(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
