"""The form of plain text: paragraphs that blank lines part, or one a line, as in WikiText, with its headings and marks.

Merity et al. (2016) write `guest @-@ starring` and `1 @,@ 000 @.@ 5` where the article has `guest-starring` and `1,000.5`,
and leave no blank line between two paragraphs: by blank lines, a whole section would be one.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Literal

from headscope.text.readers.lines import HEAD, Line, head_of

Form = Literal["wikitext", "paragraph lines"]

WRAPPED = 120  # characters: lines that are broken to fit a screen are shorter than that
_MARK = re.compile(r" @([-,.])@ ")


def heading_level(paragraph: str) -> int:
    """How many equals signs stand on either side of a heading in WikiText or MediaWiki; 0 for any other paragraph.

    >>> [heading_level(line) for line in ("= Nero =", "= = Career = =", "== Career ==", "a = b")]
    [1, 2, 2, 0]
    """
    title = paragraph.strip("= ")
    if not title or not (paragraph.startswith("=") and paragraph.endswith("=")):
        return 0
    before, after = paragraph.split(title, 1)
    return before.count("=") if before.count("=") == after.count("=") else 0


def form_of(lines: Sequence[str]) -> Form | None:
    """The form of a plain text, judged by its first lines; None where blank lines part its paragraphs.

    A paragraph a line is more than fits a screen, or begins and ends with a space as WikiText's do. Headings with spaces
    inside of their equals signs are WikiText's alone.

    >>> form_of([" = Nero = ", "", " A ruler of Rome . ", " He sang . "])
    'wikitext'
    >>> form_of(["= Nero =", "", "A ruler of Rome,", "broken into lines."]) is None
    True
    >>> form_of(["A long paragraph. " * 9, "Another one, as long. " * 9])
    'paragraph lines'
    """
    filled = [line for line in lines if line.strip()]
    body = [line for line in filled if not _is_heading(line)]
    long = sum(len(line) > WRAPPED for line in body)
    spaced = sum(line.startswith(" ") and line.endswith(" ") for line in body)
    if len(body) < len(filled) and 2 * max(long, spaced) > len(body):
        return "wikitext"
    return "paragraph lines" if 2 * long > len(body) and not _are_apart(lines) else None


def form_of_file(path: Path) -> Form | None:
    """The same of a file, by its first bytes; None of what cannot be read twice, such as a pipe."""
    if not path.is_file():
        return None
    head = head_of(path)
    lines = head.decode("utf-8-sig", errors="replace").replace("\r", "").split("\n")
    return form_of(lines[:-1] if len(head) == HEAD else lines)


def one_a_line(lines: Iterable[Line], form: Form, *, keep_marks: bool = False) -> Iterator[Line]:
    """The lines with a blank one behind each, so that each is a paragraph; of WikiText, with words as they were written.

    >>> [line.text for line in one_a_line([Line(1, " a guest @-@ star in 1 @,@ 000 films "), Line(2, " b ")], "wikitext")]
    [' a guest-star in 1,000 films ', '', ' b ', '']
    """
    undone = form == "wikitext" and not keep_marks
    for line in lines:
        yield line._replace(text=_MARK.sub(r"\1", line.text)) if undone else line
        yield Line(line.number, "")


def _are_apart(lines: Sequence[str]) -> bool:
    """Whether a blank line stands between any two that are filled."""
    return not any(one.strip() and other.strip() for one, other in pairwise(lines))


def _is_heading(line: str) -> bool:
    """Only WikiText has spaces inside of its equals signs."""
    heading = line.strip()
    return heading.startswith("= ") and heading.endswith(" =") and heading_level(heading) > 0
