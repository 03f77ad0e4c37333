"""Section 6: heads as points that are as far apart as they differ, with layers and behaviours marked (figure 6)."""

from __future__ import annotations

from headscope.heads.clusters import clusters, embed
from headscope.heads.patterns import NONE
from headscope.heads.relations import ENOUGH
from headscope.heads.roles import ABOVE
from headscope.later import pd
from headscope.papers.clark2019 import drawings
from headscope.statistics.between_heads.jensen_shannon import distance_matrix
from headscope.statistics.words.relations import ALL, ALL_BUT_PUNCTUATION
from headscope.study.results.result import Result, paper_label
from headscope.study.tables import main_stack

COREFERENCE = "coreference"


def behaviours(patterns: pd.DataFrame, best_heads: pd.DataFrame | None, antecedents: pd.DataFrame | None) -> pd.DataFrame:
    """layer, head, behaviour: what the other sections have found; the first of several, syntax before surface."""
    found = []
    if best_heads is not None:
        chosen = best_heads[best_heads["better"] & ~best_heads["relation"].isin([ALL, ALL_BUT_PUNCTUATION])]
        clear = chosen["held_out"] >= chosen["baseline_held_out"] + ABOVE
        chosen = chosen[clear & (chosen["cases"] >= ENOUGH)]
        found.append(chosen[["layer", "head"]].assign(behaviour=chosen["relation"]))
    if antecedents is not None:
        heads = main_stack(antecedents)
        best = heads.loc[[heads["all"].idxmax()]]
        found.append(best[["layer", "head"]].assign(behaviour=COREFERENCE))
    named = patterns[patterns["pattern"] != NONE]
    found.append(named[["layer", "head"]].assign(behaviour=named["pattern"]))
    together = pd.concat(found, ignore_index=True).drop_duplicates()
    return together.groupby(["layer", "head"], as_index=False)["behaviour"].agg("; ".join)


def figure6(divergence: pd.DataFrame, found: pd.DataFrame, seed: int) -> Result:
    """Figure 6 out of a `jensen_shannon` table, with hierarchical clusters as the table behind it."""
    labels, matrix = distance_matrix(divergence)
    embedding = embed(matrix, seed)
    count = round(len(matrix) ** 0.5)
    table = clusters(labels, matrix, count).assign(x=embedding.points[:, 0], y=embedding.points[:, 1])
    table = table.merge(found, on=["layer", "head"], how="left").fillna({"behaviour": ""})
    notes = [
        f"Multidimensional scaling of mean Jensen-Shannon divergences in nats; Kruskal's stress is {embedding.stress:.2f} "
        "(0 would be exact). Clusters are hierarchical, by average linkage, as many as the square root of the number of "
        "heads.",
        "A relation of at least 100 cases is marked where its best head is 10 points above the best fixed offset, on "
        "held-out halves.",
    ]
    title = "Figure 6: heads by the Jensen-Shannon distance between them"
    return Result("clark2019_fig6", title, table, _shown(table), drawings.heads_as_points(table), notes)


def _shown(table: pd.DataFrame) -> pd.DataFrame:
    """One row a cluster."""
    rows = []
    for number, group in table.groupby("cluster"):
        heads = [paper_label(head.layer, head.head) for head in group.itertuples()]
        met = [name for several in group["behaviour"] for name in several.split("; ") if name]
        counted = pd.Series(met, dtype=object).value_counts()
        silhouette = round(float(group["silhouette"].mean()), 2)
        named = ", ".join(f"{name} ({count})" for name, count in counted.items())
        rows.append({"Cluster": number, "Heads": " ".join(heads), "Silhouette": silhouette, "Behaviours": named})
    return pd.DataFrame(rows)
