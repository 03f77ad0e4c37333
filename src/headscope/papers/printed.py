"""What a paper prints, beside which stands what was counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from headscope.later import pd


@dataclass(frozen=True)
class Printed:
    """A table as it stands in the paper."""

    rows: list[tuple[Any, ...]]
    columns: list[str]

    @property
    def frame(self) -> pd.DataFrame:
        return pd.DataFrame(self.rows, columns=self.columns)
