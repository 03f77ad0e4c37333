"""The options that commands share, each said once: a flag means the same wherever it stands."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Literal

import typer

from headscope.lens.quantising import NAMED
from headscope.measures import MEASURES
from headscope.remote import as_path

# The model, and how it is opened: the fields of a ModelSource
Model = Annotated[
    str,
    typer.Argument(
        help="A hub id, a folder with a saved model or an adapter, or a GGUF file (extra: gguf).", metavar="MODEL"
    ),
]
Device = Annotated[str | None, typer.Option(help="Where the model runs: cpu, cuda, cuda:1, mps, ... Default: the CPU.")]
Dtype = Annotated[
    str, typer.Option(help="Its precision: float32, bfloat16, float16, float64, or auto (the one that it was saved in).")
]
DeviceMap = Annotated[
    str | None,
    typer.Option(
        metavar="MAP",
        help="For a model that is too large for one device: auto spreads it over all of them and the disk (extra: gguf, for "
        "accelerate); or which part runs where, as JSON.",
    ),
]
Quantize = Annotated[
    str | None,
    typer.Option(metavar="HOW", help=f"Quantise it as it is opened: {', '.join(NAMED)}, or a configuration as JSON."),
]
Revision = Annotated[str | None, typer.Option(help="A branch, tag or commit of a model on the hub.")]
TrustRemoteCode = Annotated[
    bool, typer.Option("--trust-remote-code", help="Run code that comes with the model. Read it first.")
]

# A text to read
Pair = Annotated[str | None, typer.Option(help="A second text, for models that read sentence pairs.")]
Target = Annotated[str | None, typer.Option(help="A translation, for encoder-decoders.")]
Attention = Annotated[str, typer.Option(help="self or cross, after encoder or decoder where a model has both.")]
Truncate = Annotated[bool, typer.Option("--truncate", help="Cut off texts that are too long, which is an error otherwise.")]

# What is counted or shown
_EACH = f"{', '.join(sorted(MEASURES))}"
Measure = Annotated[str, typer.Option("-m", "--measure", metavar="NAME", help=f"One of {_EACH}.")]
Measures = Annotated[
    list[str] | None, typer.Option("-m", "--measure", metavar="NAME", help=f"{_EACH}; may be repeated. Default: weight.")
]
WithoutSinks = Annotated[
    bool | None,
    typer.Option(
        "--without-sinks/--with-sinks",
        help="Leave out special tokens, a decoder's first token, and what most heads of the text park on. "
        "Default: out for a decoder's own attention.",
    ),
]
Renormalise = Annotated[
    bool, typer.Option("--renormalise", help="Without sinks, and what is left of each row adds up to 1.")
]
Level = Annotated[Literal["token", "word"], typer.Option(help="In the tokenizer's pieces, or merged to words.")]

Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="NAME=VALUE", help="A setting that has no flag of its own, of those below; may be repeated."
    ),
]

# Counting over a corpus
ByWord = Annotated[
    bool, typer.Option("--by-word", help="Tokenise the words of a treebank one by one, not the text that they were.")
]
KeepMarks = Annotated[bool, typer.Option("--keep-marks", help="Leave WikiText's marks, such as @-@, in the text.")]
Output = Annotated[
    Path,
    typer.Option(
        "-o", "--output", metavar="RUN", parser=as_path, help="The run directory; an unfinished run there goes on."
    ),
]
BatchSize = Annotated[int, typer.Option(min=1, metavar="N", help="Texts at a time.")]
MaxTokens = Annotated[
    int | None, typer.Option(min=1, metavar="N", help="Most tokens of a text, below the model's own limit.")
]
OnError = Annotated[
    Literal["stop", "skip"], typer.Option(help="At what cannot be read: stop, or pass over it and count it.")
]

Engine = Annotated[
    Literal["local", "ray"], typer.Option(help="Who counts: local (this process), or ray (workers; extra: ray).")
]
Address = Annotated[
    str | None, typer.Option(metavar="HOST:PORT", help="Of a Ray cluster, or auto. Default: Ray begins on this machine.")
]
Workers = Annotated[
    int | None, typer.Option(min=1, metavar="N", help="Ray's. Default: one a GPU, or as many as the cores allow.")
]

# What is said in the end
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for machines.")]


def settings_said(settings: Iterable[tuple[str, str]]) -> str:
    """What --help says below the options of what --set can set: each with its usual value, and what it is about."""
    lines = [f"{name}  {says}" for name, says in settings]
    return "\n\n".join(["Settings for --set, each with its usual value:", *lines])
