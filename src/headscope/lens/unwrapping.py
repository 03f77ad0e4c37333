"""Models as people hold them: in a pipeline, a SentenceTransformer, an adapter's wrapper, compiled, or spread over devices.

What is wrapped is only looked at: the model inside is the one that the wrapper runs, with its active adapters.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from headscope.errors import ModelError
from headscope.later import PreTrainedModel, nn

# Where wrappers keep what they wrap, by the library and the class: none of these libraries need be there.
_INSIDE = {
    ("transformers", "Pipeline"): "model",
    ("sentence_transformers", "CrossEncoder"): "model",
    ("torch", "OptimizedModule"): "_orig_mod",
    ("torch", "DataParallel"): "module",
    ("torch", "DistributedDataParallel"): "module",
    ("trl", "PreTrainedModelWrapper"): "pretrained_model",
}


class Unwrapped(NamedTuple):
    """A transformers model, the tokenizer that came with it, and what its adapters are called."""

    model: PreTrainedModel
    tokenizer: Any = None
    adapters: tuple[str, ...] = ()


def unwrapped(given: Any) -> Unwrapped:
    """The transformers model inside what someone holds; an error says what to pass where there is none, or no one."""
    inside, tokenizer = given, None
    adapters: tuple[str, ...] = ()
    while not isinstance(inside, PreTrainedModel):
        tokenizer = tokenizer or getattr(inside, "tokenizer", None)
        if _is(inside, "peft", "PeftModel") or _is(inside, "peft", "PeftMixedModel"):
            adapters = _adapters(inside)
        found = _one_less(inside)
        if found is None:
            raise ModelError(_what_to_pass(given, inside))
        inside = found
    return Unwrapped(inside, tokenizer, adapters)


def _one_less(wrapper: Any) -> Any:
    if _is(wrapper, "peft", "PeftModel") or _is(wrapper, "peft", "PeftMixedModel"):
        return wrapper.base_model.model  # the base, with the adapters' layers in it
    for (library, name), attribute in _INSIDE.items():
        if _is(wrapper, library, name):
            return getattr(wrapper, attribute, None)
    if _is(wrapper, "sentence_transformers", "SentenceTransformer"):
        return getattr(wrapper[0], "auto_model", None)
    return None


def _adapters(wrapper: Any) -> tuple[str, ...]:
    active = wrapper.active_adapters
    names = list(active() if callable(active) else active)
    for name in names:
        config = wrapper.peft_config.get(name)
        if getattr(config, "is_prompt_learning", False) or getattr(config, "is_adaption_prompt", False):
            raise ModelError(
                f"The adapter {name!r} puts vectors before the text that are no tokens of it ({config.peft_type}), so its "
                "attention is not over the text's tokens: pass model.get_base_model() to read the model without it."
            )
    return tuple(names)


def _is(wrapper: Any, library: str, name: str) -> bool:
    return any(cls.__name__ == name and cls.__module__.partition(".")[0] == library for cls in type(wrapper).__mro__)


def _what_to_pass(given: Any, inside: Any) -> str:
    kind = type(given).__name__
    if _is(inside, "torch", "FullyShardedDataParallel"):
        return f"{kind} keeps pieces of every layer's weights on each device: save the whole model, and open its folder."
    models = _models_in(inside) if isinstance(inside, nn.Module) else []
    if len(models) == 1:
        return f"{kind} is no transformers model, but has one inside: pass that, headscope.open(it.{models[0]}, tokenizer)."
    if models:
        return f"{kind} is no transformers model, but has {len(models)} inside: pass one of it.{', it.'.join(models)}."
    return f"A model must be a hub id, a folder or a transformers model, not {kind}."


def _models_in(module: nn.Module, place: str = "") -> list[str]:
    """The places of the transformers models in a module, the outermost ones."""
    found = []
    for name, child in module.named_children():
        here = f"{place}[{name}]" if name.isdecimal() else f"{place}.{name}".lstrip(".")
        found += [here] if isinstance(child, PreTrainedModel) else _models_in(child, here)
    return found
