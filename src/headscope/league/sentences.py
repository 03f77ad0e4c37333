"""What the league found, in sentences: of this model and these texts, and of nothing else."""

from __future__ import annotations

from headscope.later import pd
from headscope.league.numbers import NUMBERS

EFFECTS = {
    "kl": "how far predictions move without a head (KL)",
    "loss": "the change of the loss without a head",
    "states": "how far final states turn without a head (1 − cos)",
    "pooled": "how far the means of texts turn without a head (1 − cos)",
}
NORMS = ("collected", "output", "relative", "centred_relative", "value_norm")
LITTLE = 0.05  # of rho: what is nearer to zero is called neither for nor against
WEIGHTS = ("entropy", "first_token", "maximum")


def findings(
    model: str, texts: int, way: str, effect: str, table: pd.DataFrame, reliable: pd.DataFrame, orders: pd.DataFrame | None
) -> list[str]:
    """A few sentences, careful ones: who ranks heads best, how far norms and weights come, and what may be expected."""
    some = table[(table["scope"] == "all") & (table["how"] == way) & (table["effect"] == effect)].dropna(subset=["rho"])
    if not len(some):
        return [f"In {model} and these {texts:,} texts no number of the heads differs from head to head."]
    by_name = some.set_index("number")
    best = some.loc[some["rho"].idxmax()]
    inside = some.dropna(subset=["within"])
    said = [
        f"In {model} and these {texts:,} texts, with {_place(way)}, {EFFECTS[effect]} goes most with "
        f"{_title(best['number'])}: ρ = {_interval(best, 'rho')} over all heads."
    ]
    if len(inside):
        closest = inside.loc[inside["within"].idxmax()]
        said.append(f"Within layers it goes most with {_title(closest['number'])}: ρ = {_interval(closest, 'within')}.")
    norm, weight = (_strongest(by_name, names) for names in (NORMS, WEIGHTS))
    if norm is not None and weight is not None:
        more, less = (norm, weight) if abs(norm[1]) >= abs(weight[1]) else (weight, norm)
        loses = "Norms say more than weights here" if more is norm else "Norms say less than weights here"
        said.append(f"{loses}: {_title(more[0])} has ρ = {more[1]:+.2f}, {_title(less[0])} {less[1]:+.2f}.")
    against = [name for name in by_name.index if name != "gradient" and _is_against(by_name.loc[name], NUMBERS[name].idle)]
    if against:
        said.append(
            f"Against what is said of them, heads that should be idle by {_listed(against)} are those whose absence changes "
            "more."
        )
    ceiling = reliable[(reliable["scope"] == "all") & (reliable["how"] == way) & (reliable["effect"] == effect)]
    if len(ceiling):
        row = ceiling.iloc[0]
        said.append(
            f"Halves of the texts rank heads alike with ρ = {row['halves']:.2f}; all texts are reliable to "
            f"{row['reliability']:.2f}, so that a number without errors of its own should reach {row['ceiling']:.2f}."
        )
    if orders is not None and len(orders):
        said.append(_of_orders(orders))
    return said


def _of_orders(orders: pd.DataFrame) -> str:
    known = orders[~orders["order"].str.startswith(("effect", "random"))]
    first = known.loc[known["within"].idxmax()]
    what = "nats a token" if first["effect"] == "loss" else "of 1 − cos"
    chance = orders[orders["order"] == "random"]
    lot = f", {chance['within'].iloc[0]:.0%} by lot" if len(chance) else ""
    return (
        f"Up to {first['bearable']:g} {what} are lost when {first['within']:.0%} of the heads go by "
        f"{_title(first['order'])}, the most of all numbers{lot}."
    )


def _place(way: str) -> str:
    return {"mean": "its mean in a head's place", "zero": "zero in a head's place"}.get(
        way, "another text's in a head's place"
    )


def _title(number: str) -> str:
    return f"{NUMBERS[number].title} ({number})"


def _listed(names: list[str]) -> str:
    return ", ".join(names[:-1]) + (" and " if names[:-1] else "") + names[-1]


def _interval(row: pd.Series, name: str) -> str:
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    return f"{row[name]:+.2f}" + ("" if low != low else f" ({low:+.2f} to {high:+.2f})")


def _strongest(by_name: pd.DataFrame, names: tuple[str, ...]) -> tuple[str, float] | None:
    there = {name: float(by_name.loc[name, "rho"]) for name in names if name in by_name.index}
    return max(there.items(), key=lambda item: abs(item[1])) if there else None


def _is_against(row: pd.Series, idle: str) -> bool:
    """Whether the whole interval is on the other side of zero, and not only just."""
    return bool(row["rho_high"] < -LITTLE) if idle == "low" else bool(row["rho_low"] > LITTLE)
