"""A reading as tables of pandas: every score in a row of its own, and the heads with the strongest links."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from headscope.errors import InputError
from headscope.later import pd
from headscope.lens.block import AttentionBlock
from headscope.lens.head import HEAD
from headscope.lens.measure import MEASURES
from headscope.lens.strongest import Strongest

if TYPE_CHECKING:
    from headscope.lens.reading import Reading

MOST = 20_000_000  # rows: above it, a table would fill the memory
PAIR = ["query", "key", "query_token", "key_token"]


def scores_frame(
    reading: Reading, measures: Sequence[str], blocks: Sequence[AttentionBlock], kind: str, stack: str | None
) -> pd.DataFrame:
    """One row a head, query and key that the query can see; one column a measure."""
    joint, per_key = (
        _shared([getattr(MEASURES[name], trait) for name in measures], measures) for trait in ("joint", "per_key")
    )
    queries, keys = reading.query_texts(kind, stack), reading.key_texts(kind, stack)
    sinks = np.array(reading.sinks(kind, stack))
    seen = np.ones((1 if per_key else len(queries), len(keys)), dtype=bool)
    if blocks[0].is_causal and not per_key:
        seen = np.tril(seen)
    query, key = np.nonzero(seen)
    rows = sum(1 if joint else block.site.heads for block in blocks) * len(query)
    if rows > MOST:
        raise InputError(
            f"A table of these scores would have {rows / 1e6:,.0f} million rows, more than {MOST / 1e6:,.0f} million: "
            "ask for one layer with layer=, or take the tensor, reading.scores(...)."
        )
    columns = {"key": key, "key_token": np.array(keys, dtype=object)[key], "sink": sinks[key]}
    if not per_key:
        columns |= {"query": query, "query_token": np.array(queries, dtype=object)[query]}
    ordered = [name for name in (*PAIR, "sink") if name in columns]
    parts = []
    for block in blocks:
        found = {
            name: _flat(reading.scores(name, kind=kind, stack=stack, layer=block.site.layer), seen) for name in measures
        }
        for head in range(len(next(iter(found.values())))):
            named: dict[str, Any] = dict(zip(HEAD, (*_named(block), None if joint else head), strict=True))
            parts.append(pd.DataFrame({**named, **{name: columns[name] for name in ordered}, **_of(found, head)}))
    return pd.concat(parts, ignore_index=True).astype({"layer": "int64", "head": "Int64" if joint else "int64"})


def links_frame(strongest: Sequence[Strongest], stack: str, kind: str, measure: str, most: int) -> pd.DataFrame:
    """The heads with the largest scores of a single pair, one row a head, the largest first."""
    rows = [
        [stack, kind, one.layer, one.head, *one.places, *one.link, one.score, one.sinks]
        for one in strongest
        if one.places is not None and one.link is not None
    ]
    table = pd.DataFrame(rows, columns=[*HEAD, *PAIR, measure, "sinks"]).astype({"head": "Int64"})
    return table.sort_values(measure, ascending=False, kind="stable", ignore_index=True).head(most)


def _flat(scores: Any, seen: Any) -> Any:
    """(head, query, key) or (head, key) -> (head, pair)"""
    array = scores.float().numpy()
    return array[:, seen] if array.ndim == 3 else array


def _of(found: dict[str, Any], head: int) -> dict[str, Any]:
    return {name: scores[head] for name, scores in found.items()}


def _named(block: AttentionBlock) -> tuple[str, str, int]:
    return block.site.stack, block.site.kind, block.site.layer


def _shared(traits: Sequence[bool], measures: Sequence[str]) -> bool:
    """What all measures are, or none of them."""
    if len(set(traits)) != 1:
        raise InputError(
            f"{' and '.join(measures)} are not numbers of the same things (of heads or of all heads together, of pairs or "
            "of single tokens): ask for one after the other."
        )
    return traits[0]
