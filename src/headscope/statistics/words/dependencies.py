"""How much of a head's attention connects words in a dependency relation (vig2019, eq. 4, figure 8)."""

from __future__ import annotations

from dataclasses import replace

from headscope.later import torch
from headscope.lens.score_block import ScoreBlock
from headscope.statistics.base import Columns, Sums, ratio
from headscope.statistics.columns import COUNT, Column, share_on
from headscope.statistics.kit.totals import keys_in_sight
from headscope.statistics.pending import wide
from headscope.statistics.registry import setting, statistic
from headscope.statistics.surface.null_attention import NullFiltered
from headscope.statistics.words.related_pairs import related_pairs

FORMS = ("attending_is_parent", "attended_is_parent", "either")


@statistic("dependencies")
class Dependencies(NullFiltered):
    """Share of a head's attention between words in a dependency relation, beside the share of such pairs (vig2019, eq. 4).

    Three forms: the attending token is the parent, the attended one is, either is. The baseline is what attending alike to
    everything in sight would have, every pair of a row and a key that counts once: of a decoder, the keys up to the row.
    With baseline="others" a token and itself are no pair: of a decoder, the keys before the row.
    """

    baseline: str = setting(
        "in_sight",
        one_of=("in_sight", "others"),
        said="baseline_{}",
        help="Pairs that the baseline counts: all in sight, or of two tokens (j < i in a decoder).",
    )

    usual = False
    needs = ("parents",)
    sums = ("total", "pairs", *FORMS[:2], *(f"related {form}" for form in FORMS[:2]))
    card_place = 140
    attending_is_parent = share_on("From a head word to its dependent", "a dependent", "follows syntax more")
    attended_is_parent = share_on("From a dependent to its head word", "the head word", "follows syntax more")
    either = share_on("Between syntactically related words", "a related word", "follows syntax more")
    total = Column("Attention counted", COUNT, "How much attention was counted.", "was counted more", of_heads=False)

    @classmethod
    def column(cls, name: str) -> Column | None:
        of = super().column(name.removesuffix("_baseline"))
        if of is None or not name.endswith("_baseline"):
            return of
        says = "What looking at all tokens in sight alike would give."
        return replace(of, title=f"{of.title}, by chance", says=says, of_heads=False)

    def update(self, block: ScoreBlock) -> None:
        if block.site.kind != "self" or block.attended.name == "target":  # only the source is annotated
            return
        pairs = block.batch.cached(related_pairs, block.attended)
        text, query, key, parent = pairs.unbind(1)
        counts = (key >= self.first_key) & (query >= block.rows.start) & (query < block.rows.stop)
        if block.is_causal:
            counts &= key <= query
        # Pairs of other rows count 0: to leave them out, a device would have to say how many there are.
        row = (query - block.rows.start).clamp(0, len(block.rows) - 1)
        scores = block.scores(self.measure)[text, :, row, key]  # pair head
        counted = keys_in_sight(block, self.first_key) * block.row_mask
        if self.baseline == "others":
            counted = counted - (block.row_mask & (block.row_positions >= self.first_key)).int()
        self.add(block.site, total=self.total_in(block), pairs=counted.sum())
        for form, name in enumerate(FORMS[:2]):
            of_form = (parent == form) & counts
            given = wide(torch.where(of_form[:, None], scores, 0.0)).sum(0)
            self.add(block.site, **{name: given, f"related {name}": of_form.sum()})

    def columns(self, sums: Sums) -> Columns:
        one, other = FORMS[:2]
        both = {
            **{name: (sums[name], sums[f"related {name}"]) for name in FORMS[:2]},
            "either": (sums[one] + sums[other], sums[f"related {one}"] + sums[f"related {other}"]),
        }
        shares = {name: ratio(attention, sums["total"]) for name, (attention, _) in both.items()}
        baselines = {f"{name}_baseline": ratio(count, sums["pairs"]) for name, (_, count) in both.items()}
        return shares | baselines | {"total": sums["total"]}
