"""What a card draws of a head: its mean map over the first positions, how far it looks, and one text that excites it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from headscope.heads.exemplar_scores import NAME as SCORES
from headscope.heads.exemplars import readable_tables
from headscope.later import pd
from headscope.lens.head import HEAD, Head
from headscope.report import schema
from headscope.statistics.table_names import parse
from headscope.study.run import Run
from headscope.views.content import Attention, Content, Side
from headscope.views.pack import pack

DIGITS = 4  # of a share in a picture: more than a pixel can show
DRAWN = ("position_map", "distance_profile", SCORES)  # tables that cards draw whole


def is_drawn(table: str) -> bool:
    """Whether cards draw a table: its hundred thousand rows need not be in the page once more."""
    name = parse(table)
    return table in DRAWN or (name is not None and name.statistic in DRAWN)


def pictures_of(run: Run) -> dict[Head, schema.Picture]:
    """By head, what the run's tables have to draw of it; heads of which they have nothing are not there."""
    maps, profiles, exemplars = dict(_maps(run)), dict(_profiles(run)), dict(_exemplars(run))
    return {
        head: {"map": maps.get(head), "profile": profiles.get(head), "exemplar": exemplars.get(head)}
        for head in run.heads
        if head in maps or head in profiles or head in exemplars
    }


def is_causal(head: Head) -> bool:
    return (head.stack, head.kind) == ("decoder", "self")


def _of_heads(run: Run, table: str | None) -> Iterator[tuple[Head, pd.DataFrame]]:
    if table is not None:
        for _, rows in run[table].dropna(subset=HEAD).groupby(HEAD, sort=False):
            yield Head.of(rows.iloc[0]), rows


# The mean map


def _maps(run: Run) -> Iterator[tuple[Head, schema.MeanMap]]:
    for head, rows in _of_heads(run, run.by_head.table_name("position_map")):
        scores = np.zeros((rows["query"].max() + 1, rows["key"].max() + 1))
        scores[rows["query"], rows["key"]] = rows["score"]
        yield head, mean_map(scores, first=int(is_causal(head)))


def mean_map(scores: np.ndarray, first: int = 0) -> schema.MeanMap:
    """(query, key) -> what is drawn: from the position `first` on, and what part of these rows is on those before it.

    A causal attention's first token is its sink, and its first row sees nothing else.

    >>> mean_map(np.array([[1.0, 0.0], [0.75, 0.25]]), first=1)
    {'first': 1, 'rows': [[0.25]], 'hidden': 0.75}
    """
    rows, total = scores[first:, first:], scores[first:].sum()
    hidden = scores[first:, :first].sum() / total if first and total > 0 else None
    return {
        "first": first,
        "rows": [[round(float(score), DIGITS) for score in row] for row in rows],
        "hidden": None if hidden is None else float(hidden),
    }


# How far it looks


def _profiles(run: Run) -> Iterator[tuple[Head, schema.Profile]]:
    table = run.by_head.table_name("distance_profile")
    if table is None:
        return
    met = run[table].groupby(["stack", "kind", "nearest"])["share"].max() > 0  # else no text is so long
    for head, rows in _of_heads(run, table):
        if rows["share"].isna().any():  # nothing goes beyond its sinks
            continue
        there = [place for place, one in enumerate(rows["nearest"]) if one == 0 or met[head.stack, head.kind, one]]
        rows = rows.iloc[there[0] : there[-1] + 1]
        ends = zip(rows["nearest"], rows["furthest"], strict=True)
        yield (
            head,
            {
                "bins": [[int(near), None if far is pd.NA else int(far)] for near, far in ends],
                "shares": [round(float(share), DIGITS) for share in rows["share"]],
            },
        )


# A text that excites it


def _exemplars(run: Run) -> Iterator[tuple[Head, schema.DrawnExemplar]]:
    texts = readable_tables(run)
    if SCORES not in run or not texts:
        return
    known = {(Head.of(row), row["rank"]): row for row in run[texts[0]].dropna(subset=HEAD).to_dict("records")}
    counted = next((name for name in run if name.startswith("exemplars") and name not in texts), "exemplars")
    name = parse(counted)
    has_encoder = any(head.stack == "encoder" for head in run.heads)
    for head, rows in _of_heads(run, SCORES):
        text = known.get((head, rows["rank"].iloc[0]))
        if text is not None:
            yield head, _exemplar(head, rows, text, has_encoder, name.measure if name else "weight", run)


def _exemplar(
    head: Head, rows: pd.DataFrame, text: Mapping[str, Any], has_encoder: bool, measure: str, run: Run
) -> schema.DrawnExemplar:
    """A view of one head on one text, with its pair kept."""
    own = "target" if has_encoder and head.stack == "decoder" else "source"
    other = "source" if head.kind == "cross" else own
    at, attending = _side(rows, "row", "attending")
    to, attended = _side(rows, "key", "attended")
    scores = np.zeros((1, len(at), len(to)), dtype=np.float32)
    scores[0, rows["row"].map(at), rows["key"].map(to)] = rows["score"]
    attention = Attention(head.stack, head.kind, head.layer, [head.head], own, other, {measure: scores})
    model = run.manifest.get("model", {}).get("name", "")
    sinks = {attention.group: [bool(one) for one in rows.groupby("key")["sink"].first()]}
    packed = pack(Content(text["text"], {other: attended, own: attending}, [attention], model=model, sinks=sinks))
    pair = rows[rows["pair"]].iloc[0]
    return {
        "content": packed.description,
        "chunks": packed.chunks,
        "rank": int(text["rank"]),
        "keep": [f"q{at[pair['row']]}", f"k{to[pair['key']]}"],
        "left_out": int(pair["tokens"]) - len(at),
    }


def _side(rows: pd.DataFrame, place: str, token: str) -> tuple[dict[int, int], Side]:
    """The tokens of one side, and at which of them each place of the text is."""
    tokens = rows.drop_duplicates(place).sort_values(place)
    special = [bool(one) for one in tokens[f"{token}_special"]]
    return {at: number for number, at in enumerate(tokens[place])}, Side.plain(list(tokens[token]), special)
