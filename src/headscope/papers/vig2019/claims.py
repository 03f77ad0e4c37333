"""The numbers in the text of vig2019, and this run's."""

from __future__ import annotations

from headscope.later import pd
from headscope.lens.head import Head
from headscope.papers.vig2019 import facts
from headscope.papers.vig2019.sections import Analysis
from headscope.papers.vig2019.tables import by_layer, correlations, targeted
from headscope.study.results.result import Claim

ALMOST_ALL = 0.97  # the paper's bar for heads that look at little but the first token


def claims(analysis: Analysis) -> list[Claim]:
    """In the order of the paper; each says of which corpus and, where it is not the weight, by which measure."""
    heads, tags = analysis.heads, targeted(analysis.tags, "tag")
    found = [*_null(heads), *_tags(tags), *_alignment(heads), *_distance(heads), *_lengths(analysis.lengths)]
    measure = "" if analysis.measure == "weight" else f", by {analysis.measure}"
    return [claim._replace(claim=f"{claim.claim} ({analysis.corpus_name}{measure})") for claim in found]


def _null(heads: pd.DataFrame) -> list[Claim]:
    null = heads["first_token"]
    over, most = int((null > ALMOST_ALL).sum()), Head.of(heads.loc[null.idxmax()]).label
    found = f"{100 * null.mean():.0f} % on average; {over} heads over 97 %; most {100 * null.max():.0f} % ({most})"
    return [Claim("5.2.3", "attention to the first token", facts.NULL_ATTENTION, found)]


def _tags(of_tags: pd.DataFrame) -> list[Claim]:
    count = of_tags["tag"].nunique()
    over = of_tags[of_tags["over_double"] > 0].groupby("side").size()
    made = []
    for nouns in of_tags[(of_tags["tag"] == "NOUN") & (of_tags["side"] == "to")].to_dict("records"):
        found = f"{100 * nouns['best']:.0f} % in {nouns['best_head']}; mean {100 * nouns['mean']:.0f} %"
        made.append(Claim("5.3.1", "most attention to nouns, and the mean", facts.NOUNS, found))
    for side, paper in (("to", facts.TAGS_TO), ("from", facts.TAGS_FROM)):
        found = f"{over.get(side, 0)} of {count}"
        made.append(Claim("5.3.1", f"tags that some head attends {side} over twice the mean", paper, found))
    return made


def _alignment(heads: pd.DataFrame) -> list[Claim]:
    layers = by_layer(heads, ["either"]).sort_values("either", ascending=False)["layer"].head(3)
    best, least = heads.loc[heads["either"].idxmax()], heads.loc[heads["variability"].idxmin()]
    return [
        Claim("5.3.2", "layers that align most", facts.ALIGNMENT_PEAK, " ".join(map(str, layers))),
        Claim("5.3.2", "head that aligns most", facts.ALIGNMENT_BEST, f"{best['either']:.2f} ({Head.of(best).label})"),
        Claim("5.3.2", "least variability", facts.LEAST_VARIABILITY, f"{least['variability']:.3f} ({Head.of(least).label})"),
    ]


def _distance(heads: pd.DataFrame) -> list[Claim]:
    longest = heads.loc[heads["distance"].idxmax()]
    found = correlations(heads).set_index(["one", "other"])
    with_alignment = _r(found, "distance", "dependency alignment")
    return [
        Claim("5.3.3", "deviation of distances", facts.DISTANCE_DEVIATION, f"{heads['distance'].std(ddof=0):.1f}"),
        Claim("5.3.3", "longest distance", facts.DISTANCE_LONGEST, f"{longest['distance']:.1f} ({Head.of(longest).label})"),
        Claim("5.3.3", "distance and entropy", facts.DISTANCE_ENTROPY, _r(found, "distance", "entropy")),
        Claim("5.3.3", "distance and dependency alignment", facts.DISTANCE_ALIGNMENT, with_alignment),
    ]


def _lengths(lengths: pd.DataFrame) -> list[Claim]:
    probability = lengths.set_index("distance")["probability"]
    found = ", ".join(f"{probability[distance]:.2f} at {distance}" for distance in (1, 5, 10))
    return [
        Claim("5.3.3", "probability of a dependency by distance", facts.PROBABILITY, found),
        Claim("5.3.3", "mean length of a dependency", facts.MEAN_LENGTH, f"{lengths['mean_length'].iloc[0]:.2f}"),
    ]


def _r(found: pd.DataFrame, one: str, other: str) -> str:
    row = found.loc[(one, other)]
    p = "p < 0.001" if row["p"] < 0.001 else f"p = {row['p']:.3f}"
    return f"r = {row['r']:.2f}, {p}"
