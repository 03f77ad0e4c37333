"""What a head does in a text that excites it: all its scores there, so that a picture of it needs no model.

Of a long text, what stands around the pair of tokens that the exemplar is about.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from headscope.later import Tensor, pd, torch
from headscope.lens.block import AttentionBlock
from headscope.lens.head import HEAD, Head
from headscope.lens.lens import Lens
from headscope.lens.sinks import TextSinks, known_sinks
from headscope.lens.tokens.encoding import Encoded, TokenSequence

NAME = "exemplar_scores"  # of the table in a run directory
LONGEST = 64  # tokens of a text that are kept
WHOLE = 1024  # tokens of a text of which all heads' maps fit any memory, a layer at a time
DIGITS = 4  # of a score
FAINTEST = 1 / 255  # of a head's largest score: below it no line is seen
COLUMNS = [*HEAD, "rank", "row", "key", "attending", "attended", "score", "pair", "sink"]
COLUMNS += ["attending_special", "attended_special", "tokens"]


Exemplar = Mapping[str, Any]  # a head, the `document`, its `rank`, and the `row` and `key` of its pair


def exemplar_scores(
    lens: Lens, exemplars: Iterable[Exemplar], texts: Mapping[int, Encoded], measure: str = "weight"
) -> pd.DataFrame:
    """One row a head and pair of tokens: places in the text, both tokens as people read them, and the score.

    Of a head's `exemplars` it is the first whose pair is not about a sink of its text; the first of all, where all are.
    Every token that is kept is in some row: with its largest score, however small. `sink` says whether the attended token is
    one; `tokens` is the length of the attending text.
    """
    by_head: dict[Head, list[Exemplar]] = defaultdict(list)
    for exemplar in sorted(exemplars, key=lambda one: one["rank"]):
        by_head[Head.of(exemplar)].append(exemplar)
    first: dict[Head, pd.DataFrame] = {}
    beyond: dict[Head, pd.DataFrame] = {}
    for turn in range(max(map(len, by_head.values()), default=0)):
        asked = [some[turn] for head, some in by_head.items() if head not in beyond and turn < len(some)]
        for head, rows in _by_text(lens, asked, texts, measure):
            table = pd.DataFrame(rows, columns=COLUMNS)
            first.setdefault(head, table)
            if not table.loc[table["pair"], "sink"].any():
                beyond[head] = table
    chosen = [beyond.get(head, first[head]) for head in by_head]
    whole = pd.concat(chosen, ignore_index=True) if chosen else pd.DataFrame(columns=COLUMNS)
    return whole.astype({"layer": "Int64", "head": "Int64"})


def _by_text(
    lens: Lens, exemplars: Iterable[Exemplar], texts: Mapping[int, Encoded], measure: str
) -> Iterator[tuple[Head, list[list[Any]]]]:
    by_text: dict[int, list[Exemplar]] = defaultdict(list)
    for exemplar in exemplars:
        by_text[exemplar["document"]].append(exemplar)
    for number, some in by_text.items():
        yield from _of_text(lens, texts[number], some, measure)


def _of_text(
    lens: Lens, encoded: Encoded, exemplars: Sequence[Exemplar], measure: str
) -> Iterator[tuple[Head, list[list[Any]]]]:
    """All heads that a text is an exemplar of, in one pass of the model."""
    wanted = {Head.of(exemplar): exemplar for exemplar in exemplars}
    batch = lens.encoder.collate([encoded])
    parts: dict[Head, list[Tensor]] = defaultdict(list)
    sides: dict[str, tuple[TokenSequence, TokenSequence]] = {}
    is_short = max(len(encoded.source), len(encoded.target or ())) <= WHOLE
    sinks = TextSinks()

    def receive(block: AttentionBlock) -> None:
        site = block.site
        sides[site.group] = batch.query_sequences(site)[0], batch.key_sequences(site)[0]
        if is_short:
            sinks.add(block)
        for head, exemplar in wanted.items():
            if (f"{head.stack} {head.kind}", head.layer) == (site.group, site.layer):
                queries, keys = _places(exemplar, *sides[site.group], within=site.kind == "self")
                mine = [place - block.rows.start for place in queries if place in block.rows]
                parts[head].append(block.scores(measure)[0, head.head, mine][:, keys].float().cpu())

    lens.run(batch, receive, rows=None if is_short else "fit")
    parked = sinks.by_group()
    for head, found in parts.items():
        group = f"{head.stack} {head.kind}"
        places = _places(wanted[head], *sides[group], within=head.kind == "self")
        of_text = parked.get(group) or known_sinks(sides[group][1].special, group == "decoder self")
        yield head, list(_rows(head, wanted[head], torch.cat(found).numpy(), places, sides[group], of_text))


def _rows(
    head: Head,
    exemplar: Exemplar,
    scores: np.ndarray,
    places: tuple[list[int], list[int]],
    sides: tuple[TokenSequence, TokenSequence],
    sinks: Sequence[bool],
) -> Iterator[list[Any]]:
    """The pairs that are worth a line, and the largest of every token: (query, key) scores of the places that are kept."""
    queries, keys = (sequence.readable() for sequence in sides)
    kept = scores >= FAINTEST * scores.max(initial=0)
    kept[np.arange(len(scores)), scores.argmax(1)] = True
    kept[scores.argmax(0), np.arange(scores.shape[1])] = True
    for at, to in np.argwhere(kept):
        row, key = places[0][at], places[1][to]
        pair = (row, key) == (exemplar["row"], exemplar["key"])
        special = sides[0].special[row], sides[1].special[key]
        score = round(float(scores[at, to]), DIGITS)
        yield [*head, exemplar["rank"], row, key, queries[row], keys[key], score, pair, sinks[key], *special, len(queries)]


def _places(exemplar: Exemplar, queries: TokenSequence, keys: TokenSequence, *, within: bool) -> tuple[list[int], list[int]]:
    """Which tokens are kept of both sides; within one text the same of either."""
    row, key = int(exemplar["row"]), int(exemplar["key"])
    if within:
        places = around([row, key], queries.special, LONGEST)
        return places, places
    return around([row], queries.special, LONGEST), around([key], keys.special, LONGEST)


def around(places: Sequence[int], special: Sequence[bool], most: int) -> list[int]:
    """The tokens of a text that are nearest to some places, `most` at the most, in their order; special ones always.

    >>> around([1, 7], [True, *[False] * 8, True], most=6)
    [0, 1, 2, 6, 7, 9]
    """
    if len(special) <= most:
        return list(range(len(special)))
    near = sorted(range(len(special)), key=lambda one: (not special[one], min(abs(one - place) for place in places), one))
    return sorted(near[:most])
