"""How much of a head's attention connects words in a dependency relation (vig2019, eq. 4, figure 8)."""

from __future__ import annotations

import torch
from torch import Tensor

from headscope.lens.score_block import ScoreBlock
from headscope.statistics.base import Array, Fields, ratio
from headscope.statistics.registry import statistic
from headscope.statistics.surface.null_attention import NullFiltered
from headscope.statistics.words.related_pairs import related_pairs

FORMS = ("attending_is_parent", "attended_is_parent", "either")


@statistic
class Dependencies(NullFiltered):
    """Share of a head's attention between words in a dependency relation, beside the share of such pairs (vig2019, eq. 4).

    Three forms: the attending token is the parent, the attended one is, either is. The baseline is what attending alike to
    everything in sight would have, every pair of a row and a key that counts once: of a decoder, the keys up to the row.
    """

    name = "dependencies"
    usual = False
    needs = ("parents",)
    fields = ("total", "pairs", *FORMS[:2], *(f"related {form}" for form in FORMS[:2]))

    def update(self, block: ScoreBlock) -> None:
        if block.site.kind != "self" or block.attended.name == "target":  # only the source is annotated
            return
        pairs = block.batch.cached(related_pairs, block.attended)
        text, query, key, parent = pairs.unbind(1)
        counts = (key >= self.first_key) & (query >= block.rows.start) & (query < block.rows.stop)
        if block.is_causal:
            counts &= key <= query
        text, query, key, parent = pairs[counts].unbind(1)
        scores = block.scores(self.measure)[text, :, query - block.rows.start, key]  # pair head
        self.add("total", block.site, self.kept_total(block))
        self.add("pairs", block.site, self._pairs_in_sight(block).sum())
        for form, name in enumerate(FORMS[:2]):
            self.add(name, block.site, scores[parent == form].double().sum(0))
            self.add(f"related {name}", block.site, float((parent == form).sum()))

    def _pairs_in_sight(self, block: ScoreBlock) -> Tensor:
        """How many keys that count each row may see: (batch, row)."""
        seen = block.key_mask.sum(1)[:, None].expand_as(block.row_mask)
        if block.is_causal:
            seen = torch.minimum(seen, block.row_positions + 1)
        return (seen - self.first_key) * block.row_mask

    def columns(self, fields: Fields) -> dict[str, Array]:
        one, other = FORMS[:2]
        both = {
            **{name: (fields[name], fields[f"related {name}"]) for name in FORMS[:2]},
            "either": (fields[one] + fields[other], fields[f"related {one}"] + fields[f"related {other}"]),
        }
        shares = {name: ratio(attention, fields["total"]) for name, (attention, _) in both.items()}
        baselines = {f"{name}_baseline": ratio(count, fields["pairs"]) for name, (_, count) in both.items()}
        return shares | baselines | {"total": fields["total"]}
