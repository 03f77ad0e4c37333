"""A head's exemplars as runs of text with marks: who looks is `attending`, what is looked at `attended`. Never HTML."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd

from headscope.errors import InputError
from headscope.heads.exemplars import LOOKS_AT, readable
from headscope.lens.head import HEAD, Head
from headscope.lens.lens import Lens
from headscope.study.run import Run
from headscope.text import Document

NAME = "exemplars_readable"  # of the table in a run directory
_COLUMNS = {*HEAD, "rank", "score", "attending", "attended", "text"}

SPACE = "\u2423"  # an open box: a token that is nothing but space must be seen too

Runs = list[dict[str, str | None]]


def add_exemplars(lens: Lens, run: Run | str | Path, documents: Iterable[Document]) -> pd.DataFrame:
    """The texts of a run's `exemplars`, found again among the documents that it read, kept among its tables."""
    run = Run.open(run)
    names = [name for name in run if name.startswith("exemplars") and name != NAME]
    if not names:
        raise InputError(f"{run.folder} has counted no exemplars: run the study with -s exemplars.")
    table = readable(run[names[0]], documents, lens)
    run.add(NAME, table)
    return table


def exemplars_of(run: Run) -> dict[Head, list[dict[str, Any]]]:
    """By head, its exemplars in the first table that has readable ones, a study's or a paper's."""
    table = next((run[name] for name in run if set(run[name].columns) >= _COLUMNS), None)
    found: dict[Head, list[dict[str, Any]]] = {}
    for row in table.sort_values("rank", kind="stable").to_dict("records") if table is not None else ():
        head = Head.of(row)
        attending, attended = row["attending"], row["attended"]
        runs = runs_of(row["text"], attending, attended)
        found.setdefault(head, []).append(
            {
                "score": float(row["score"]),
                "attending": attending or SPACE,
                "attended": attended or SPACE,
                "runs": _apart(runs) if head.kind == "cross" else runs,
                "source": source_of(row.get("source") or ""),
            }
        )
    return found


def source_of(document: str) -> str:
    """Where a text is from, for others: of a path only its end, since a report is sent to them.

    >>> source_of("/home/ann/texts/wiki.txt:12"), source_of("newsgroup-1")
    ('wiki.txt:12', 'newsgroup-1')
    """
    return document.replace("\\", "/").rpartition("/")[2]


def runs_of(marked: str, attending: str, attended: str) -> Runs:
    """A text in which the attending token is **bold** and the attended one *italic*, as runs with marks.

    The tokens are given, since a text may have asterisks of its own.

    >>> runs_of("The **cat** saw *it* * again", "cat", "it")[1:4]
    [{'text': 'cat', 'mark': 'attending'}, {'text': ' saw ', 'mark': None}, {'text': 'it', 'mark': 'attended'}]
    """
    both, bold, italic = f"***{attending}***", f"**{attending}**", f"*{attended}*"
    if attending == attended and both in marked and bold not in marked.replace(both, ""):
        start = marked.index(both)
        places = [(start, start + len(both), attending, "both")]
    else:
        start = marked.find(bold)
        if start < 0:
            return [{"text": marked, "mark": None}]
        places = [(start, start + len(bold), attending, "attending")]
        other = _outside(marked, italic, start, start + len(bold))
        places += [] if other is None else [(other, other + len(italic), attended, "attended")]
    runs: Runs = []
    end = 0
    for start, stop, token, mark in sorted(places):
        runs += [{"text": marked[end:start], "mark": None}, {"text": token or SPACE, "mark": mark}]
        end = stop
    return [run for run in [*runs, {"text": marked[end:], "mark": None}] if run["text"]]


def _apart(runs: Runs) -> Runs:
    """With what stands between a target and its source in a run of its own: the live page reads them as two texts.

    >>> [run["text"] for run in _apart([{"text": "elle", "mark": "attending"}, {"text": "e ← it saw ", "mark": None}])]
    ['elle', 'e', ' ← ', 'it saw ']
    """
    made: Runs = []
    done = False
    for run in runs:
        before, between, after = str(run["text"]).partition(LOOKS_AT)
        if done or run["mark"] is not None or not between:
            made.append(run)
            continue
        made += [{"text": text, "mark": None} for text in (before, between, after) if text]
        done = True
    return made


def _outside(text: str, part: str, start: int, stop: int) -> int | None:
    """Where `part` stands in `text` without touching what is between `start` and `stop`."""
    place = text.find(part)
    while place >= 0 and place < stop and place + len(part) > start:
        place = text.find(part, place + 1)
    return place if place >= 0 else None
