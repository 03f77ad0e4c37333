"""From a name, a folder or a GGUF file to a model and its tokenizer: arrays only, and remote code never by itself.

Weights are safetensors or GGUF, which hold arrays and nothing else, or a pickle (pytorch_model.bin) read through torch's
restricted unpickler, which makes arrays and calls nothing. What that refuses is refused here.
"""

from __future__ import annotations

import copy
import json
import os
import re
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from pickle import UnpicklingError
from typing import Any, cast
from urllib.parse import urlsplit

from safetensors import SafetensorError

from headscope.errors import MissingExtra, ModelError
from headscope.later import PreTrainedModel, huggingface_hub, torch, transformers
from headscope.lens.adapters import adapter_in, with_adapter
from headscope.lens.copies import through_copy
from headscope.lens.placement import PLACED, device_of, offload_folder
from headscope.lens.quiet import quiet
from headscope.lens.text_part import backbone, text_part

_PICKLED = ("pytorch_model.bin", "pytorch_model.bin.index.json")  # whole, or in shards
_OTHER_PICKLES = ("*.bin", "*.pt", "*.pth", "*.ckpt")
_NO_CONVERSION = "DISABLE_SAFETENSORS_CONVERSION"
_SAVE_IT = (
    "save it beside the weights (tokenizer.save_pretrained), or give both in Python, headscope.open(model, tokenizer)."
)


def load(
    source: str | Path,
    *,
    device: str | None = None,
    dtype: str = "float32",
    placed: dict[str, Any] | None = None,
    **options: Any,
) -> tuple[PreTrainedModel, Any]:
    """The model that was saved under `source`, with the head it was saved with, and its tokenizer.

    `placed` says where its parts run and how it is quantised: device_map and quantization_config of transformers.
    """
    placed = {name: value for name, value in (placed or {}).items() if value is not None}
    adapter = adapter_in(source)
    if adapter is not None:
        return with_adapter(adapter, lambda base: load(base, device=device, dtype=dtype, placed=placed, **options))
    folder, gguf = _locate(source)
    _check_device(device or "cpu")
    if gguf is not None and placed:
        raise ModelError(
            f"{source} is a GGUF file, which is opened whole and in one piece: save it once as a folder "
            "(model.save_pretrained), and open that with a device map or quantised."
        )
    if "device_map" in placed:
        placed["offload_folder"] = offload_folder()
    options |= placed
    if gguf is not None:
        model, tokenizer = through_copy(
            Path(folder, gguf),
            _known(dtype),
            lambda: _opened(source, folder, dtype, {**options, "gguf_file": gguf}),
            lambda copied: _named(_opened(source, str(copied), dtype, options), folder),
        )
    else:
        if not Path(folder).is_dir() and _is_offline():
            options["local_files_only"] = True  # at once, instead of half a minute of retries
        model, tokenizer = _opened(source, folder, dtype, options)
    moved: Any = model if device is None else cast(Any, model).to(device)
    return moved, tokenizer


def _opened(source: str | Path, folder: str, dtype: str, options: dict[str, Any]) -> tuple[PreTrainedModel, Any]:
    """What transformers makes of a folder, a hub id, or the GGUF file that options name."""
    precision = "auto" if dtype == "auto" and "gguf_file" not in options else getattr(torch, _known(dtype))
    plain = {name: value for name, value in options.items() if name not in PLACED}
    with quiet(everything="gguf_file" in options), _no_conversion():
        model_class = _attempt(source, lambda: _saved_class(folder, plain))
        # Said out loud, so that neither a default nor torch's environment variable can say otherwise.
        model = _attempt(source, lambda: model_class.from_pretrained(folder, dtype=precision, weights_only=True, **options))
        backbone(text_part(model), str(source))  # a model of pictures has no tokenizer to be missed
        tokenizer = _attempt(source, lambda: _saved_tokenizer(source, folder, plain))
    return model, tokenizer


def _known(dtype: str) -> str:
    """What GGUF files are opened in, where nothing else is asked for: they have many precisions."""
    return "float32" if dtype == "auto" else dtype


def _named(opened: tuple[PreTrainedModel, Any], folder: str) -> tuple[PreTrainedModel, Any]:
    """A copy is called by what it is a copy of."""
    opened[0].config.name_or_path = opened[1].name_or_path = folder
    return opened


