"""The tools that read attention, by name. A tool is imported when it is opened: not all are installed everywhere."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec

from comparisons.models import Model
from comparisons.readers.reader import Reader
from comparisons.table import OURS, named

FORMULAS = "the papers' formulas"
_READERS = {  # tool: (package, module here, class)
    OURS: ("headscope", "headscope_lens", "HeadscopeLens"),
    "TransformerLens": ("transformer-lens", "transformer_lens_bridge", "TransformerLensBridge"),
    "nnsight": ("nnsight", "nnsight_trace", "NNsightTrace"),
    FORMULAS: ("transformers", "papers_formulas", "PapersFormulas"),
}


def installed() -> list[str]:
    """The tools that can be opened here."""
    return [tool for tool, (package, _, _) in _READERS.items() if find_spec(package.replace("-", "_")) is not None]


def open_reader(tool: str, model: Model) -> Reader:
    _, module, name = _READERS[tool]
    made: Reader = getattr(import_module(f"comparisons.readers.{module}"), name)(model)
    return made


def titled(tool: str) -> str:
    """The tool with its version; formulas have none."""
    return tool if tool == FORMULAS else named(_READERS[tool][0], tool)
