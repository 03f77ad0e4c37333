"""Which attention a model runs: what it came with, the one that is watched, and the few that must run their own."""

import inspect
import re
from typing import Any

from transformers import PreTrainedModel

from headscope.lens.quiet import quiet
from headscope.lens.watching import interface
from headscope.lens.watching.trace import NOT_THE_SUM, Trace


def attention_implementations(model: PreTrainedModel) -> list[tuple[Any, Any]]:
    """Every configuration in the model with its attention implementation, to be put back later."""
    seen: dict[int, tuple[Any, Any]] = {}
    waiting = [module.config for module in model.modules() if isinstance(module, PreTrainedModel)]
    while waiting:
        config = waiting.pop()
        if id(config) not in seen:
            seen[id(config)] = (config, config._attn_implementation_internal)
            waiting += [sub for name in config.sub_configs if (sub := getattr(config, name, None)) is not None]
    return list(seen.values())


def switch_attention(model: PreTrainedModel, implementation: str) -> None:
    interface.register()
    with quiet():  # models outside the interface say so in a warning; the second way in is for them
        model.set_attn_implementation(implementation)


def asks_for_eager(found: Trace) -> bool:
    """Whether an attention behaves otherwise under any implementation but `eager` and `sdpa`, or needs a closer look.

    Sparse attentions mask what their indexer left out only under these two names, and leave it to a
    kernel under others. Others change the weighted sum inside of their attention function (sinks that scale it), where
    only the second way in can follow. Both are read through that.
    """
    interface = [traced for traced in found.sites if traced.site.capture == "interface"]
    if any(traced.site.why_no_norms == NOT_THE_SUM for traced in interface):
        return True
    modules = {type(traced.module) for traced in interface}
    return any(_BY_NAME.search(inspect.getsource(module.forward)) for module in modules)


_BY_NAME = re.compile(r"_attn_implementation\s+(not\s+)?in\s.*(eager|sdpa)")
