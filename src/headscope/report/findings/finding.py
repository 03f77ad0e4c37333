"""Finding: something that a run's tables say, as a sentence, with the heads and the numbers that it speaks of."""

from dataclasses import dataclass, field

from headscope.report import schema


@dataclass(frozen=True)
class Finding:
    """`numbers` are all numbers of the text, each with where it stands; `salience` sorts findings of one kind."""

    text: str
    table: str
    heads: list[str] = field(default_factory=list)  # labels
    numbers: list[schema.Number] = field(default_factory=list)
    salience: float = 0.0

    def as_json(self) -> schema.Finding:
        return {"text": self.text, "heads": self.heads, "table": self.table, "numbers": self.numbers}


def listed(parts: list[str], shown: int = 6) -> str:
    """Some things in a sentence, the first few by name.

    >>> listed(["a"]), listed(["a", "b", "c"]), listed(["a", "b", "c"], 2)
    ('a', 'a, b and c', 'a, b and others')
    """
    if len(parts) == 1:
        return parts[0]
    if len(parts) > shown:
        return f"{', '.join(parts[:shown])} and others"
    return f"{', '.join(parts[:-1])} and {parts[-1]}"


def heads(count: int | str) -> str:
    """
    >>> heads("1"), heads(12)
    ('1 head', '12 heads')
    """
    return f"{count} head" if str(count) == "1" else f"{count} heads"
