"""Heads with weights from a regression on a few gold links, and the file that keeps them."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from headscope.alignment.head_set import Reader, by_place
from headscope.alignment.word_maps import read_word_maps
from headscope.errors import InputError
from headscope.files import write_text
from headscope.later import Tensor, nn, pd, torch
from headscope.lens.lens import Lens
from headscope.lens.tokens.batch import Batch
from headscope.remote import as_path
from headscope.statistics.alignment.sides import Sides, sides_of
from headscope.statistics.alignment.two_ways import link_shares

LINK = 0.5  # halfway between what the regression was told of a link, 1, and of none, 0


@dataclass(frozen=True)
class TunedHeads:
    """score = intercept + sum over heads of weight * sqrt(a b); two words are linked where it is above one half.

    a is the part of the target word's row that the source word has by this head, b the part of the source word's column
    that the target word has (`link_shares`).
    """

    readers: tuple[Reader, ...]
    weights: tuple[float, ...]
    intercept: float
    measure: str = "norm"
    why: str = "weights from a file"

    @property
    def label(self) -> str:
        """
        >>> TunedHeads((Reader(1, 7, "AWI"), Reader(5, 0, "AWO")), (0.2, 0.8), 0.01).label
        'all 2 heads and settings by norm with tuned weights (the highest: 5.0 AWO 0.80, 1.7 AWI 0.20)'
        """
        ranked = sorted(zip(self.weights, self.readers, strict=True), key=lambda one: -one[0])[:3]
        highest = ", ".join(f"{reader.label} {weight:.2f}" for weight, reader in ranked)
        return f"all {len(self.readers)} heads and settings by {self.measure} with tuned weights (the highest: {highest})"

    @property
    def places(self) -> list[tuple[int, int | None]]:
        return [(reader.layer, reader.head) for reader in self.readers]

    def word_scores(self, lens: Lens, batch: Batch) -> Tensor:
        """(batch, target word, column), cut at 0 and at 1; the last column means 'no link', and is one half everywhere."""
        sides = batch.cached(sides_of)
        found: list[Tensor] = []
        weights = dict(zip(self.readers, self.weights, strict=True))

        def receive(place: tuple[int, str], merged: Tensor) -> None:
            own = [weights[Reader(place[0], head, place[1])] for head in wanted[place]]
            shares = link_shares(merged, sides.source_count)
            found.append(torch.einsum("bhts,h->bts", shares, torch.tensor(own).to(shares)))

        wanted = by_place(self.readers)
        read_word_maps(lens, batch, self.measure, wanted, receive)
        scores = (torch.stack(found).sum(0) + self.intercept).clamp(0, 1)
        return nn.functional.pad(scores, (0, 1), value=LINK)

    def links(self, scores: Tensor, sides: Sides) -> Tensor:
        there = sides.spoken[..., :, None] & sides.there[..., None, :]
        return (scores[..., : sides.source_count] > LINK) & there

    def strengths(self, scores: Tensor, sides: Sides) -> Tensor:
        return scores[..., : sides.source_count]

    def shares(self, scores: Tensor) -> Tensor:
        return scores

    def table(self) -> pd.DataFrame:
        """layer, head, setting, weight, the highest weight first."""
        rows = [{**asdict(reader), "weight": weight} for reader, weight in zip(self.readers, self.weights, strict=True)]
        return pd.DataFrame(rows).sort_values("weight", ascending=False, kind="stable", ignore_index=True)

    def save(self, path: str | Path) -> None:
        """As JSON, from which the same links can be made again, of these and of other texts."""
        heads = [{**asdict(reader), "weight": weight} for reader, weight in zip(self.readers, self.weights, strict=True)]
        written = {"measure": self.measure, "intercept": self.intercept, "heads": heads}
        write_text(as_path(path), json.dumps(written, indent=1) + "\n")

    @classmethod
    def load(cls, path: str | Path) -> TunedHeads:
        """What `save` wrote."""
        try:
            read: dict[str, Any] = json.loads(as_path(path).read_text(encoding="utf-8"))
            readers = tuple(Reader(int(one["layer"]), int(one["head"]), str(one["setting"])) for one in read["heads"])
            weights = tuple(float(one["weight"]) for one in read["heads"])
            return cls(readers, weights, float(read["intercept"]), str(read["measure"]), f"weights from {Path(path).name}")
        except OSError as error:
            raise InputError(f"{path} cannot be read: {error.strerror or error}.") from error
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(
                f"{path} has no weights of heads: give the weights.json that `headscope align --tune` wrote into its run."
            ) from error
