"""Which normalisation a module reads the residual stream through: found by following the data of one pass."""

from collections.abc import Callable, Iterable
from contextlib import ExitStack
from typing import Any

import torch
from torch import Tensor, nn

from headscope.lens.watching.linear import CLOSE
from headscope.lens.watching.normalisation import Normalisation, looks_like_one, recognise

ALIKE = 1e-5  # how far from 1 the cosine of two vectors may be that are the same but for a factor


def norms_read(model: nn.Module, run: Callable[[], Any], readers: Iterable[nn.Module]) -> dict[nn.Module, Normalisation]:
    """For each of `readers`, the last norm whose result it was given, times a positive number; without one, it is absent."""
    results: list[tuple[nn.Module, Tensor, Tensor]] = []
    found: dict[nn.Module, Normalisation] = {}

    def normalised(module: nn.Module, given: Any, result: Any) -> None:
        if given and isinstance(given[0], Tensor) and isinstance(result, Tensor):
            results.append((module, given[0].float(), result.float()))

    def reads(module: nn.Module, given: Any) -> None:
        read = given[0].float() if given else None
        for norm, before, result in reversed(results):
            if read is not None and result.shape == read.shape and _same_but_for_a_factor(result, read):
                known = recognise(norm, before, result, CLOSE)
                if known is not None:
                    found[module] = known
                return

    with ExitStack() as stack, torch.no_grad():
        for module in model.modules():
            if looks_like_one(module):
                stack.callback(module.register_forward_hook(normalised).remove)
        for module in dict.fromkeys(readers):
            stack.callback(module.register_forward_pre_hook(reads).remove)
        run()
    return found


def _same_but_for_a_factor(one: Tensor, other: Tensor) -> bool:
    cosine = torch.nn.functional.cosine_similarity(one.flatten(), other.flatten(), dim=0)
    return bool(cosine > 1 - ALIKE)
