"""The coreference that CorefUD writes into CoNLL-U's last column: `Entity=(e1-person-1-...)`, `(e1-...` and `e1)`."""

import re

from headscope.text.readers.brackets import Brackets
from headscope.text.readers.lines import Line

KEY = "Entity="
_BRACKET = re.compile(r"(\()?([^()\[\]-]+)(?:\[([0-9]+)/[0-9]+\])?(-[^()]*)?(\))?")


def read_entities(misc: str, start: int, stop: int, line: Line, brackets: Brackets) -> None:
    """Open brackets begin a mention at word `start`, closing ones end it before word `stop`.

    A mention in several parts (`e1[1/2]`) counts as its first part: a mention here is words in a row.
    """
    for value in (value.removeprefix(KEY) for value in misc.split("|") if value.startswith(KEY)):
        at = 0
        while at < len(value):
            match = _BRACKET.match(value, at)
            if match is None or not (match[1] or match[5]):
                reason = f"Entity is {value!r}, which is no list of brackets such as (e1-person-1)e2)"
                raise brackets.block.error(line, reason)
            at = match.end()
            if match[3] in (None, "1"):
                brackets.add(match[2], match[1], match[5], start, stop, line)