@contextmanager
def _no_conversion() -> Iterator[None]:
    """For a pickle on the hub, transformers would ask a service to write to that repository: not because someone reads."""
    before = os.environ.get(_NO_CONVERSION)
    os.environ[_NO_CONVERSION] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[_NO_CONVERSION]
        else:
            os.environ[_NO_CONVERSION] = before


def _check_device(device: str) -> None:
    """Before anything is loaded for nothing."""
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
        twin.to(device=device_of(model), dtype=model.dtype)
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
        socket.getaddrinfo(urlsplit(huggingface_hub.constants.ENDPOINT).hostname, None)
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
    if (path / "modules.json").is_file() and (inside := sorted(path.glob("0_*/config.json"))):
        return str(inside[0].parent), None  # of sentence-transformers, which may keep its model in a folder of its own
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
    if any(folder.glob("*.safetensors")) or any((folder / name).is_file() for name in _PICKLED):
        return
    pickles = sorted(file.name for pattern in _OTHER_PICKLES for file in folder.glob(pattern))
    found = f" ({pickles[0]} is not a name that a model's weights have)" if pickles else ""
    raise ModelError(
        f"{folder} has a config.json but no weights, *.safetensors or pytorch_model.bin{found}: fetch the model again."
    )


def _saved_class(folder: str, options: dict[str, Any]) -> Any:
    """The class that the weights were saved from, so that a language-model head is there when it was."""
    if "gguf_file" in options:  # names no class, and takes seconds to parse each time
        return transformers.AutoModelForCausalLM
    for name in transformers.AutoConfig.from_pretrained(folder, **options).architectures or ():
        if (found := getattr(transformers, name, None)) is not None and hasattr(found, "from_pretrained"):
            return found
    return transformers.AutoModel


def _saved_tokenizer(source: str | Path, folder: str, options: dict[str, Any]) -> Any:
    """The tokenizer that was saved with the model.

    Where its files are missing, transformers fails in as many ways as there are tokenizers, or makes one of special tokens
    alone: to that every word is unknown, and all texts are alike.
    """
    try:
        found = transformers.AutoTokenizer.from_pretrained(folder, **options)
    except (ImportError, OSError):
        raise
    except Exception as error:
        if "trust_remote_code" in str(error):
            raise
        why = first_sentence(error)[:-1]
        raise ModelError(f"{source} has no tokenizer that can be loaded ({why}): {_SAVE_IT}") from error
    if len(set(found.get_vocab()) - set(found.all_special_tokens)) <= 1:  # at most the mark of a space
        raise ModelError(f"{source} has no tokenizer that knows words: {_SAVE_IT}")
    return found


def _attempt(source: str | Path, action: Any) -> Any:
    """Run one of transformers' loaders, and say in one sentence what went wrong."""
    try:
        return action()
    except ImportError as error:
        if "gguf" in str(error).lower() or ("accelerate" in str(error) and _is_gguf(source)):
            raise MissingExtra(f"Reading the GGUF file of {source}", "gguf") from error
        raise ModelError(f"{source} needs a package that is not installed: {first_sentence(error)}") from error
    except UnpicklingError as error:
        raise ModelError(_why_no_pickle(source, error)) from error
    except (OSError, EOFError, ValueError, KeyError, RuntimeError, SafetensorError, struct.error) as error:
        raise ModelError(_explain(source, error)) from error


def _is_gguf(source: str | Path) -> bool:
    path = Path(source)
    return path.suffix == ".gguf" or any(path.glob("*.gguf"))


def _explain(source: str | Path, error: Exception) -> str:
    text = str(error)
    if "trust_remote_code" in text:
        return (
            f"{source} brings code of its own, which is not run unless you say so: "
            "read that code, then pass --trust-remote-code (trust_remote_code=True in Python)."
        )
    if "pytorch_model.bin" in text and not Path(source).exists():
        return f"{source} has no weights on the hub, safetensors or pytorch_model.bin: {first_sentence(error)}"
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


def _why_no_pickle(source: str | Path, error: UnpicklingError) -> str:
    """What torch's restricted unpickler has refused."""
    called = re.search(r"GLOBAL (\S+)", str(error))
    if called is None:
        return f"{source} has weights in a pickle that torch did not write, or that is damaged: fetch the model again."
    return (
        f"{source} has weights in a pickle that holds more than arrays: it asks for {called[1]}, which could run any code "
        "and was not run; there is no switch for it: take the model as safetensors, from someone whom you trust."
    )


def first_sentence(error: Exception) -> str:
    """What an error of another library says, in one line."""
    return " ".join(str(error).split()).split(". ")[0].rstrip(".") + "."
