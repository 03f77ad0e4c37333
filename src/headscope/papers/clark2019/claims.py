"""The numbers in the text of clark2019, and this run's."""

from __future__ import annotations

from headscope.heads.clusters import nearest_in_layer
from headscope.heads.patterns import HALF
from headscope.heads.relations import best_relation_heads
from headscope.later import pd
from headscope.papers.clark2019.surface import EdgeTokens, end_of
from headscope.statistics.between_heads.jensen_shannon import distance_matrix
from headscope.statistics.words.relations import ALL
from headscope.study.results.result import Claim, in_percent, paper_label


def of_surface(shares: pd.DataFrame, tokens: EdgeTokens) -> list[Claim]:
    """Section 3, out of the shares of all heads."""
    layers = shares.groupby("layer")
    separators = layers["separator"].mean()
    most = separators[separators > HALF].index + 1
    to_itself = layers["from_separator"].mean()
    end = end_of(shares)
    by_layer = layers[f"{end}_token_entropy"].mean()
    highest = _highest(layers["entropy"].mean())
    given = "no separators" if to_itself.isna().all() else _highest(to_itself)
    own_rows = "most that the separators' own rows give to separators, mean of a layer (layer)"
    of_end = f"entropy of {tokens.first if end == 'first' else 'the last token'} in the last layer, in nats"
    previous, following = _over(shares, "previous token"), _over(shares, "next token")
    return [
        Claim("3.1", "heads with over half on the previous token (their layers)", "4 (2 4 7 8)", previous),
        Claim("3.1", "heads with over half on the next token (their layers)", "5 (1 2 2 3 6)", following),
        Claim("3.1", "mean share on the current token", "little", f"{shares['current token'].mean():.3f}"),
        Claim("3.2", f"layers with over half on {tokens.separator or 'separators'}", "6 to 10", _list(most) or "none"),
        Claim("3.2", own_rows, "over 0.90 (6 to 10)", given),
        Claim("3.3", of_end, "3.89", f"{by_layer.iloc[-1]:.2f}"),
        Claim("3.3", "highest mean entropy of a layer, in nats (layer)", "the first layer", highest),
    ]


def of_syntax(relations: pd.DataFrame) -> list[Claim]:
    """Section 4.2, on all relations together."""
    best = best_relation_heads(relations, either_direction=True).set_index("relation").loc[ALL]
    head = paper_label(best["layer"], best["head"])
    run = f"{in_percent(best['accuracy'])} ({head}), {in_percent(best['baseline'])} ({best['offset']:+d})"
    return [Claim("4.2", "best head for all relations together, best fixed offset; percent", "34.5 (7-6), 26.3 (+1)", run)]


def of_clusters(divergence: pd.DataFrame) -> list[Claim]:
    """Section 6, out of a `jensen_shannon` table."""
    same = nearest_in_layer(*distance_matrix(divergence))
    run = f"{100 * same.share:.0f} % of the nearest heads; {100 * same.chance:.0f} % by chance"
    return [Claim("6", "heads of the same layer are near each other", "often", run)]


def _over(shares: pd.DataFrame, column: str) -> str:
    found = shares[shares[column] > HALF]
    return f"{len(found)} ({_list(found['layer'] + 1)})" if len(found) else "0"


def _list(numbers: pd.Index | pd.Series) -> str:
    return " ".join(str(number) for number in numbers)


def _highest(by_layer: pd.Series) -> str:
    return f"{by_layer.max():.2f} ({by_layer.idxmax() + 1})"
