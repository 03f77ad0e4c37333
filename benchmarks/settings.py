"""What a run is asked for: how often to repeat, and whether to try tiny shapes only."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """`quick` replaces every shape by a tiny one: it shows that a benchmark runs, and its numbers mean nothing."""

    repeats: int = 3
    quick: bool = False
