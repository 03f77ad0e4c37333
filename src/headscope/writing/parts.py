"""Parts: a number that a model computes, as a sum over heads and source tokens, embedding, MLPs and biases."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from headscope.errors import InputError, ModelError
from headscope.later import Tensor, pd, torch
from headscope.lens.head import HEAD, Head, heads_named
from headscope.lens.site import Site
from headscope.measures.projection import toward

if TYPE_CHECKING:
    from headscope.lens.direct import Directions, DirectPass
    from headscope.lens.lens import Lens
    from headscope.lens.reading import Reading

EXACT, EXACT_IN_HALF = 1e-3, 5e-2  # how much of the largest part may be left over before a sum is no sum
PARTS = ("head", "attention", "embedding", "mlp", "other", "bias")


class Beside(NamedTuple):
    """What joined the residual stream beside the heads."""

    of: str  # "embedding" | "attention" (whose heads cannot be told apart) | "mlp" | "other" | "bias"
    stack: str | None
    layer: int | None
    module: str
    amounts: Tensor  # token: at every position that counts, zero elsewhere

    @property
    def part(self) -> float:
        return float(self.amounts.sum())


@dataclass(frozen=True, eq=False)
class Parts:
    """A number and its parts, of one text. The parts of a head are those of the tokens that it looked at."""

    total: float  # the model's own number
    heads: dict[Site, Tensor]  # head key
    beside: list[Beside]
    key_texts: dict[Site, list[str]]
    texts: list[str]  # of the positions

    @property
    def remainder(self) -> float:
        """What the parts leave over: rounding."""
        return self.total - sum(self.sums.values())

    @property
    def sums(self) -> dict[str, float]:
        """By kind of part, what all of that kind bring; those that the model has."""
        found = {"head": sum(float(parts.double().sum()) for parts in self.heads.values())}
        for one in self.beside:
            found[one.of] = found.get(one.of, 0.0) + one.part
        return {of: found[of] for of in PARTS if of in found}

    def table(self) -> pd.DataFrame:
        """Every part in a row of its own, in the model's order: `of` (head, embedding, mlp, ...), its place, `part`."""
        rows: list[tuple[object, ...]] = [
            ("head", *head, site.module, float(parts.double().sum())) for site, head, parts in self._each_head()
        ]
        rows += [(one.of, one.stack, None, one.layer, None, one.module, one.part) for one in self.beside]
        table = pd.DataFrame(rows, columns=["of", *HEAD, "module", "part"])
        return table.astype({"layer": "Int64", "head": "Int64", "part": "float64"})

    def by_head(self) -> pd.DataFrame:
        """One row a head, the largest part (of either sign) first: its part, and the token that brings most of it."""
        rows = []
        for site, head, parts in self._each_head():
            key = int(parts.abs().argmax())
            rows.append((*head, float(parts.double().sum()), key, self.key_texts[site][key], float(parts[key])))
        table = pd.DataFrame(rows, columns=[*HEAD, "part", "key", "key_token", "of_token"])
        order = table["part"].abs().sort_values(ascending=False, kind="stable").index
        return table.loc[order].reset_index(drop=True)

    def by_token(self, head: str | Head | None = None) -> pd.DataFrame:
        """One row a token, in the order of the text: its part through one head, or through all.

        Without a head, a token's own embedding, MLPs and biases are in a column of their own, `itself`; tokens of the
        source of an encoder-decoder come before those of its target.
        """
        if head is not None:
            named = self.head(head)
            site = next(s for s in self.heads if (s.stack, s.kind, s.layer) == named[:3])
            return pd.DataFrame({"token": self.key_texts[site], "part": self.heads[site][named.head].tolist()})
        sides: dict[bool, Tensor] = {}
        for site, parts in self.heads.items():
            crosses = site.kind == "cross"
            sides[crosses] = sides.get(crosses, 0) + parts.sum(0)
        own = sum((one.amounts for one in self.beside), torch.zeros(len(self.texts)))
        frames = []
        if True in sides:
            texts = next(self.key_texts[site] for site in self.heads if site.kind == "cross")
            frames.append(pd.DataFrame({"side": "source", "token": texts, "heads": sides[True].tolist(), "itself": 0.0}))
        through = sides.get(False, torch.zeros(len(self.texts)))
        side = "target" if frames else "text"
        frames.append(pd.DataFrame({"side": side, "token": self.texts, "heads": through.tolist(), "itself": own.tolist()}))
        return pd.concat(frames, ignore_index=True)

    def head(self, named: str | Head | None = None) -> Head:
        """The head that people name, or the one with the largest part."""
        if named is None:
            return Head.of(self.by_head().iloc[0].to_dict())
        (head,) = heads_named([named], list(self.heads))
        return head

    def _each_head(self) -> Iterator[tuple[Site, Head, Tensor]]:
        for site, found in self.heads.items():
            for head, parts in enumerate(found):
                yield site, Head(site.stack, site.kind, site.layer, head), parts


def parts_along(reading: Reading, directions: Directions, total: float, rows: slice, run: DirectPass) -> Parts:
    """A number's parts, from the directions of a direct pass; rows outside `rows` do not count.

    A model in which they do not add up is refused: nothing is shown that is not what it says.
    """
    lens = reading.lens
    missing = [site.layer for site in directions.by_site if site not in reading.blocks]
    if missing:
        raise InputError(f"This reading has no layer {missing[0]}: read the text without layers=, to have all parts.")
    heads, texts = {}, {}
    for site, block in reading.blocks.items():
        if site in directions.by_site:
            of_rows = toward(block, directions.by_site[site])[0, :, rows]
            heads[site] = of_rows.sum(1).detach().cpu()
            texts[site] = reading.batch.key_sequences(site)[0].readable()
    beside = [
        Beside(p.kind, p.stack, p.layer, p.module, _only(p.amounts[0].detach().cpu(), rows)) for p in directions.others
    ]
    parts = Parts(total, heads, beside, texts, reading.batch.query_sequences(lens.sites[-1])[0].readable())
    if not abs(parts.remainder) <= _allowed(parts, lens):
        unknown = f" (a norm that is none of the usual ones: {run.unknown[0]})" if run.unknown else ""
        raise ModelError(
            f"{lens.name} ({type(lens.model).__name__}): the parts along its residual stream leave {parts.remainder:.3g} of "
            f"{parts.total:.3g} over, so something on their way is not a sum{unknown}, and nothing can be said of its parts."
        )
    return parts


def _allowed(parts: Parts, lens: Lens) -> float:
    """What may be left over: rounding, of the largest part."""
    sizes = [abs(parts.total), *(float(found.sum(1).abs().max()) for found in parts.heads.values())]
    largest = max([*sizes, *(abs(one.part) for one in parts.beside)])
    return largest * (EXACT_IN_HALF if lens.model.dtype in (torch.float16, torch.bfloat16) else EXACT)


def _only(amounts: Tensor, rows: slice) -> Tensor:
    kept = torch.zeros_like(amounts)
    kept[rows] = amounts[rows]
    return kept
