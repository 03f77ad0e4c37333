"""A head's exemplars as runs of text with marks: who looks is `attending`, what is looked at `attended`. Never HTML."""

from collections.abc import Mapping
from typing import Any

from headscope.heads.exemplars import readable_tables
from headscope.lens.head import Head
from headscope.report.schema import Exemplar, Mark, Marked
from headscope.study.run import Run

SPACE = "\u2423"  # an open box: a token that is nothing but space must be seen too

Span = tuple[int, int]


def exemplars_of(run: Run) -> dict[Head, list[Exemplar]]:
    """By head, its exemplars in the first table that has readable ones, a study's or a paper's."""
    found: dict[Head, list[Exemplar]] = {}
    for name in readable_tables(run)[:1]:
        for row in run[name].sort_values("rank", kind="stable").to_dict("records"):
            found.setdefault(Head.of(row), []).append(exemplar(row))
    return found


def exemplar(row: Mapping[str, Any], around: int | None = None) -> Exemplar:
    """A row of readable exemplars; of a long text only what is `around` the marks, in characters."""
    attending, attended = ((int(row[f"{end}_start"]), int(row[f"{end}_stop"])) for end in ("attending", "attended"))
    marks: dict[Span, Mark] = {attending: "attending"}
    attended_runs: list[Marked] = []
    if row["attended_text"]:
        attended_runs = marked(row["attended_text"], {attended: "attended"}, around)
    else:
        marks[attended] = "both" if attending == attended else "attended"
    return {
        "score": float(row["score"]),
        "attending": row["attending"] or SPACE,
        "attended": row["attended"] or SPACE,
        "runs": marked(row["text"], marks, around),
        "attended_runs": attended_runs,
        "source": source_of(row["source"] or ""),
    }


def marked(text: str, marks: Mapping[Span, Mark], around: int | None = None) -> list[Marked]:
    """A text cut at its marked spans; what is further from them than `around` is left out.

    >>> marked("The cat saw it", {(4, 7): "attending", (12, 14): "attended"})[1:3]
    [{'text': 'cat', 'mark': 'attending'}, {'text': ' saw ', 'mark': None}]
    """
    around = len(text) if around is None else around
    begin, end = max(0, min(marks)[0] - around), min(len(text), max(marks)[1] + around)
    runs = [Marked(text="… ", mark=None, sign=True)] if begin else []
    for (start, stop), mark in sorted(marks.items()):
        start = max(start, begin)  # pieces of one character may overlap
        there = Marked(text=text[start:stop], mark=mark) if start < stop else Marked(text=SPACE, mark=mark, sign=True)
        runs += [Marked(text=text[begin:start], mark=None), there]
        begin = max(begin, stop)
    runs.append(Marked(text=text[begin:end], mark=None))
    if end < len(text):
        runs.append(Marked(text=" …", mark=None, sign=True))
    return [run for run in runs if run["text"]]


def source_of(document: str) -> str:
    """Where a text is from, for others: of a path only its end, since a report is sent to them.

    >>> source_of("/home/ann/texts/wiki.txt:12"), source_of("newsgroup-1")
    ('wiki.txt:12', 'newsgroup-1')
    """
    return document.replace("\\", "/").rpartition("/")[2]
