"""One head of one attention, and the four columns that name it in every table."""

from collections.abc import Mapping
from typing import Any, NamedTuple, Self

HEAD = ["stack", "kind", "layer", "head"]


class Head(NamedTuple):
    """One head of one attention.

    >>> head = Head.of({"stack": "encoder", "kind": "self", "layer": 5, "head": 1, "entropy": 0.5})
    >>> head.label, head.name
    ('5.1', 'encoder self 5.1')
    """

    stack: str
    kind: str
    layer: int
    head: int

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Self:
        """The head that a row of a table is about."""
        return cls(str(row["stack"]), str(row["kind"]), int(row["layer"]), int(row["head"]))

    @property
    def label(self) -> str:
        return f"{self.layer}.{self.head}"

    @property
    def name(self) -> str:
        return f"{self.stack} {self.kind} {self.label}"
