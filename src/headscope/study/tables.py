"""Tables of a run: Parquet files, one a statistic."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from headscope.errors import InputError
from headscope.files import write_whole
from headscope.study.manifest import load_manifest


def save_table(run: Path, name: str, frame: pd.DataFrame) -> None:
    table = pa.Table.from_pandas(frame, preserve_index=False)
    write_whole(run / "tables" / f"{name}.parquet", lambda unfinished: pq.write_table(table, unfinished))


def table_names(run: Path) -> list[str]:
    """The tables of a run, by name."""
    load_manifest(run)  # says so if this is no run
    return sorted(file.stem for file in (run / "tables").glob("*.parquet"))


def load_table(run: str | Path, name: str) -> pd.DataFrame:
    """A table of a run: `load_table("RUN", "entropy")`."""
    run = Path(run)
    names = table_names(run)
    if name not in names:
        have = f"it has {', '.join(names)}" if names else "it is not finished; run the same command again"
        raise InputError(f"{run} has no table {name!r}: {have}.")
    return pq.read_table(run / "tables" / f"{name}.parquet").to_pandas()
