"""A pass that ends before its end: at what a module is about to read."""

from collections.abc import Callable
from typing import Any

from torch import Tensor, nn


class _Reached(Exception):
    def __init__(self, given: Tensor) -> None:
        super().__init__()
        self.given = given


def read_by(module: nn.Module, run: Callable[[], Any]) -> Tensor:
    """What a module is given in a pass, which ends there."""

    def stop(_: nn.Module, given: tuple[Any, ...]) -> None:
        raise _Reached(given[0])

    hook = module.register_forward_pre_hook(stop)
    try:
        run()
    except _Reached as reached:
        return reached.given
    finally:
        hook.remove()
    raise RuntimeError("the module was not asked")


def seen_by(module: nn.Module, run: Callable[[], Tensor]) -> tuple[Tensor, Tensor | None]:
    """What a whole pass returns, and what a module was given in it; None where it was not asked once, or for no tensor."""
    given: list[Any] = []
    hook = module.register_forward_pre_hook(lambda _, args: given.append(args[0] if args else None))
    try:
        output = run()
    finally:
        hook.remove()
    return output, given[0] if len(given) == 1 and isinstance(given[0], Tensor) else None
