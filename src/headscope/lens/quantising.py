"""How a model is quantised while it is opened: by a name, or by transformers' own configuration; plain data either way."""

from __future__ import annotations

import json
import logging
from importlib.util import find_spec
from typing import Any

from headscope.errors import ModelError
from headscope.later import transformers

_TORCHAO_INT8 = {"_type": "Int8WeightOnlyConfig", "_version": 2, "_data": {}}

# What most ask for: the package that does it, and transformers' configuration of it, as it is written in a config.json.
NAMED: dict[str, tuple[str, dict[str, Any]]] = {
    "bitsandbytes-8bit": ("bitsandbytes", {"quant_method": "bitsandbytes", "load_in_8bit": True}),
    "bitsandbytes-4bit": (
        "bitsandbytes", {"quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_quant_type": "nf4"}
    ),
    "quanto-int8": ("optimum.quanto", {"quant_method": "quanto", "weights": "int8"}),
    "quanto-int4": ("optimum.quanto", {"quant_method": "quanto", "weights": "int4"}),
    "torchao-int8": ("torchao", {"quant_method": "torchao", "quant_type": {"default": _TORCHAO_INT8}}),
}  # fmt: skip
_INSTALLED_AS = {"optimum.quanto": "optimum-quanto"}


def as_text(given: Any) -> str | None:
    """A name as it is; a configuration of transformers', or its dictionary, as JSON.

    >>> as_text("quanto-int8"), as_text({"quant_method": "quanto", "weights": "int8"})
    ('quanto-int8', '{"quant_method": "quanto", "weights": "int8"}')
    """
    if given is None or (isinstance(given, str) and given in NAMED):
        return given
    if isinstance(given, str) and not given.startswith("{"):
        raise ModelError(f"{given!r} is no way to quantise a model: write one of {', '.join(NAMED)}.")
    try:
        settings = json.loads(given) if isinstance(given, str) else given if isinstance(given, dict) else given.to_dict()
        return json.dumps(settings, sort_keys=True, default=lambda one: getattr(one, "value", None) or str(one))
    except (AttributeError, ValueError) as error:
        raise ModelError(
            f"A quantization_config is a name ({', '.join(NAMED)}) or one of transformers' configurations, not "
            f"{type(given).__name__}."
        ) from error


def config_of(text: str) -> Any:
    """transformers' configuration behind a name or JSON."""
    package, settings = NAMED.get(text) or (None, json.loads(text))
    if package is not None and not _is_there(package):
        raise ModelError(f"Quantising by {text} needs the package {_INSTALLED_AS.get(package, package)}: pip install it.")
    if settings.get("quant_method") == "bitsandbytes":
        logging.getLogger("bitsandbytes").setLevel(logging.ERROR)  # it says at every layer of every pass that it casts
    try:
        return transformers.quantizers.auto.AutoQuantizationConfig.from_dict(dict(settings))
    except (ImportError, ValueError, TypeError, KeyError) as error:
        said = " ".join(str(error).split())
        raise ModelError(f"The model cannot be quantised as asked for: {said}") from error


def _is_there(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:
        return False
