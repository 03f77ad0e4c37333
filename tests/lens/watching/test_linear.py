"""Linear layers read by what they do, against what their numbers stand for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from transformers.pytorch_utils import Conv1D

import headscope
from headscope.lens.doctor import diagnose
from headscope.lens.tokens.batch import Batch
from headscope.lens.watching.linear import (
    bias_of,
    computed_in,
    linear_modules,
    matrix_of,
    rounding_of_inputs,
    rounds_inputs,
    state_of,
    why_not_linear,
)
from headscope.lens.watching.projection import Kept, Projection
from tests.tiny import tiny, tiny_inputs

WHERE = {"in_features": 12, "out_features": 8}


class Own(nn.Module):
    """A layer of someone's own: sizes as torch calls them, and a function."""

    def __init__(self, does: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.in_features, self.out_features = WHERE.values()
        self.register_buffer("packed", torch.zeros(3, dtype=torch.int8))
        self.does = does

    def forward(self, given: Tensor) -> Tensor:
        return self.does(given)


@pytest.fixture
def weight() -> Tensor:
    return torch.randn(12, 8, generator=torch.Generator().manual_seed(3))


def to_int8(given: Tensor) -> Tensor:
    step = given.abs().amax(-1, keepdim=True).clamp(min=1e-12) / 127
    return (given / step).round() * step


def to_float8(given: Tensor) -> Tensor:
    step = given.abs().amax(-1, keepdim=True).clamp(min=1e-12) / 448
    return (given / step).to(torch.float8_e4m3fn).to(given.dtype) * step


@pytest.mark.parametrize("bias", [0.0, 100.0])
def test_a_layer_is_what_it_does(weight: Tensor, bias: float) -> None:
    layer = Own(lambda given: given @ weight + bias)
    torch.testing.assert_close(matrix_of(layer), weight, rtol=1e-5, atol=2e-6)
    assert (bias_of(layer) is None) == (bias == 0)
    assert bias == 0 or torch.equal(bias_of(layer), torch.full((8,), bias))
    given = torch.randn(1, 5, 12)
    assert why_not_linear(layer, given, layer(given)) is None
    assert rounds_inputs(layer) is None


def test_in_half_precision_a_large_bias_leaves_digits_to_the_weights(weight: Tensor) -> None:
    coarse = weight.bfloat16().float()
    layer = Own(lambda given: (given @ coarse + 3.0).bfloat16().float())
    assert computed_in(layer, torch.float32) is torch.bfloat16
    assert (matrix_of(layer) - coarse).abs().max() < 0.01 * coarse.abs().max()


@pytest.mark.parametrize("does", [torch.relu, torch.tanh, torch.abs, lambda made: made * made.norm()])
def test_what_is_not_linear_is_refused(weight: Tensor, does: Callable[[Tensor], Tensor]) -> None:
    layer = Own(lambda given: does(given @ weight))
    given = torch.randn(1, 5, 12)
    assert "is not linear" in str(why_not_linear(layer, given, layer(given)))


def test_what_rounding_makes_not_linear_is_refused_with_a_way_out(weight: Tensor) -> None:
    """A number far larger than the rest, which the layer hardly reads, leaves them no digits."""
    weight = weight * torch.tensor([1e-3, *[1.0] * 11])[:, None]
    layer = Own(lambda given: to_int8(given) @ weight)
    given = torch.randn(1, 50, 12, generator=torch.Generator().manual_seed(0))
    given[:, ::2, 0] = 300
    said = str(why_not_linear(layer, given, layer(given)))
    assert "is not linear" in said
    assert "rounds every vector that it reads to int8 (for norms, quantise its weights only" in said


def test_a_layer_that_takes_no_single_vectors_is_refused() -> None:
    layer = Own(lambda given: given[:, :5] / 0 if given.shape[1] == 5 else 1 / torch.zeros(2, 3) @ given)
    assert "takes single vectors" in str(why_not_linear(layer, torch.randn(1, 5, 12), torch.randn(1, 5, 8)))


@pytest.mark.parametrize(("name", "rounding"), [("int8", to_int8), ("float8", to_float8), (None, lambda given: given)])
def test_what_a_layer_rounds_its_inputs_to_is_told(weight: Tensor, name: str, rounding: Callable[[Tensor], Tensor]) -> None:
    layer = Own(lambda given: rounding(given) @ weight)
    assert rounds_inputs(layer) == name
    given = torch.randn(1, 50, 12, generator=torch.Generator().manual_seed(0))
    assert why_not_linear(layer, given, layer(given)) is None
    off = (rounding(given) - given).abs()
    bound = rounding_of_inputs(name, given)
    assert bool((off <= bound * 1.001 + 1e-12).all())
    assert name is None or float(off.max()) > 0.3 * float(bound.max())


def test_what_is_inside_a_layer_is_part_of_it() -> None:
    inner = nn.Linear(12, 8)
    wrapper = Own(inner)
    model = nn.ModuleList([wrapper, nn.Sequential(nn.Linear(2, 2), Conv1D(3, 2))])
    assert linear_modules(model) == [wrapper, *model[1]]
    assert matrix_of(wrapper).shape == (12, 8)


def test_a_change_in_place_is_noticed() -> None:
    layer = nn.Linear(4, 4)
    before = state_of(layer)
    assert state_of(layer) == before
    with torch.no_grad():
        layer.weight.mul_(2)
    assert state_of(layer) != before
    before = state_of(layer)
    layer.weight = nn.Parameter(torch.zeros(4, 4))
    assert state_of(layer) != before


def test_matrices_for_which_there_is_no_room_are_made_again() -> None:
    layer = nn.Linear(8, 8)
    first, second = (Projection(layer, 2, 4, kept=kept) for kept in [Kept(2 * 4 * 4 * 4)] * 2)
    assert first.roots is first.roots
    assert second.roots is not second.roots
    torch.testing.assert_close(second.roots, first.roots, rtol=0, atol=0)


# With AVX-512, PyTorch's int8 product of bfloat16 (quanto's) reads past rows of which 16 is no divisor, and may crash; where
# the processor multiplies bfloat16, bitsandbytes takes nothing narrower than its blocks of 64 numbers.
WIDE = {"hidden_size": 128, "intermediate_size": 128, "num_attention_heads": 4, "num_key_value_heads": 2}


def quantised(how: str, dtype: torch.dtype = torch.float32) -> tuple[Any, Any]:
    """A tiny Llama, quantised, and its twin with the numbers that its weights stand for."""
    model = tiny("llama", **WIDE).to(dtype)
    match how:
        case "torchao":
            quantization = pytest.importorskip("torchao.quantization", reason="torchao is not installed")
            quantization.quantize_(model, quantization.Int8WeightOnlyConfig())
        case "torchao dynamic":
            quantization = pytest.importorskip("torchao.quantization", reason="torchao is not installed")
            quantization.quantize_(model, quantization.Int8DynamicActivationInt8WeightConfig())
        case "quanto":
            quanto = pytest.importorskip("optimum.quanto", reason="optimum-quanto is not installed")
            quanto.quantize(model, weights=quanto.qint8)
            quanto.freeze(model)
        case _:
            bitsandbytes = pytest.importorskip("bitsandbytes", reason="bitsandbytes is not installed")
            for module in list(model.modules()):
                for name, child in module.named_children():
                    if isinstance(child, nn.Linear) and name != "lm_head":
                        module.add_module(name, in_bits(bitsandbytes, how, child))
    twin = tiny("llama", **WIDE).to(dtype)
    with torch.no_grad():
        for plain, layer in zip(linear_modules(twin), linear_modules(model), strict=True):
            plain.weight.copy_(matrix_of(layer).T)
    return model, twin


def in_bits(bitsandbytes: Any, how: str, layer: nn.Linear) -> nn.Module:
    if how == "bitsandbytes 8 bit":
        made = bitsandbytes.nn.Linear8bitLt(layer.in_features, layer.out_features, bias=False, has_fp16_weights=False)
        made.weight = bitsandbytes.nn.Int8Params(layer.weight.data.clone(), requires_grad=False, has_fp16_weights=False)
    else:
        made = bitsandbytes.nn.Linear4bit(layer.in_features, layer.out_features, bias=False, quant_type="nf4")
        made.weight = bitsandbytes.nn.Params4bit(layer.weight.data.clone(), requires_grad=False, quant_type="nf4")
    return made.to("cpu")


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("how", ["torchao", "torchao dynamic", "quanto", "bitsandbytes 8 bit", "bitsandbytes 4 bit"])
def test_a_quantised_model_is_proven_and_has_the_norms_of_its_twin(how: str, dtype: torch.dtype) -> None:
    model, twin = quantised(how, dtype)
    with headscope.open(model) as lens:
        diagnosis = diagnose(lens, tiny_inputs("llama"))
    assert diagnosis.verdict == "ok"
    rounds = how in ("torchao dynamic", "bitsandbytes 8 bit")
    assert rounds == any("rounds what it reads to int8" in report.note for report in diagnosis.sites)
    if dtype == torch.float32 and not rounds:  # a twin does not round what its layers read
        # bitsandbytes multiplies in bfloat16 where the processor does.
        close = 1e-5 if computed_in(linear_modules(model)[0], dtype) == dtype else 2**-6
        for one, other in zip(norms(model), norms(twin), strict=True):
            assert (one - other).abs().max() <= close * other.abs().max()


def norms(model: Any) -> list[Tensor]:
    found: list[Tensor] = []
    with headscope.open(model) as lens:
        lens.run(Batch(tiny_inputs("llama")), lambda block: found.append(block.scores("norm")))
    return found


def test_a_planted_error_in_a_quantised_layer_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    model, _ = quantised("bitsandbytes 8 bit")
    with headscope.open(model) as lens:
        real = Projection.matrices.fget
        monkeypatch.setattr(Projection, "matrices", property(lambda self: real(self) * 1.05))
        assert diagnose(lens, tiny_inputs("llama")).verdict == "wrong"


def test_offloaded_layers_come_once_a_batch_for_all_measures(tmp_path: Path) -> None:
    accelerate = pytest.importorskip("accelerate", reason="accelerate is not installed")
    plain, model = tiny("llama"), tiny("llama")
    accelerate.disk_offload(model, tmp_path, execution_device=torch.device("cpu"))
    with headscope.open(model) as lens:
        assert lens.device.type == "cpu"
        assert diagnose(lens, tiny_inputs("llama")).verdict == "ok"
        layer = model.model.layers[1].self_attn.o_proj
        hook, bring = layer._hf_hook, layer._hf_hook.pre_forward
        hook.pre_forward = lambda module, *given, **named: came.append(module) or bring(module, *given, **named)
        found: list[Tensor] = []
        came: list[nn.Module] = []
        for batch in range(4):
            lens.run(
                Batch(tiny_inputs("llama")),
                lambda block: found.extend(block.scores(name) for name in ("norm", "joint_norm", "effective")),
            )
            if batch == 0:
                came.clear()  # at the first one, its matrices were made
        assert len(came) == 3
        del hook.pre_forward
    assert model.model.layers[1].self_attn.o_proj.weight.is_meta
    wanted = norms(plain)
    for ours, theirs in zip(found[::3][: len(wanted)], wanted, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-7)
