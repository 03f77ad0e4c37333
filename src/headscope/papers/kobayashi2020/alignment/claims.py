"""What section 5 and its appendices say of translation models, and whether these models show it."""

from __future__ import annotations

from headscope.later import pd
from headscope.papers.kobayashi2020 import facts
from headscope.papers.kobayashi2020.alignment import tables
from headscope.papers.kobayashi2020.alignment.sections import Alignments
from headscope.papers.kobayashi2020.claims import verdict
from headscope.study.results.result import Claim, in_percent


def claims(alignments: Alignments) -> list[Claim]:
    """In the order of the paper; error rates are means over the models."""
    return [
        *_norms_are_better(alignments),
        _input_is_better(alignments),
        *_highest_norm(alignments),
        *_correlations(alignments),
        *_early_and_late(alignments),
    ]


def _norms_are_better(alignments: Alignments) -> list[Claim]:
    made = []
    for setting in tables.SETTINGS:
        by_layer = _by_layer(alignments, setting)
        better = int((by_layer["norm"] < by_layer["weight"]).sum())
        ours = [_mean(alignments, setting, measure, tables.LAYER_MEAN) for measure in ("norm", "weight")]
        theirs = [_printed(setting, measure, tables.LAYER_MEAN) for measure in ("norm", "weight")]
        found = f"in {better} of {len(by_layer)} layers; {in_percent(ours[0])} and {in_percent(ours[1])} on average"
        claim = f"{setting}: a lower AER by norm than by weight"
        run = verdict(better > len(by_layer) / 2 and ours[0] < ours[1], found, *ours)
        made.append(Claim("5.2", claim, f"yes: {theirs[0]:.1f} and {theirs[1]:.1f} on average", run))
    return made


def _input_is_better(alignments: Alignments) -> Claim:
    ours = [_mean(alignments, setting, "norm", tables.BEST_LAYER) for setting in ("AWI", "AWO")]
    theirs = [_printed(setting, "norm", tables.BEST_LAYER) for setting in ("AWI", "AWO")]
    run = verdict(ours[0] < ours[1], f"{in_percent(ours[0])} and {in_percent(ours[1])}", *ours)
    claim = "a lower AER in AWI than in AWO (the best layer by norm)"
    return Claim("5.2", claim, f"yes: {theirs[0]:.1f} and {theirs[1]:.1f}", run)


def _highest_norm(alignments: Alignments) -> list[Claim]:
    best, highest = (alignments.way("AWI", "norm", which) for which in (tables.BEST_LAYER, tables.HIGHEST[False]))
    same = int((best["layer"].to_numpy() == highest["layer"].to_numpy()).sum())
    ours = [float(ways["aer"].astype(float).mean()) for ways in (highest, best)]
    if len(best) > 1:
        found = f"in {same} of {len(best)} models; {in_percent(ours[0])} and {in_percent(ours[1])}"
    else:
        layers = [int(ways["layer"].iloc[0]) + 1 for ways in (highest, best)]
        found = f"{in_percent(ours[0])} (layer {layers[0]}) and {in_percent(ours[1])} (layer {layers[1]})"
    claim = "AWI: the layer with the highest average norm is the one with the lowest AER"
    made = [Claim("5.2", claim, "yes: 25.0 and 25.0", verdict(2 * same > len(best), found, *ours))]
    others = [one.others for one in alignments.aligners if len(one.others)]
    gradient = pd.concat(others).query("system == 'SmoothGrad'") if others else pd.DataFrame()
    if len(gradient):
        aer = float(gradient["aer"].mean())
        claim = "AWI: the layer with the highest average norm has a lower AER than gradients"
        run = verdict(ours[0] < aer, f"{in_percent(ours[0])} and {in_percent(aer)}", ours[0], aer)
        made.append(Claim("5.2", claim, f"yes: 25.0 and {facts.OTHER_ALIGNERS['SmoothGrad']}", run))
    return made


def _correlations(alignments: Alignments) -> list[Claim]:
    made = []
    printed, counted = (table.set_index("setting") for table in (facts.NORM_AND_AER.frame, alignments.correlations))
    for setting, sign, word in (("AWI", -1, "negative"), ("AWO", 1, "positive")):
        rho, r = (float(counted.loc[setting, name]) for name in ("spearman", "pearson"))
        theirs = f"rho {printed.loc[setting, 'spearman_4']:.2f}, r {printed.loc[setting, 'pearson_4']:.2f}"
        run = verdict(sign * rho > 0 and sign * r > 0, f"rho {rho:.2f}, r {r:.2f}", rho, r)
        made.append(Claim("5.3", f"{setting}: heads' average norm and AER have a {word} correlation", f"yes: {theirs}", run))
    return made


def _early_and_late(alignments: Alignments) -> list[Claim]:
    """The mean of the first half of the layers against that of the rest; one in the middle is in neither."""
    made = []
    for setting, early in (("AWO", False), ("AWI", True)):
        by_norm = _by_layer(alignments, setting)["norm"]
        half = len(by_norm) // 2
        if half == 0:
            return []
        first, last = float(by_norm.iloc[:half].mean()), float(by_norm.iloc[-half:].mean())
        claim = f"{setting}: {'earlier' if early else 'later'} layers have the lower AER (by norm)"
        found = f"{in_percent(first)} in the first {half} layers, {in_percent(last)} in the last"
        made.append(Claim("E.3", claim, "yes (figure 16)", verdict((first < last) == early, found, first, last)))
    return made


def _by_layer(alignments: Alignments, setting: str) -> pd.DataFrame:
    """Columns weight and norm, a row a layer."""
    table = alignments.layers[alignments.layers["setting"] == setting]
    return table.pivot_table(index="layer", columns="measure", values="aer", aggfunc="mean")


def _mean(alignments: Alignments, setting: str, measure: str, which: str) -> float:
    return float(alignments.way(setting, measure, which)["aer"].astype(float).mean())


def _printed(setting: str, measure: str, which: str) -> float:
    table = facts.ALIGNMENT.frame.set_index(["setting", "measure", "which"])
    return float(table.loc[(setting, measure, which), "aer_4"])
