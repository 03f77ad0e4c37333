"""ModelSource: a model's recipe, plain data from which any process opens the same model; and `open`, which makes one."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Self

from headscope.errors import ModelError
from headscope.later import PreTrainedModel, torch
from headscope.lens.lens import Lens
from headscope.lens.loading import load, random_twin
from headscope.lens.placement import device_of
from headscope.lens.quantising import as_text, config_of
from headscope.lens.text_part import text_part
from headscope.lens.unwrapping import unwrapped

NO_NAMES = ("model", "checkpoint", "final")  # of a folder: what is above it says more

# What torch can keep weights in and on, said here so that a wrong name is refused before torch is loaded; a test asks torch.
DTYPES = (
    "float32", "float64", "float16", "bfloat16", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz",
    "float8_e8m0fnu",
)  # fmt: skip
DEVICE_MAPS = ("auto", "balanced", "balanced_low_0", "sequential")
_SHORT_DTYPES = {"float": "float32", "double": "float64", "half": "float16"}
DEVICES = (
    "cpu", "cuda", "mps", "xpu", "hpu", "xla", "mtia", "meta", "npu", "privateuseone", "hip", "ipu", "maia", "ve", "vulkan",
)  # fmt: skip

MACHINE = ("device", "device_map", "trust_remote_code")  # where it runs, and whether its code may: each machine's own affair


@dataclass(frozen=True)
class ModelSource:
    """What to open, where, in which precision, at which revision, and whether trained or its random twin.

    >>> ModelSource("/home/ann/models/bert", random_init=0).name
    'bert'
    """

    model: str  # a hub id, a folder, or a GGUF file
    device: str | None = None  # "cpu", "cuda:0"; None: the one that models are loaded to
    dtype: str = "float32"  # "auto": the one that it was saved in
    revision: str | None = None
    trust_remote_code: bool = False
    random_init: int | None = None  # a seed: the randomly initialised twin instead
    keep_embeddings: bool = False  # the twin's embeddings are the trained ones
    name: str = ""  # what people call it; without one, the end of a path, or the hub id
    device_map: str | None = None  # instead of a device: "auto", or which part runs where, as JSON
    quantization: str | None = None  # one of quantising.NAMED, or transformers' configuration of it, as JSON

    def __post_init__(self) -> None:
        if not str(self.model).strip():
            raise ModelError("The model has no name: give a hub id, a folder with a saved model, or a GGUF file.")
        plain = {
            "model": str(self.model),
            "device": None if self.device is None else _device(str(self.device)),
            "dtype": _dtype(str(self.dtype).removeprefix("torch.")),
            "name": self.name or short_name(str(self.model)),
            "device_map": _device_map(self.device_map),
            "quantization": as_text(self.quantization),
        }
        for field, value in plain.items():
            object.__setattr__(self, field, value)
        if self.keep_embeddings and self.random_init is None:
            raise ModelError("keep_embeddings is about a randomly initialised twin: give its seed too, random_init=0.")
        if self.device_map is not None and self.device is not None:
            raise ModelError("A device map says where every part of a model runs: leave out the device.")

    def open(self) -> Lens:
        """A lens on the model; close it (or use `with`) when done."""
        return self._watched(*self._loaded())

    def describe(self) -> dict[str, Any]:
        """What a manifest says of it."""
        return {field: value for field, value in asdict(self).items() if field not in MACHINE}

    @classmethod
    def described_as(cls, model: dict[str, Any], **machine: Any) -> Self:
        """The recipe behind what `describe` gave, in a manifest that may have more to say."""
        return cls(
            **{field.name: model[field.name] for field in fields(cls) if field.name in model.keys() - MACHINE}, **machine
        )

    def _loaded(self) -> tuple[PreTrainedModel, Any]:
        options = {"trust_remote_code": self.trust_remote_code} | ({"revision": self.revision} if self.revision else {})
        placed = {"device_map": None if self.device_map is None else as_device_map(self.device_map)}
        if self.quantization is not None:
            placed["quantization_config"] = config_of(self.quantization)
        return load(self.model, device=self.device, dtype=self.dtype, placed=placed, **options)

    def _watched(self, model: PreTrainedModel, tokenizer: Any) -> Lens:
        model = text_part(model)
        if self.random_init is not None:
            model = random_twin(model, self.random_init, self.keep_embeddings)
        return Lens(model, tokenizer, self)


class ModelInHand(ModelSource):
    """A model, or its tokenizer, that was given as an object: it can be described, but not opened again."""

    def open(self) -> Lens:
        raise ModelError(
            f"{self.name} was given as an object, so it cannot be opened elsewhere: save the model and its tokenizer with "
            "save_pretrained, and open their folder."
        )


def open(
    model: Any,
    tokenizer: Any = None,
    *,
    device: str | torch.device | None = None,
    dtype: str | torch.dtype = "float32",
    revision: str | None = None,
    trust_remote_code: bool = False,
    random_init: int | None = None,
    keep_embeddings: bool = False,
    name: str = "",
    device_map: str | dict[str, Any] | None = None,
    quantization_config: Any = None,
) -> Lens:
    """Open a model: a hub id, a local folder, an adapter's folder, a GGUF file (or a folder with one), or a model in hand.

    The lens reads the model's attention; close it (or use `with`) to get the model back as it was. A model in hand stays
    where it is and as precise as it is. `random_init`, a seed, opens the model's randomly initialised twin instead: the
    same configuration and tokenizer, weights as before training (but for its embeddings, with `keep_embeddings`).
    `name` is what reports call it. `device_map` ("auto") spreads a large model over devices and the disk, as accelerate
    does; `quantization_config` is one of transformers', or a name ("quanto-int8").

    A model in hand may be wrapped: a pipeline, a SentenceTransformer, a PeftModel with its active adapters, compiled, in
    DataParallel. It comes with its tokenizer where the wrapper has one.
    """
    twin: Any = {"random_init": random_init, "keep_embeddings": keep_embeddings, "name": name}
    if not isinstance(model, (str, Path)):
        if device_map is not None or quantization_config is not None:
            raise ModelError("A model in hand stays where it is and as it is: leave out device_map and quantization_config.")
        inside, own_tokenizer, adapters = unwrapped(model)
        known_as = inside.config.name_or_path or type(inside).__name__
        twin["name"] = name or " + ".join((short_name(known_as), *adapters))
        in_hand = ModelInHand(known_as, str(device_of(inside)), str(inside.dtype), **twin)
        return in_hand._watched(inside, own_tokenizer if tokenizer is None else tokenizer)
    twin |= {"device_map": device_map, "quantization": quantization_config}
    given = (str(model), None if device is None else str(device), str(dtype), revision, trust_remote_code)
    if tokenizer is None:
        return ModelSource(*given, **twin).open()
    source = ModelInHand(*given, **twin)
    return source._watched(source._loaded()[0], tokenizer)


def short_name(model: str) -> str:
    """A hub id as it is; of a path only its end, since a report is sent to others.

    >>> short_name("/home/ann/models/bert"), short_name("org/bert"), short_name("/opt/minilm/model")
    ('bert', 'org/bert', 'minilm/model')
    """
    parts = [part for part in Path(model).parts if part not in ("/", ".", "..")]
    if not parts:  # "." and "..": where one stands
        return Path(model).resolve().name or model
    is_path = len(parts) != 2 or model.startswith(("/", "."))
    return "/".join(parts[-1:] if is_path and parts[-1] not in NO_NAMES else parts[-2:])


def as_device_map(text: str) -> str | dict[str, Any]:
    """What accelerate takes: a word, or which part of a model runs where."""
    return json.loads(text) if text.startswith("{") else text


def _device_map(given: Any) -> str | None:
    """A word as it is, a dictionary as JSON; what is neither is refused.

    >>> _device_map({"": "cpu"}), _device_map("auto")
    ('{"": "cpu"}', 'auto')
    """
    if given is None or given in DEVICE_MAPS:
        return given
    try:
        read = json.loads(given) if isinstance(given, str) else given
        if isinstance(read, dict):
            return json.dumps(read, default=str)
    except ValueError:
        pass
    raise ModelError(
        f'{given!r} is no device map: write {", ".join(DEVICE_MAPS)}, or which part runs where, as {{"": "cpu"}}.'
    )


def _dtype(name: str) -> str:
    """torch's own name of it: "float32", also for "float"."""
    own = _SHORT_DTYPES.get(name, name)
    if own not in (*DTYPES, "auto"):
        raise ModelError(f"{name!r} is no precision of weights: write float32, bfloat16, float16, float64 or auto.")
    return own


def _device(name: str) -> str:
    kind, _, number = name.partition(":")
    if kind not in DEVICES or (":" in name and not (number.isdecimal() and number == str(int(number)))):
        raise ModelError(f"{name!r} is no device: write cpu, cuda, cuda:1, mps, ...")
    return name
