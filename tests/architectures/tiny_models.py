"""A tiny random model of every text architecture in transformers, with a padded batch of text for it.

`python -m tests.architectures.tiny_models [model type ...]` builds and runs them all and prints what each returns.
"""

import inspect
import sys
import time
import zlib
from dataclasses import dataclass

import torch
import transformers
from torch import Tensor, nn
from transformers import PreTrainedConfig, PreTrainedModel
from transformers.models.auto import modeling_auto

from .overrides import NEEDS_MORE_THAN_TEXT
from .tiny_configs import VOCABULARY, tiny_config

# A type that stands in several mappings is built for the first of them.
MAPPINGS = {
    "seq2seq": dict(modeling_auto.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES),
    "masked": dict(modeling_auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES),
    "causal": dict(modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES),
}
ARCHITECTURES: tuple[str, ...] = tuple(sorted(set().union(*MAPPINGS.values())))
ROWS, SOURCE_TOKENS, TARGET_TOKENS, PADDED_TOKENS = 2, 11, 7, 2
RESERVED = 8  # the first ids, which some architectures give a meaning without a field for it
GAIN = 1.4  # of every matrix: at 1, attention is still nearly even; at 2, the largest weights saturate
STATE_SPACE = ("A_log", "D", "dt_bias")  # a recurrence is stable with few of their values: theirs stay


class CannotBuild(Exception):
    """This architecture cannot run on text alone, or not here; the message says why."""


@dataclass(frozen=True)
class TinyModel:
    model_type: str
    task: str  # "causal", "masked" or "seq2seq"
    model: PreTrainedModel
    inputs: dict[str, Tensor]


def build(model_type: str) -> TinyModel:
    """The same model and text at every call. Raises `CannotBuild` where there is no such thing."""
    if model_type not in ARCHITECTURES:
        raise ValueError(f"transformers {transformers.__version__} maps no language model to {model_type!r}.")
    if model_type in NEEDS_MORE_THAN_TEXT:
        raise CannotBuild(NEEDS_MORE_THAN_TEXT[model_type])
    with torch.random.fork_rng():
        torch.manual_seed(zlib.crc32(model_type.encode()))
        mapped_task, class_name = mapped_class(model_type)
        model = random_model(model_type, class_name)
        task = task_of(mapped_task, model.config)
        return TinyModel(model_type, task, model, text_for(model.config, task))


def mapped_class(model_type: str) -> tuple[str, str]:
    """(task, name of the class)"""
    return next((task, names[model_type]) for task, names in MAPPINGS.items() if model_type in names)


def random_model(model_type: str, class_name: str) -> PreTrainedModel:
    try:
        model_class = getattr(transformers, class_name)
        config = tiny_config(model_type)
        if not isinstance(config, model_class.config_class):  # the model is one part of a composite type
            config = next(part for part in vars(config).values() if isinstance(part, model_class.config_class))
        model = model_class._from_config(config, attn_implementation="eager").float().eval()
    except ImportError as error:
        raise CannotBuild(str(error).strip().split(". ")[0].split("\n")[0] + ".") from error
    if getattr(sys.modules[model_class.__module__], "mra_cuda_kernel", "not needed") is None:
        raise CannotBuild(
            "Its attention is a CUDA kernel; without the kernel, the model takes it to be zero: read it on a GPU."
        )
    randomise(model)
    return model


def task_of(mapped_task: str, config: PreTrainedConfig) -> str:
    """The sequence-to-sequence mapping also has decoders that listen: on text alone, those are causal."""
    return "causal" if mapped_task == "seq2seq" and not config.is_encoder_decoder else mapped_task


@torch.no_grad()
def randomise(model: PreTrainedModel) -> None:
    """Weights under which attention is far from uniform, and no gate, bias or sink is zero."""
    for path, parameter in model.named_parameters():
        owner, _, name = path.rpartition(".")
        module = model.get_submodule(owner)
        if name in STATE_SPACE or (isinstance(module, nn.Embedding) and not parameter.requires_grad):
            continue  # the frozen embeddings are sines of the position
        if isinstance(module, nn.Embedding):
            parameter.normal_(std=0.7)
        elif parameter.dim() > 1:
            parameter.normal_(std=GAIN * fan_in(module, parameter) ** -0.5)
        else:
            plain = name == "bias" or (name == "weight" and "norm" in type(module).__name__.lower())
            parameter.add_(torch.randn_like(parameter), alpha=0.1 if plain else 0.5)


def fan_in(module: nn.Module, weight: Tensor) -> int:
    if isinstance(module, nn.modules.conv._ConvNd):
        return weight[0].numel()
    if isinstance(module, transformers.pytorch_utils.Conv1D):
        return weight.shape[0]
    return weight.shape[-1]


def text_for(config: PreTrainedConfig, task: str) -> dict[str, Tensor]:
    """Ordinary tokens only; the last of the second row are padding."""
    special = special_ids(config)
    ordinary = torch.tensor([token for token in range(RESERVED, VOCABULARY) if token not in special])
    inputs = {
        "input_ids": ordinary[torch.randint(len(ordinary), (ROWS, SOURCE_TOKENS))],
        "attention_mask": torch.ones(ROWS, SOURCE_TOKENS, dtype=torch.long),
    }
    inputs["attention_mask"][1, -PADDED_TOKENS:] = 0
    if task == "seq2seq":
        inputs["decoder_input_ids"] = ordinary[torch.randint(len(ordinary), (ROWS, TARGET_TOKENS))]
    return inputs


def special_ids(config: PreTrainedConfig) -> set[int]:
    """The ids that a configuration and its parts name: padding, ends, masks, places of images and sounds."""
    found = set()
    for name, value in vars(config).items():
        if isinstance(value, PreTrainedConfig):
            found |= special_ids(value)
        elif name.endswith(("_token_id", "_index")):
            found |= set(value if isinstance(value, (list, tuple)) else [value])
    return found


@torch.no_grad()
def attention_counts(tiny: TinyModel) -> dict[str, int]:
    """How many attentions of each kind the model itself returns; fails where its output is not finite."""
    arguments = inspect.signature(tiny.model.forward).parameters
    cache = {"use_cache": False} if "use_cache" in arguments else {}
    output = tiny.model(**tiny.inputs, **cache, output_attentions=True, return_dict=True)
    if not output.logits.isfinite().all():
        raise FloatingPointError("the output is not finite")
    kinds = {name: tensors for name, tensors in output.items() if name.endswith("attentions") and tensors}
    return {name: sum(tensor is not None for tensor in tensors) for name, tensors in kinds.items()}


def census(model_types: tuple[str, ...]) -> None:
    verdicts = []
    for model_type in model_types:
        start = time.perf_counter()
        try:
            tiny = build(model_type)
            counts = attention_counts(tiny)
            verdict, said = "ok", f"{tiny.task:8} " + (", ".join(f"{n} {kind}" for kind, n in counts.items()) or "none")
        except CannotBuild as reason:
            verdict, said = "cannot", str(reason)
        except Exception as error:  # one broken architecture must not hide the others
            verdict, said = "ERROR", f"{type(error).__name__}: {error}".replace("\n", " ")
        verdicts.append(verdict)
        print(f"{model_type:26} {verdict:7} {time.perf_counter() - start:5.2f}s  {said}", flush=True)
    print(", ".join(f"{verdicts.count(verdict)} {verdict}" for verdict in ("ok", "cannot", "ERROR")))


if __name__ == "__main__":
    transformers.logging.set_verbosity_error()
    census(tuple(sys.argv[1:]) or ARCHITECTURES)
