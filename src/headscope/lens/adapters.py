"""An adapter's folder: the base model that it names, with the adapter on it (peft)."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from headscope.errors import ModelError
from headscope.later import PreTrainedModel, transformers
from headscope.lens.unwrapping import unwrapped

CONFIG = "adapter_config.json"


def adapter_in(source: str | Path) -> Path | None:
    """The folder, where it has an adapter and no model of its own."""
    folder = Path(source).expanduser()
    return folder if (folder / CONFIG).is_file() and not (folder / "config.json").is_file() else None


def base_of(folder: Path) -> str:
    """The model that an adapter is for: a folder or a hub id."""
    try:
        base = json.loads((folder / CONFIG).read_text(encoding="utf-8")).get("base_model_name_or_path")
    except ValueError as error:
        raise ModelError(f"{folder / CONFIG} cannot be read ({error}): fetch the adapter again.") from error
    if not base:
        raise ModelError(
            f"{folder / CONFIG} does not name the model that the adapter is for: fill in base_model_name_or_path."
        )
    return str(base)


def with_adapter(folder: Path, load: Callable[[str], tuple[PreTrainedModel, Any]]) -> tuple[PreTrainedModel, Any]:
    """The base model as `load` opens it, with the adapter on it; and the adapter's own tokenizer, where it has one."""
    if find_spec("peft") is None:
        raise ModelError(f"{folder} has an adapter, which needs the package peft: pip install peft.")
    base = base_of(folder)
    try:
        model, tokenizer = load(base)
    except ModelError as error:
        raise ModelError(
            f"{folder} has an adapter for {base}, which cannot be opened ({str(error).rstrip('.')}): "
            "write where it is into base_model_name_or_path of adapter_config.json."
        ) from error
    try:
        adapted = import_module("peft").PeftModel.from_pretrained(model, str(folder))
    except (ValueError, RuntimeError, OSError, KeyError) as error:
        said = " ".join(str(error).split()).split(". ")[0]
        raise ModelError(f"{folder} has an adapter that does not fit {base}: {said}.") from error
    if (folder / "tokenizer_config.json").is_file():
        tokenizer = transformers.AutoTokenizer.from_pretrained(str(folder))
    return unwrapped(adapted).model, tokenizer
