"""A run's figures, as text that a page shows in an image: what is drawn in one can do nothing."""

from collections.abc import Mapping
from pathlib import Path

from headscope.errors import InputError
from headscope.report.schema import Figure


def figures_of(run: Path, titles: Mapping[str, str]) -> list[Figure]:
    """{name, title, svg} of every figures/*.svg, in the order in which the paper's run made them, then by name."""
    order = {name: place for place, name in enumerate(titles)}
    files = sorted((run / "figures").glob("*.svg"), key=lambda file: (order.get(file.stem, len(order)), file.stem))
    return [{"name": file.stem, "title": titles.get(file.stem, file.stem), "svg": _text(file)} for file in files]


def _text(file: Path) -> str:
    try:
        return file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file} cannot be read as an SVG: make the run's figures again, or take the file away.") from error
