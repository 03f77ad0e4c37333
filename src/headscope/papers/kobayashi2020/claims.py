"""What the text of kobayashi2020 says of BERT, and whether this model shows it: a plain yes or no, and the numbers."""

from __future__ import annotations

from collections.abc import Iterable

from headscope.later import pd, stats
from headscope.papers.kobayashi2020 import facts
from headscope.papers.kobayashi2020.sections import Analysis
from headscope.study.results.result import Claim
from headscope.study.results.workspace import Unsuitable

SMALL = ("first", "separator", "punctuation")  # what the paper finds to be heavy by weight and light by norm


def claims(analysis: Analysis) -> list[Claim]:
    """In the order of the paper."""
    return [*_dispersion(analysis), *_shares(analysis), *_cancelling(analysis), *_frequency(analysis), *_lengths(analysis)]


def _dispersion(analysis: Analysis) -> list[Claim]:
    of_f = float(analysis.table("dispersion")["cv"].mean())
    of_x = float(analysis.table("input_dispersion")["cv"].mean())
    less = verdict(of_x < of_f, f"{of_x:.2f} and {of_f:.2f}", of_x, of_f)
    made = [
        Claim("4.1", "average CV of ‖f(x)‖", "0.22", f"{of_f:.2f}"),
        Claim("B", "the average CV of ‖x‖ is less than that of ‖f(x)‖", "yes: 0.12 and 0.22", less),
    ]
    try:
        ends = analysis.singular.groupby(["layer", "head"])["value"].agg(["max", "min"])
    except Unsuitable:
        return made
    ratios = ends["max"] / ends["min"]
    have = int((ratios >= facts.SINGULAR_RATIO).sum())
    run = verdict(have == len(ratios), f"in {have} of {len(ratios)} heads; {ratios.min():.2g} at least")
    claim = "the largest singular value of f is 1.8 or more times the smallest"
    return [*made, Claim("B", claim, "yes: in 12 of 12 heads", run)]


def _shares(analysis: Analysis) -> list[Claim]:
    """Shares of a layer by weight and by norm: those by weight sum up to 1 without sinks, and are made to."""
    layers, categories = analysis.layers, analysis.categories
    whole = layers[[f"weight_{category.name}" for category in categories]].sum(axis=1)
    made = []
    for category in categories:
        if category.name not in SMALL:
            continue
        by_weight, by_norm = layers[f"weight_{category.name}"] / whole, layers[f"share_norm_{category.name}"]
        less = int((by_norm < by_weight).sum())
        means = f"on average {by_weight.mean():.1%} by weight, {by_norm.mean():.1%} by norm"
        run = verdict(less > len(layers) / 2, f"in {less} of {len(layers)} layers; {means}")
        made.append(Claim("4.2", f"{category.label}: a smaller share by norm than by weight", "yes, generally", run))
    return made


def _cancelling(analysis: Analysis) -> list[Claim]:
    printed, counted = (
        table.set_index("category")["rho"] for table in (facts.TABLE2.frame, analysis.table("norm_correlation"))
    )
    made = []
    for category in analysis.categories:
        if category.own:
            continue
        rho, theirs = float(counted[category.name]), float(printed[category.name])
        claim, shown = "no correlation to speak of", abs(rho) < NO_CORRELATION
        if category.name in SMALL:
            claim, shown = "α and ‖f(x)‖ have a negative correlation", rho < -NO_CORRELATION
        run = verdict(shown, f"{rho:.2f}", rho)
        made.append(Claim("4.2", f"{category.label}: {claim} (rho)", f"yes: {theirs:.2f}", run))
        if category.name == "separator":
            made.append(_over_heads(analysis.heads, category.label))
    return made


NO_CORRELATION = 0.1  # the paper calls 0.06 none


def _over_heads(heads: pd.DataFrame, label: str) -> Claim:
    both = heads[["weight_separator", "value_norm_separator"]].dropna()
    rho = float(stats.spearmanr(both.iloc[:, 0], both.iloc[:, 1]).statistic) if len(both) > 2 else float("nan")
    run = verdict(rho < -NO_CORRELATION, f"Spearman's rho over {len(both)} heads is {rho:.2f}", rho)
    return Claim("4.2", f"{label}: heads with a large α have a small ‖f(x)‖", "yes (figure 4)", run)


def _frequency(analysis: Analysis) -> list[Claim]:
    printed, counted = facts.FREQUENCY.frame.set_index("which"), analysis.counted["frequency"].set_index("which")
    names = {"all": "all tokens", "without_special": "without special tokens, periods and commas"}
    made = []
    for tokens, name in names.items():
        ours, theirs = counted.loc[tokens], printed.loc[tokens]
        weight, norm = float(ours["spearman_rank_weight"]), float(ours["spearman_rank_norm"])
        claim = f"the frequency rank correlates with ‖f(x)‖, and more than with α ({name}; rho)"
        paper = f"yes: {theirs['norm']:.2f} and {theirs['weight']:.2f}"
        shown = norm > max(weight, NO_CORRELATION)
        made.append(Claim("4.3", claim, paper, verdict(shown, f"{norm:.2f} and {weight:.2f}", norm, weight)))
    return made


def _lengths(analysis: Analysis) -> list[Claim]:
    """Short are texts of no more tokens than a head has dimensions: in longer ones a part of α must be without effect."""
    return by_length(analysis.by_length, analysis.head_size)


def by_length(table: pd.DataFrame, size: int) -> list[Claim]:
    """Appendix G of a table by length, for heads of `size` dimensions."""
    short, longest = table[table["length"] <= size], table.iloc[-1]
    made = []
    for name, claim in (("effective", "effective attention is α"), ("norm", "‖αf(x)‖ is not α")):
        r = float(short[f"{name}_mean"].mean())  # of lengths, each counted once
        found = f"{r:.3f}; {longest[f'{name}_mean']:.3f} at {longest['length']:.0f}"
        run = verdict((r > SAME) == (name == "effective"), found, r)
        made.append(Claim("G", f"{claim} in texts of at most {size} tokens (mean r)", "yes (figure 25)", run))
    return made


SAME = 0.99


def verdict(shown: bool, found: str, *measured: float) -> str:
    """Yes or no, and the numbers; neither where a number could not be measured.

    >>> verdict(0.75 > 0, "0.75", 0.75), verdict(float("nan") > 0, "nan", float("nan"))
    ('yes: 0.75', 'could not be measured')
    """
    if any(number != number for number in measured):
        return "could not be measured"
    return f"{'yes' if shown else 'no'}: {found}"


def not_shown(made: Iterable[Claim]) -> list[str]:
    """The claims that this model does not bear out, as sentences for the head of the page."""
    return [f"{claim.claim}: {claim.run} ({_part(claim.section)})" for claim in made if claim.run.startswith("no:")]


def _part(section: str) -> str:
    return f"section {section}" if section[0].isdigit() else f"appendix {section}"
