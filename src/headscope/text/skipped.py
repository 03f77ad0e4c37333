"""What a corpus passed over: how much, and the first examples with their places and reasons."""

from dataclasses import dataclass, field
from typing import Any

from headscope.errors import ReadingError

EXAMPLES = 20


@dataclass
class Skipped:
    """Counts everything, keeps the first few."""

    count: int = 0
    examples: list[ReadingError] = field(default_factory=list)

    def add(self, error: ReadingError) -> None:
        self.count += 1
        if len(self.examples) < EXAMPLES:
            self.examples.append(error)

    def describe(self) -> dict[str, Any]:
        return {"count": self.count, "examples": [f"{error.place}: {error.reason}" for error in self.examples]}

    def __str__(self) -> str:
        """
        >>> skipped = Skipped()
        >>> skipped.add(ReadingError("a.txt, line 3", "the line is not UTF-8"))
        >>> print(skipped)
        1 skipped
          a.txt, line 3: the line is not UTF-8
        """
        lines = [f"{self.count} skipped", *(f"  {error.place}: {error.reason}" for error in self.examples)]
        if self.count > len(self.examples):
            lines.append(f"  ... and {self.count - len(self.examples)} more")
        return "\n".join(lines)
