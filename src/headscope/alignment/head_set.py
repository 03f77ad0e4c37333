"""Which heads the links are taken from together, without gold links: those that agree with themselves and each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from headscope.alignment.aligner import row_shares
from headscope.alignment.word_maps import Place, read_word_maps
from headscope.errors import InputError
from headscope.later import Tensor, pd, torch
from headscope.lens.lens import Lens
from headscope.lens.tokens.batch import Batch
from headscope.statistics.alignment.sides import SETTINGS, Sides
from headscope.statistics.alignment.two_ways import link_shares, mutual_links

MOST = 6  # heads: on the Hansards pairs four to eight are within half a point of AER
LEAST_SCORE = 0.75  # of the best one's: a model with two good heads has no use for four bad ones
SAME_LINKS = 0.5  # heads that share less than this part of their links with the best one look elsewhere
LITTLE = 0.4  # a best score below it is told of: links are right at 0.61 (opus-mt-fr-en, AER 4), wrong at 0.28 (SmolLM2, 58)
CLOSE = 0.9  # of the best one's score: who comes so near and looks elsewhere could be the right one
ADVICE = "Look at a few links, or choose by --by aer with gold links."


@dataclass(frozen=True)
class Reader:
    """A head, and the rows in which it is read."""

    layer: int
    head: int
    setting: str  # AWI or AWO

    @property
    def label(self) -> str:
        return f"{self.layer}.{self.head} {self.setting}"


@dataclass(frozen=True)
class HeadSet:
    """Heads whose scores are summed, each row made to sum to 1 first so that none outweighs the others."""

    readers: tuple[Reader, ...]
    measure: str = "norm"  # weight or norm
    why: str = "named"
    warning: str = ""
    balanced: bool = False  # columns are made to sum to 1 as well, so that a word that all look at does not win

    @property
    def label(self) -> str:
        """
        >>> HeadSet((Reader(1, 7, "AWI"), Reader(5, 0, "AWO"))).label
        'heads 1.7 AWI, 5.0 AWO by norm, both ways'
        """
        names = ", ".join(reader.label for reader in self.readers)
        return f"head{'s' if len(self.readers) > 1 else ''} {names} by {self.measure}, both ways"

    @property
    def places(self) -> list[tuple[int, int | None]]:
        return [(reader.layer, reader.head) for reader in self.readers]

    def word_scores(self, lens: Lens, batch: Batch) -> Tensor:
        """(batch, target word, column): every row of a head made to sum to 1, summed over heads."""
        found: list[Tensor] = []

        def receive(_: Place, merged: Tensor) -> None:
            rows = row_shares(merged)
            if self.balanced:
                rows = row_shares(row_shares(rows.transpose(-1, -2)).transpose(-1, -2))
            found.append(rows.sum(1))

        read_word_maps(lens, batch, self.measure, by_place(self.readers), receive)
        return torch.stack(found).sum(0)

    def links(self, scores: Tensor, sides: Sides) -> Tensor:
        """Words that are each other's best, or that give each other most of what they have."""
        return mutual_links(scores, sides.spoken, sides.there)

    def strengths(self, scores: Tensor, sides: Sides) -> Tensor:
        return link_shares(scores, sides.source_count)

    def shares(self, scores: Tensor) -> Tensor:
        return row_shares(scores)


def by_place(readers: Sequence[Reader]) -> dict[Place, list[int]]:
    """The heads of each layer and setting, as they are read: of a layer first AWI's, then AWO's."""
    places = sorted({(one.layer, SETTINGS.index(one.setting)) for one in readers})
    return {
        (layer, SETTINGS[setting]): [one.head for one in readers if (one.layer, one.setting) == (layer, SETTINGS[setting])]
        for layer, setting in places
    }


def by_agreement(table: pd.DataFrame, *, measure: str = "norm", setting: str | None = None, most: int = MOST) -> HeadSet:
    """The heads that agree most: a table of HeadAgreement (layer, head, setting, score, with_first) -> at most `most`.

    A head is taken once, in the setting in which it agrees more, unless a `setting` is given.
    """
    ranked = table.sort_values("score", ascending=False, kind="stable")
    first = ranked.iloc[0]
    if not first["score"] > 0:
        raise InputError("No head finds a link that it finds the other way round too: name one with --layer and --head.")
    asked = ranked if setting is None else ranked[ranked["setting"] == setting]
    good = asked[(asked["score"] >= LEAST_SCORE * asked["score"].max()) & (asked["with_first"] >= SAME_LINKS)]
    if good.empty:  # the best one has the other setting
        good = asked.head(1)
    chosen = good.drop_duplicates(["layer", "head"]).head(most)
    readers = tuple(Reader(int(row["layer"]), int(row["head"]), str(row["setting"])) for row in chosen.to_dict("records"))
    several = len(readers) > 1
    why = f"{'their' if several else 'its'} links agree most, read from either side and with those of other heads"
    why += f" (score {chosen['score'].max():.2f} to {chosen['score'].min():.2f})" if several else ""
    warnings = [one for one in (_little(first["score"]), _rivals(ranked)) if one]
    return HeadSet(readers, measure, why, " ".join([*warnings, ADVICE]) if warnings else "")


def _little(best: float) -> str:
    """A sentence where no head agrees with the others as heads do that align words."""
    if best >= LITTLE:
        return ""
    return f"No head agrees much with others (the best has {best:.2f} of 1, heads that align words 0.6): links may be wrong."


def _rivals(ranked: pd.DataFrame) -> str:
    """A sentence where the first choices are close to each other and find other links; nothing where all is well."""
    first = ranked.iloc[0]
    near = ranked[(ranked["score"] >= CLOSE * first["score"]) & (ranked["with_first"] < SAME_LINKS)]
    if near.empty:
        return ""
    best, *others = (
        f"{row['layer']}.{row['head']} {row['setting']} ({row['score']:.2f})"
        for row in [first, *near.head(3).to_dict("records")]
    )
    verbs = ("agrees", "finds") if len(others) == 1 else ("agree", "find")
    return (
        f"The choice of heads is not certain: {', '.join(others)} {verbs[0]} nearly as much as {best}, and {verbs[1]} "
        "other links."
    )
