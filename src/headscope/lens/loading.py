"""From a name, a folder or a GGUF file to a model and its tokenizer; safetensors only, remote code never by itself."""

import copy
import json
import os
import socket
import struct
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import torch
import transformers
from huggingface_hub import constants
from safetensors import SafetensorError
from transformers import AutoConfig, AutoModel, AutoModelForCausalLM, AutoTokenizer, PreTrainedModel

from headscope.errors import MissingExtra, ModelError
from headscope.lens.quiet import quiet
from headscope.lens.text_part import backbone, text_part

_PICKLES = ("*.bin", "*.pt", "*.pth", "*.ckpt")


def load(
    source: str | Path, *, device: str | None = None, dtype: torch.dtype = torch.float32, **options: Any
) -> tuple[PreTrainedModel, Any]:
    """The model that was saved under `source`, with the head it was saved with, and its tokenizer."""
    _check_device(device or "cpu")
    folder, gguf = _locate(source)
    if gguf is not None:
        options["gguf_file"] = gguf
    elif not Path(folder).is_dir() and _is_offline():
        options["local_files_only"] = True  # at once, instead of half a minute of retries
    with quiet(everything=gguf is not None):
        model_class = _attempt(source, lambda: _saved_class(folder, options))
        # A GGUF file holds arrays and no code; anything else must be safetensors.
        safe = None if gguf is not None else True
        model = _attempt(source, lambda: model_class.from_pretrained(folder, dtype=dtype, use_safetensors=safe, **options))
        backbone(text_part(model), str(source))  # a model of pictures has no tokenizer to be missed
        tokenizer = _attempt(source, lambda: AutoTokenizer.from_pretrained(folder, **options))
    if device is not None:
        model = model.to(device)
    return model, tokenizer


def _check_device(device: str) -> None:
    """First of all: a large model is not loaded for nothing."""
    try:
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise ModelError(
            f"This machine has no device {device} for torch ({first_sentence(error)[:-1]}): take cpu."
        ) from error


def random_twin(model: PreTrainedModel, seed: int, keep_embeddings: bool = False) -> PreTrainedModel:
    """A model of the same class and configuration with fresh random weights; the global random state is left alone.

    `keep_embeddings` keeps the trained word, position and token-type embeddings (the baseline of clark2019, section 5).
    """
    with torch.random.fork_rng(), quiet():
        torch.manual_seed(seed)
        twin: Any = type(model)(copy.deepcopy(model.config))
        twin.to(device=model.device, dtype=model.dtype)
    if keep_embeddings:
        trained = _embeddings(model)
        with torch.no_grad():
            for name, table in _embeddings(twin).items():
                table.weight.copy_(trained[name].weight)
    return twin


def _embeddings(model: PreTrainedModel) -> dict[str, torch.nn.Embedding]:
    """Every table of vectors as wide as a token's vector, by name.

    Not among them: biases inside the attention (T5's table has a number a head), and the LayerNorm after the
    embeddings, which is a weight like others.
    """
    config = model.config.get_text_config()
    words: Any = model.get_input_embeddings()
    widths = {words.weight.shape[1], getattr(config, "hidden_size", None)}
    tables = {name: module for name, module in model.named_modules() if isinstance(module, torch.nn.Embedding)}
    return {name: table for name, table in tables.items() if table.weight.shape[1] in widths}


def _is_offline() -> bool:
    """Whether the hub's name cannot be resolved (behind a proxy, that says nothing)."""
    if any(name.lower().endswith("_proxy") for name in os.environ):
        return False
    try:
        socket.getaddrinfo(urlsplit(constants.ENDPOINT).hostname, None)
    except OSError:
        return True
    return False


def _locate(source: str | Path) -> tuple[str, str | None]:
    """What to pass to transformers: a hub id or folder, and the name of a GGUF file in it."""
    path = Path(source).expanduser()
    if path.is_file():
        if path.suffix == ".gguf":
            return str(path.parent), path.name
        raise ModelError(f"{path} is a file, not a model: give the folder that has config.json, or a .gguf file.")
    if not path.is_dir():
        if str(source).startswith((".", "/", "~")) or str(source).count("/") > 1:
            raise ModelError(f"There is no folder {source}: check the path, or give the id of a model on the hub.")
        return str(source), None
    if (path / "config.json").is_file():
        _check_weights(path)
        return str(path), None
    gguf = sorted(path.glob("*.gguf"))
    if len(gguf) == 1:
        return str(path), gguf[0].name
    if gguf:
        raise ModelError(f"{path} has {len(gguf)} GGUF files: name one of them, for example {gguf[0]}.")
    raise ModelError(f"{path} has no config.json and no GGUF file: it is not a folder with a saved model.")


def _check_weights(folder: Path) -> None:
    try:
        json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (ValueError, OSError) as error:
        raise ModelError(f"{folder / 'config.json'} cannot be read ({error}): fetch the model again.") from error
    if any(folder.glob("*.safetensors")):
        return
    pickles = sorted(file.name for pattern in _PICKLES for file in folder.glob(pattern))
    if pickles:
        raise ModelError(
            f"{folder} has its weights only as a pickle ({pickles[0]}), which can run any code when it is loaded; "
            "headscope reads safetensors only and has no switch for this on purpose: convert it first with "
            "model.save_pretrained(folder)."
        )
    raise ModelError(f"{folder} has a config.json but no weights (*.safetensors): fetch the model again.")


def _saved_class(folder: str, options: dict[str, Any]) -> Any:
    """The class that the weights were saved from, so that a language-model head is there when it was."""
    if "gguf_file" in options:  # names no class, and takes seconds to parse each time
        return AutoModelForCausalLM
    for name in AutoConfig.from_pretrained(folder, **options).architectures or ():
        if (found := getattr(transformers, name, None)) is not None and hasattr(found, "from_pretrained"):
            return found
    return AutoModel


def _attempt(source: str | Path, action: Any) -> Any:
    """Run one of transformers' loaders, and say in one sentence what went wrong."""
    try:
        return action()
    except ImportError as error:
        if "gguf" in str(error).lower() or "accelerate" in str(error):
            raise MissingExtra(f"Reading the GGUF file of {source}", "gguf") from error
        raise ModelError(f"{source} needs a package that is not installed: {first_sentence(error)}") from error
    except (OSError, ValueError, KeyError, RuntimeError, SafetensorError, struct.error) as error:
        raise ModelError(_explain(source, error)) from error


def _explain(source: str | Path, error: Exception) -> str:
    text = str(error)
    if "trust_remote_code" in text:
        return (
            f"{source} brings code of its own, which is not run unless you say so: "
            "read that code, then pass --trust-remote-code (trust_remote_code=True in Python)."
        )
    if "pytorch_model.bin" in text or ("safetensors" in text and "not" in text and not Path(source).exists()):
        return f"{source} has no safetensors weights on the hub; headscope does not load pickles: {first_sentence(error)}"
    if "gated" in text.lower() or "401" in text or "403" in text:
        return f"{source} is not open to you on the hub: log in with `hf auth login`, or check the name."
    if "does not recognize this architecture" in text or "Unrecognized model" in text:
        return f"{source}: this version of transformers ({transformers.__version__}) does not know its architecture."
    if not Path(source).exists():
        return (
            f"The model {source!r} is not a folder here, not in the local cache, and could not be fetched from the hub: "
            "check the name and the network, or give a local folder."
        )
    return f"{source} cannot be loaded: {first_sentence(error)}"


def first_sentence(error: Exception) -> str:
    """What an error of another library says, in one line."""
    return " ".join(str(error).split()).split(". ")[0].rstrip(".") + "."
