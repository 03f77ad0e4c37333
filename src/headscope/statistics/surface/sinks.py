"""What a head does beyond its sinks: with the attention that goes neither to the first token nor to a separator.

Heads that have nothing to do look at [CLS], [SEP] or a decoder's first token (clark2019, section 3.2; vig2019, section
5.2), most of the time. Their work shows in what is left: shares here are of the rest, and rows count by how much they leave.
"""

from __future__ import annotations

import numpy as np

from headscope.later import Tensor, torch
from headscope.lens.score_block import ScoreBlock
from headscope.lens.side import Side
from headscope.statistics.base import Columns, Statistic, Sums, ratio
from headscope.statistics.columns import RATIO, SHARE, Column, share_on
from headscope.statistics.kit.categories import USUAL, beyond_sinks, key_categories
from headscope.statistics.kit.row_sums import row_sums
from headscope.statistics.kit.site_rows import SiteRows
from headscope.statistics.kit.totals import on_diagonal, received, total
from headscope.statistics.registry import statistic

OFFSETS = {"two_before": -2, "previous": -1, "same": 0, "next": 1, "two_after": 2}
FIRST, SEPARATOR, PUNCTUATION, _ = range(len(USUAL))


def _of_rest(title: str, what: str, more: str = "looks there more", *, positional: bool = False) -> Column:
    """A share of what a head does not give to its sinks."""
    says = f"The part of the head's attention beyond its sinks, the first token and separators, that goes to {what}."
    return Column(f"{title}, share beyond sinks", SHARE, says, more, positional=positional)


@statistic("beyond_sinks")
class BeyondSinks(Statistic):
    """Shares on its sinks (first token, separators); of the rest, on neighbours and punctuation, and how broad it is.

    `first` and `separator` are shares of everything, `rest` is what they leave. All other columns are of the rest alone:
    the share on the same token, the one or two before and after it, on periods and commas, on the `one_token` of each text
    that gets most from all rows together (a second sink, if it is large), and `breadth`, its entropy as a part of that of
    attending alike to all other tokens in sight. The first token is a special one that starts the text,
    or in a decoder any; a separator is any other special token.
    """

    sums = ("total", "first", "separator", "rest", *OFFSETS, "punctuation", "one_token", "entropy", "uniform")
    card_place = 10
    first = share_on("First token", "the token that starts the text", "uses it more as a sink")
    separator = share_on("Separators", "separators such as [SEP]", "uses them more as a sink")
    rest = share_on("Beyond its sinks", "neither the first token nor separators", "is busier with the text itself")
    two_before = _of_rest("Two tokens before", "the token two places before", positional=True)
    previous = _of_rest("Previous token", "the token just before", positional=True)
    same = _of_rest("Same token", "the very token that looks", "looks at itself more", positional=True)
    next = _of_rest("Next token", "the token just after", positional=True)
    two_after = _of_rest("Two tokens after", "the token two places after", positional=True)
    punctuation = _of_rest("Punctuation", "periods and commas")
    one_token = _of_rest("One token of each text", "the one token that gets most of it", "has a second sink")
    breadth = Column(
        "Evenness beyond sinks (breadth)",
        RATIO,
        "How evenly the head spreads its attention beyond its sinks: 1 for alike on all tokens, 0 for one token.",
        "spreads it more evenly",
    )

    def begin(self) -> None:
        self._received = SiteRows[Tensor]()  # batch head key

    def update(self, block: ScoreBlock) -> None:
        categories = key_categories(block, {})
        kept = beyond_sinks(block)
        got = block.cached(received, self.measure)
        by_category = {"first": FIRST, "separator": SEPARATOR, "punctuation": PUNCTUATION}
        found = row_sums(block, self.measure)
        left = found.beyond_sinks
        # S H = S log S - sum s log s: rows count by how much they leave, which needs no division
        entropies = torch.xlogy(left, left) - found.informed_beyond_sinks
        self.add(
            block.site,
            total=block.cached(total, self.measure),
            **{name: (got * (categories == number)[:, None]).sum((0, 2)) for name, number in by_category.items()},
            rest=(got * kept[:, None]).sum((0, 2)),
            **{name: self._on_diagonal(block, kept, offset) for name, offset in OFFSETS.items()},
            entropy=entropies.sum((0, 2)),
            uniform=(left * block.attended.cached(_log_in_sight, kept, block.rows, block.is_causal)[:, None]).sum((0, 2)),
        )
        whole = self._received.complete(block, got * kept[:, None])
        if whole is not None:  # which token of a text gets most is known when its last rows have come
            self.add(block.site, one_token=whole.amax(2).sum(0))

    def _on_diagonal(self, block: ScoreBlock, kept: Tensor, offset: int) -> Tensor:
        """(head,): what rows give to the keys that are kept and stand `offset` places behind them."""
        given, first = block.cached(on_diagonal, self.measure, offset), max(block.rows.start + offset, 0)
        return (given * kept[:, None, first : first + given.shape[-1]]).sum((0, 2))

    def columns(self, sums: Sums) -> Columns:
        columns = {name: ratio(sums[name], sums["total"]) for name in ("first", "separator", "rest")}
        columns |= {name: ratio(sums[name], sums["rest"]) for name in (*OFFSETS, "punctuation", "one_token")}
        uniform = np.where(sums["rest"] > 0, sums["uniform"], 0)
        return columns | {"breadth": ratio(sums["entropy"], uniform)}


def _log_in_sight(side: Side, kept: Tensor, rows: range, causal: bool) -> Tensor:
    """(batch, row): the log of how many keys that count a row can see."""
    keys = torch.arange(kept.shape[1], device=kept.device)
    first = keys if causal else torch.zeros_like(keys)  # the first row that can see a key
    sees = first[None] <= torch.arange(rows.start, rows.stop, device=kept.device)[:, None]  # row key
    return (kept.float() @ sees.float().T).clamp(min=1).log()
