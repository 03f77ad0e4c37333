"""Mentions written as brackets on their first and last words, as CoNLL-2012 and CoNLL-U write coreference."""

from headscope.text.mention import Mention, in_order
from headscope.text.readers.line_blocks import LineBlock
from headscope.text.readers.lines import Line


class Brackets:
    """Brackets that open and close; of two of the same cluster, the inner one closes first."""

    def __init__(self, block: LineBlock, within: str = "document") -> None:
        self.block = block
        self._within = within
        self._open: dict[str, list[tuple[int, Line]]] = {}
        self._closed: list[Mention] = []

    def add(self, cluster: str, opens: str | None, closes: str | None, start: int, stop: int, line: Line) -> None:
        """A bracket that opens begins a mention at word `start`, one that closes ends it before word `stop`."""
        begun = self._open.setdefault(cluster, [])
        if opens:
            begun.append((start, line))
        if closes:
            if not begun:
                raise self.block.error(line, f"a mention of {cluster!r} ends here that has not begun")
            start, _ = begun.pop()
            if start < stop:  # otherwise it stands on an empty node, which is no word
                self._closed.append(Mention(start, stop, cluster))

    def mentions(self) -> list[Mention]:
        """All of them, in order; ReadingError if one is still open."""
        for cluster, begun in self._open.items():
            for _, line in begun:
                reason = f"a mention of {cluster!r} begins here that does not end in this {self._within}"
                raise self.block.error(line, reason)
        return in_order(self._closed)
