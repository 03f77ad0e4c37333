"""How much the loss depends on attention to kinds of tokens: the mean |dL / d alpha| (clark2019, section 3.2, figure 3).

The paper does not say what its average runs over. `[SEP]`, `punctuation`, ... are the mean over pairs of a row and a key
that it sees, "each attention weight", which we take to be figure 3's; `[SEP]_per_row`, ... the sum over a row's keys of
that kind, on average over the rows.
"""

from __future__ import annotations

from headscope.errors import InputError
from headscope.later import Tensor
from headscope.lens import watching
from headscope.lens.score_block import ScoreBlock
from headscope.statistics.base import Columns, Statistic, Sums, ratio
from headscope.statistics.kit.key_masks import is_comma, is_period, is_special, keys_where, special_labels
from headscope.statistics.kit.totals import queries
from headscope.statistics.registry import setting, statistic


def sums_by_kind(gradients: Tensor, seen: Tensor, kinds: dict[str, Tensor]) -> dict[str, tuple[Tensor, Tensor]]:
    """Sum of |gradient|, and number of pairs seen, for the keys of each kind: (head,) each.

    `gradients` and `seen` are (batch, head, row, key), each kind (batch, key).
    """
    size, pairs = gradients.abs().sum(2), seen.sum(2)  # batch head key
    return {name: ((size * keys[:, None]).sum((0, 2)), (pairs * keys[:, None]).sum((0, 2))) for name, keys in kinds.items()}


@statistic("importance")
class Importance(Statistic):
    """Mean |dL / d alpha| for special tokens, periods and commas, and others; needs a language-model head.

    The loss is the model's own: see `headscope.lens.tokens.losses`. A masked-LM loss hides some tokens, chosen by `seed`:
    these are `masked`, whatever stands in their place; all other columns are of the `unmasked`.
    """

    seed: int = setting(0, least=0, help="For the tokens that a masked-LM loss hides.")

    usual = False  # a forward and a backward pass of its own
    gradients = True
    levels = ("token",)
    measures = ("weight",)
    sums = ("rows",)

    def update(self, block: ScoreBlock) -> None:
        if not isinstance(block, watching.GradientBlock):
            raise InputError("importance needs gradients: feed it by lens.run_gradients, or by a study.")
        self.add(block.site, rows=block.cached(queries))
        for name, (size, pairs) in sums_by_kind(block.gradients, block.seen, kinds_of_keys(block)).items():
            self.add(block.site, **{f"size {name}": size, f"pairs {name}": pairs})

    def columns(self, sums: Sums) -> Columns:
        names = sorted(name.removeprefix("size ") for name in sums if name.startswith("size "))
        by_pair = {name: ratio(sums[f"size {name}"], sums[f"pairs {name}"]) for name in names}
        by_row = {f"{name}_per_row": ratio(sums[f"size {name}"], sums["rows"]) for name in names}
        return by_pair | by_row


def kinds_of_keys(block: watching.GradientBlock) -> dict[str, Tensor]:
    """(batch, key) each: 1 where a key is of that kind. `unmasked` is all special tokens, punctuation and others."""
    special = {label: keys_where(block, is_special, label) for label in block.attended.cached(special_labels)}
    kinds = {
        **special,
        "punctuation": keys_where(block, is_punctuation),
        "other": keys_where(block, is_other),
        "unmasked": block.key_mask.float(),
    }
    kinds["first_token"] = kinds["unmasked"] * (block.key_positions == 0)
    if block.masked is None:
        return kinds
    return {name: keys * ~block.masked for name, keys in kinds.items()} | {"masked": block.masked.float()}


def is_punctuation(label: str, special: bool) -> bool:
    return is_period(label, special) or is_comma(label, special)


def is_other(label: str, special: bool) -> bool:
    return not special and not is_punctuation(label, special)
