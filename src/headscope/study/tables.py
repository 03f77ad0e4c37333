"""Tables of a run directory: Parquet files, one a statistic."""

from __future__ import annotations

from pathlib import Path

from headscope.files import write_whole
from headscope.later import pa, pd, pq
from headscope.remote import on_this_disk


def save_table(folder: Path, name: str, frame: pd.DataFrame) -> None:
    table = pa.Table.from_pandas(frame, preserve_index=False)
    write_whole(_file(folder, name), lambda unfinished: pq.write_table(table, unfinished))


def table_names(folder: Path) -> list[str]:
    return sorted(file.stem for file in (folder / "tables").glob("*.parquet"))


def read_table(folder: Path, name: str) -> pd.DataFrame:
    with on_this_disk(_file(folder, name)) as file:
        return pq.read_table(file).to_pandas()


def main_stack(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of a model's own reading: the encoder's self attention where there is an encoder, else the decoder's."""
    table = table[table["kind"] == "self"]
    stack = "encoder" if (table["stack"] == "encoder").any() else "decoder"
    return table[table["stack"] == stack].reset_index(drop=True)


def _file(folder: Path, name: str) -> Path:
    return folder / "tables" / f"{name}.parquet"
