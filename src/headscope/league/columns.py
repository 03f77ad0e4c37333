"""What the columns of the league's tables are, for people who meet them for the first time."""

from __future__ import annotations

from headscope.ablation.tables import COLUMNS as ABLATION
from headscope.ablation.tables import PER
from headscope.league.numbers import BY_WAY, NUMBERS
from headscope.statistics.columns import COUNT, RATIO, SHARE, Column, declare

# A number that a study counts stands on cards by its own name there.
OF_CARDS = (*BY_WAY, "stretch", "copying")


def _correlation(title: str, says: str) -> Column:
    return Column(title, RATIO, says, "ranks heads more as their effects do", of_heads=False)


def _number(name: str) -> Column:
    title, idle = NUMBERS[name].title, NUMBERS[name].idle
    end = "small" if idle == "low" else "large"
    says = f"{title[0].upper()}{title[1:]}. Heads of which it is {end} should be idle, as is said of it."
    more = "should be needed more" if idle == "low" else "should be needed less"
    return Column(f"{title[0].upper()}{title[1:]}", RATIO, says, more, of_heads=name in OF_CARDS)


STANDINGS = {
    "rho": _correlation("ρ over all heads", "Spearman's ρ of the number with the effect, over all heads."),
    "within": _correlation("ρ within layers", "The mean of ρ in each layer that has at least three heads."),
    "partial": _correlation("ρ given the layer", "That of the ranks over all heads, each less the mean rank of its layer."),
    "other_texts": _correlation("ρ with other texts", "The number of one half of the texts with the effect of the other."),
    "halves": _correlation("ρ between halves", "How alike two halves of the texts rank heads, over a hundred splits."),
    "reliability": _correlation("Reliability", "What the halves say of all texts, by Spearman and Brown's formula."),
    "ceiling": _correlation("Ceiling", "What a number without any error of its own is expected to reach."),
}
IDLE = {
    "idle_by": Column("Called idle by", COUNT, "How many numbers have it among their idle fifth.", "", of_heads=False),
    "numbers": Column("Of so many numbers", COUNT, "How many numbers all heads have.", "", of_heads=False),
    "rank_from_below": Column("Place from the least effect", COUNT, "1: least happens without it.", "", of_heads=False),
    "idle_by_effect": Column("Idle by effect", COUNT, "Whether its effect is in the least fifth.", "", of_heads=False),
    **{name: ABLATION[name] for name in PER},
}
ORDERS = {
    "area": Column("Area under the curve", RATIO, "The mean loss over all shares of heads.", "loses more", of_heads=False),
    "against_random": Column(
        "Area against random orders", RATIO, "Below 1: less is lost than by lot.", "loses more", of_heads=False
    ),
    "within": Column(
        "Share that can go", SHARE, "Up to this share, less is lost than is bearable.", "lets more go", of_heads=False
    ),
    "bearable": Column("Bearable", RATIO, "The loss up to which heads may go.", "", of_heads=False),
}
HEADS = {name: ABLATION[name] for name in PER} | {name: _number(name) for name in NUMBERS}

NUMBERS_TABLE, EFFECTS_TABLE = "league_numbers", "league_effects"  # of one row a head, as reports look at them
declare("league", STANDINGS)
declare("league_orders", ORDERS)
declare("league_idle", IDLE)
for table in ("league_heads", NUMBERS_TABLE, EFFECTS_TABLE):
    declare(table, HEADS, card_place=20)
