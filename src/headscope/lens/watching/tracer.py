"""What is seen in one forward pass: every attention, by both ways in, and what linear layers and norms read and returned."""

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from headscope.lens.watching.contraction import Contraction, Contractions
from headscope.lens.watching.following import Follower, Step
from headscope.lens.watching.functions import FunctionTracer, SeenAttention
from headscope.lens.watching.interface import AttentionCall, watching
from headscope.lens.watching.linear import CLOSE, first_tensor, linear_modules
from headscope.lens.watching.local import ValuePath, begin, is_rows_first
from headscope.lens.watching.normalisation import is_near, looks_like_one
from headscope.lens.watching.projection import Kept, Projection
from headscope.lens.watching.residual import Ran


@dataclass
class Event:
    """One attention seen in the trace."""

    module: nn.Module
    call: int
    capture: str
    weights: Tensor  # batch head query key
    values: Tensor  # batch group key d_head
    output: Tensor  # batch query head d_head
    order: int
    cuttable: bool = True
    path: tuple[ValuePath, Projection] | None = None  # where it was found by what values become, and not by a softmax
    followed: Step | None = None  # its output, where what the model makes of it is followed


class Tracer:
    """Watches both ways in, and every linear layer, for one forward pass."""

    def __init__(self, model: nn.Module, names: dict[nn.Module, str]) -> None:
        self.names = names
        self.layers = dict.fromkeys(linear_modules(model))
        self.kept = Kept()
        self.parameters = {id(parameter): name for name, parameter in model.named_parameters()}
        self.contractions: dict[int, Contraction] = {}  # by the parameter
        self.functions = FunctionTracer(1, self.seen)
        self.follower = Follower()
        self.read: dict[int, Step] = {}  # by the order of a linear layer: how what it read was made of attentions' outputs
        self.values = Follower(mixing=True)
        self.made: dict[Step, Ran] = {}  # what linear layers returned, all of which may be values
        self.precisions: dict[int, torch.dtype] = {}  # by their order
        self.value_reads: list[tuple[Ran, Step]] = []  # what they read, where it was made of values
        self.order = 0
        self.calls: Counter[nn.Module] = Counter()
        self.events: list[Event] = []
        self.linear: list[Ran] = []
        self.norms: list[Ran] = []

    def attend(self, call: AttentionCall) -> tuple[Tensor, None]:
        self.functions.paused = True
        output, weights = call.rows(0, call.length)
        cuttable = _same_by_rows(call, output, weights)
        self.functions.paused = False
        output = output.to(call.dtype)
        self._add(call.module, "interface", weights, call.value, output, cuttable)
        self.events[-1].followed = self.follower.begin(output)
        return output, None

    def seen(self, module: nn.Module, attended: SeenAttention) -> None:
        self._add(module, "functions", attended.rows(0, attended.length), attended.values, attended.output)
        self.events[-1].followed = self.follower.begin(attended.result, (attended.output.shape, attended.arranged))

    def _add(
        self, module: nn.Module, capture: str, weights: Tensor, values: Tensor, output: Tensor, cuttable: bool = True
    ) -> None:
        self.order += 1
        event = Event(module, self.calls[module], capture, weights, values, output, self.order, cuttable)
        self.calls[module] += 1
        self.events.append(event)

    def ran(self, module: nn.Module, inputs: Any, output: Any) -> None:
        """A forward hook on linear layers and normalisations."""
        output = first_tensor(output)
        if inputs and isinstance(inputs[0], Tensor) and isinstance(output, Tensor) and inputs[0].is_floating_point():
            self.order += 1
            given, result = inputs[0].float().clone(), output.float().clone()  # the model may change its own in place
            if isinstance(module, nn.Conv1d):
                given, result = given.mT, result.mT
            (self.linear if module in self.layers else self.norms).append(Ran(self.order, module, given, result))
            if module in self.layers:
                self._follow(self.linear[-1], inputs[0], output)

    def layer_for(self, parameter: nn.Parameter, equation: str) -> Contraction | None:
        """What stands for a parameter that an einsum multiplies with."""
        layer = self.contractions.get(id(parameter))
        if layer is None:
            layer = self.contractions[id(parameter)] = Contraction(parameter, equation)
            if layer.is_layer:
                self.names[layer] = self.parameters.get(id(parameter), "einsum")
                self.layers[layer] = None
                layer.register_forward_hook(self.ran)
        return layer if layer.is_layer and layer.equation == equation else None

    def _follow(self, ran: Ran, given: Tensor, output: Tensor) -> None:
        if (step := self.follower.step_of(given)) is not None:
            self.read[ran.order] = step
        if (step := self.values.step_of(given)) is not None:
            self.value_reads.append((ran, step))
        if not isinstance(ran.module, nn.Conv1d):
            self.made[begin(self.values, output, 1, is_rows_first(output))] = ran
            self.precisions[ran.order] = output.dtype

    @contextmanager
    def watch(self) -> Iterator[None]:
        with ExitStack() as stack:
            stack.enter_context(self.functions.inside(self.names))
            stack.enter_context(self.follower)
            stack.callback(self.follower.forget)
            stack.enter_context(self.values)
            stack.callback(self.values.forget)
            for module in self.names:
                if module in self.layers or looks_like_one(module):
                    stack.callback(module.register_forward_hook(self.ran).remove)
            stack.callback(self._leave_contractions)
            stack.enter_context(Contractions(self.layer_for))
            stack.enter_context(watching(self))
            yield

    def _leave_contractions(self) -> None:
        for layer in self.contractions.values():
            layer._forward_hooks.clear()


def _same_by_rows(call: AttentionCall, output: Tensor, weights: Tensor) -> bool:
    """Whether two blocks of rows give what all rows gave at once."""
    middle = call.length // 2
    if not middle:
        return True
    outputs, maps = zip(call.rows(0, middle), call.rows(middle, call.length), strict=True)
    return is_near(torch.cat(outputs, 1), output, CLOSE) and is_near(torch.cat(maps, 2), weights, CLOSE)
