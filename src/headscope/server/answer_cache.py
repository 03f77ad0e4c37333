"""AnswerCache: the last few answers, so that going back to a text is immediate; never more than so many bytes."""

from collections import OrderedDict


class AnswerCache:
    """The answers asked for last.

    >>> answers = AnswerCache(5)
    >>> answers.keep("a", b"123"), answers.keep("b", b"456"), answers.get("a"), answers.get("b")
    (None, None, None, b'456')
    """

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self.bytes = 0
        self._kept: OrderedDict[str, bytes] = OrderedDict()

    def get(self, request: str) -> bytes | None:
        if request not in self._kept:
            return None
        self._kept.move_to_end(request)
        return self._kept[request]

    def keep(self, request: str, answer: bytes) -> None:
        if request in self._kept or len(answer) > self.max_bytes:
            return
        self._kept[request] = answer
        self.bytes += len(answer)
        while self.bytes > self.max_bytes:
            self.bytes -= len(self._kept.popitem(last=False)[1])
