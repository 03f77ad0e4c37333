"""Memory of a study of a model that fills it: a random Llama of 1.5 billion parameters in bfloat16, by the command."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from safetensors.torch import save_file
from torch import Tensor
from transformers import LlamaConfig

from benchmarks.long_text import long_text
from benchmarks.memory import in_fresh_process, memory_of
from benchmarks.rows import Row, Target
from benchmarks.settings import Settings

LAYERS, WIDTH, INNER, HEADS, VOCABULARY = 24, 2048, 6784, 16, 49_152  # 1.5 billion parameters: 3 GB
TEXTS, TOKENS = 4, 256
MORE = 1_000  # MB above the model's own


def large_study_memory(settings: Settings) -> list[Row]:
    """Peak memory of a whole study, by weight and norm, above the bytes of a random Llama of 1.5 billion parameters."""
    with TemporaryDirectory() as folder:
        model = in_fresh_process(write_llama, Path(folder), settings.quick)
        peak = in_fresh_process(study_peak, Path(folder))
    more = Target("<=", MORE)
    return [
        Row("the model's bytes", [model], "MB"),
        Row("the whole process", [peak], "MB", peak - model, "MB", "above the model", more),
    ]


def write_llama(folder: Path, quick: bool) -> float:
    """A folder with a random model, its tokenizer and a text; the MB of its parameters."""
    layers, width, inner, heads, vocabulary = (2, 64, 128, 4, 1000) if quick else (LAYERS, WIDTH, INNER, HEADS, VOCABULARY)
    sizes = {"hidden_size": width, "intermediate_size": inner, "num_hidden_layers": layers, "vocab_size": vocabulary}
    shape = {"num_attention_heads": heads, "num_key_value_heads": heads, "max_position_embeddings": 2048}
    config = LlamaConfig(**sizes, **shape, tie_word_embeddings=True, dtype="bfloat16", architectures=["LlamaForCausalLM"])
    config.save_pretrained(folder)
    parameters = _parameters(layers, width, inner, vocabulary)
    save_file(parameters, folder / "model.safetensors", metadata={"format": "pt"})
    tokenizer, text = long_text(TEXTS * TOKENS)
    tokenizer.save_pretrained(folder)
    words = text.split()
    lines = (" ".join(words[start : start + TOKENS]) for start in range(0, len(words), TOKENS))
    (folder / "text.txt").write_text("\n\n".join(lines) + "\n")
    return sum(one.nbytes for one in parameters.values()) / 1e6


def _parameters(layers: int, width: int, inner: int, vocabulary: int) -> dict[str, Tensor]:
    """Normal numbers; matrices are rows of one table, rolled, since drawing them all takes minutes."""
    torch.manual_seed(0)
    table = (0.02 * torch.randn(max(inner, width), width)).bfloat16()
    drawn = 0

    def matrix(rows: int, columns: int) -> Tensor:
        nonlocal drawn
        drawn += 1
        return (table if columns == width else table.T)[:rows, :columns].roll(37 * drawn, 0).contiguous()

    ones = torch.ones(width, dtype=torch.bfloat16)
    found = {"model.embed_tokens.weight": table.repeat(-(-vocabulary // len(table)), 1)[:vocabulary].contiguous()}
    found["model.norm.weight"] = ones
    for layer in range(layers):
        here = f"model.layers.{layer}."
        found |= {f"{here}self_attn.{name}_proj.weight": matrix(width, width) for name in "qkvo"}
        found |= {f"{here}mlp.{name}_proj.weight": matrix(inner, width) for name in ("gate", "up")}
        found[f"{here}mlp.down_proj.weight"] = matrix(width, inner)
        found |= {f"{here}{name}_layernorm.weight": ones.clone() for name in ("input", "post_attention")}
    return found


def study_peak(folder: Path) -> float:
    """MB of this process at its peak, once it has run the command."""
    from headscope.cli import main

    command = ["study", str(folder), str(folder / "text.txt"), "-o", str(folder / "run"), "-m", "weight", "-m", "norm"]
    sys.argv = ["headscope", *command, "--dtype", "auto", "--batch-size", "2"]

    def run() -> None:
        try:
            with redirect_stdout(StringIO()):
                main()
        except SystemExit as ended:
            if ended.code:
                raise RuntimeError(f"The study ended with {ended.code}.") from ended

    return memory_of(run).process_peak
