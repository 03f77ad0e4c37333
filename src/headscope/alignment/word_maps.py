"""What heads give every target word and source word of a batch: pieces merged into words, a site at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from headscope.later import Tensor
from headscope.lens.block import AttentionBlock
from headscope.lens.lens import Lens
from headscope.lens.tokens.batch import Batch
from headscope.statistics.alignment.sides import sides_of
from headscope.statistics.kit.site_rows import SiteRows

Place = tuple[int, str]  # a layer, and the setting (AWI, AWO) in which it is read


def read_word_maps(
    lens: Lens,
    batch: Batch,
    measure: str,
    wanted: Mapping[Place, Sequence[int]],
    receive: Callable[[Place, Tensor], None],
) -> None:
    """One forced decoding, or one pass over prompts; `receive` gets (batch, head, target word, column) of each place.

    `wanted` says which heads of it, in their order. Columns are the source words and then what means 'no link'.
    """
    kind, sides = "cross" if batch.has_target else "self", batch.cached(sides_of)
    rows = {place: SiteRows[Tensor]() for place in wanted}

    def of_block(block: AttentionBlock) -> None:
        if block.site.stack != "decoder" or block.site.kind != kind:
            return
        for place, heads in wanted.items():
            if place[0] == block.site.layer:
                part = sides.merged(block.scores(measure)[:, list(heads)], place[1], block.rows)
                merged = rows[place].complete(block, part)
                if merged is not None:
                    receive(place, merged)

    lens.run(batch, of_block)
