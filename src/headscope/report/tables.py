"""All tables of a run, by name."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from headscope.study.tables import load_table, table_names


def tables_of(run: str | Path) -> dict[str, pd.DataFrame]:
    """Every table of a run directory, of a study's or of a paper's."""
    folder = Path(run)
    return {name: load_table(folder, name) for name in table_names(folder)}
