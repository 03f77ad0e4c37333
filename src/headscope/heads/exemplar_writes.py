"""What a head writes in a text that excites it: the tokens that its output there makes more and less likely.

Along the direct path, at the token that looks: a decoder predicts the next one from it, a masked model the token itself.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from headscope.errors import HeadscopeError
from headscope.later import Tensor, pd
from headscope.lens.block import AttentionBlock
from headscope.lens.direct import DirectPass
from headscope.lens.head import HEAD, Head
from headscope.lens.lens import Lens
from headscope.lens.reading import Reading
from headscope.lens.site import Site
from headscope.lens.task import task_of
from headscope.lens.tokens.encoding import Encoded
from headscope.writing.logits import logits_of
from headscope.writing.vocabulary import named
from headscope.writing.writes import head_output, most_and_least

NAME = "exemplar_writes"  # of the table in a run directory
COUNT = 5  # tokens of either sign
LONGEST = 512  # tokens of a text: all its logits are there at once
PARAMETERS = 2_000_000_000  # of a model for which this is counted without being asked for
COLUMNS = [*HEAD, "rank", "row", "token", "id", "logit"]

Exemplar = Mapping[str, Any]  # a head, the `document`, its `rank`, and the `row` of the token that looks


def can_write(lens: Lens) -> bool:
    """Whether the model has words, and is small enough to be asked by the way."""
    return task_of(lens) is not None and lens.model.num_parameters() <= PARAMETERS


def exemplar_writes(lens: Lens, exemplars: Iterable[Exemplar], texts: Mapping[int, Encoded]) -> pd.DataFrame | None:
    """A row a head and token, those that become likeliest first: `logit` is what the head adds beyond what it adds to all.

    None for a model in which what is added to the stream does not add up to its logits.
    """
    by_text: dict[int, list[Exemplar]] = defaultdict(list)
    for exemplar in exemplars:
        by_text[exemplar["document"]].append(exemplar)
    rows: list[list[Any]] = []
    is_checked = False
    for number, some in by_text.items():
        if max(len(texts[number].source), len(texts[number].target or ())) > LONGEST:
            continue
        if not is_checked and not _adds_up(lens, texts[number]):
            return None
        is_checked = True
        rows += _of_text(lens, texts[number], some)
    return pd.DataFrame(rows, columns=COLUMNS).astype({"layer": "Int64", "head": "Int64"})


def _adds_up(lens: Lens, encoded: Encoded) -> bool:
    blocks: list[AttentionBlock] = []
    batch = lens.encoder.collate([encoded])
    lens.run(batch, blocks.append, rows=None)
    try:
        logits_of(Reading(blocks, batch, model=lens.name, lens=lens), at=-1)
    except HeadscopeError:
        return False
    return True


def _of_text(lens: Lens, encoded: Encoded, exemplars: Iterable[Exemplar]) -> list[list[Any]]:
    wanted: dict[tuple[str, str, int], list[Exemplar]] = defaultdict(list)
    for exemplar in exemplars:
        wanted[Head.of(exemplar)[:3]].append(exemplar)
    batch = lens.encoder.collate([encoded])
    found: list[tuple[Site, Exemplar, Tensor]] = []

    def receive(block: AttentionBlock) -> None:
        for one in wanted.get((block.site.stack, block.site.kind, block.site.layer), ()):
            if one["row"] in block.rows:
                output = head_output(block, Head.of(one).head, one["row"] - block.rows.start)
                found.append((block.site, one, output.detach().clone()))

    lens.run(batch, receive)
    run = DirectPass(lens, batch)
    rows: list[list[Any]] = []
    for site, one, output in found:
        if run.joins(site):  # an encoder's heads write to no words
            written = most_and_least(run.written(site, output[None], int(one["row"]))[0], COUNT)
            tokens = [(named(lens, token), logit) for token, logit in written]
            rows += [[*Head.of(one), one["rank"], int(one["row"]), token.text, token.id, logit] for token, logit in tokens]
    return rows
