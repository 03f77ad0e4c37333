"""The doctor: an honest model is `ok` in any precision, and a single error at a single site is found in any."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields, replace

import pytest
import torch
from torch import Tensor, nn

import headscope
from headscope.lens.block import KeySide
from headscope.lens.doctor import Diagnosis, diagnose
from headscope.lens.watching import plain
from headscope.lens.watching.following import Step
from headscope.lens.watching.gating import Gating
from headscope.lens.watching.interface import AttentionCall
from headscope.lens.watching.local import ValuePath
from headscope.lens.watching.projection import Projection, matrix_of
from tests.architectures.tiny_models import build
from tests.tiny import FAMILIES, tiny, tiny_inputs

PRECISIONS = (torch.float32, torch.bfloat16, torch.float16)
HEADS = 4  # of all four tiny models, 8 dimensions each: W_O is square


def diagnosed(family: str, dtype: torch.dtype, plant: Callable[[headscope.Lens], None] | None = None) -> Diagnosis:
    with headscope.open(tiny(family).to(dtype)) as lens:
        if plant is not None:
            plant(lens)
        return diagnose(lens, tiny_inputs(family))


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("dtype", PRECISIONS, ids=str)
def test_an_honest_model_is_ok_in_any_precision(family: str, dtype: torch.dtype) -> None:
    found = diagnosed(family, dtype)
    assert found.verdict == "ok"
    for report in found.sites:
        assert report.own_weights_difference is not None, "in half precision the model gives its maps too"
        assert report.note == ""
        assert report.of_limit < 0.6, "rounding takes half of what is allowed for two roundings"
        assert dtype == torch.float32 or report.reconstruction_error < 1e-2


# The outside half of the proof: from one moment to the next, the model does something else than what was found.


def exchange_heads(module: nn.Module, given: tuple[Tensor], output: Tensor) -> Tensor:
    heads = given[0].unflatten(-1, (HEADS, -1))[..., [1, 0, 2, 3], :]
    return _through(module, heads.flatten(-2), matrix_of(module))


def scale(module: nn.Module, given: tuple[Tensor], output: Tensor) -> Tensor:
    return output * 1.05


def leave_out_the_bias(module: nn.Module, given: tuple[Tensor], output: Tensor) -> Tensor:
    return (given[0].float() @ matrix_of(module).float()).to(output.dtype)


def transpose(module: nn.Module, given: tuple[Tensor], output: Tensor) -> Tensor:
    return _through(module, given[0], matrix_of(module).T)


def _through(module: nn.Module, given: Tensor, matrix: Tensor) -> Tensor:
    bias = 0 if module.bias is None else module.bias.float()
    return (given.float() @ matrix.float() + bias).to(given.dtype)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("dtype", PRECISIONS, ids=str)
@pytest.mark.parametrize("error", [exchange_heads, scale, leave_out_the_bias, transpose])
def test_one_error_of_the_model_at_one_site_is_found(error: Callable[..., Tensor], dtype: torch.dtype, family: str) -> None:
    if family == "llama" and error is leave_out_the_bias:
        pytest.skip("its W_O has no bias that could be missing")
    for index in (0, -1):

        def plant(lens: headscope.Lens, index: int = index) -> None:
            lens.trace.sites[index].projection.module.register_forward_hook(error)

        assert_found_at(index, diagnosed(family, dtype, plant))


def assert_found_at(index: int, found: Diagnosis) -> None:
    assert found.verdict == "wrong"
    wrong = [report.site for report in found.sites if report.verdict == "wrong"]
    assert wrong == [found.sites[index].site], "and found nowhere else"


# The inside half: the model is as it was, and headscope takes it for something else.


class Mistaken(Projection):
    """W_O as it is not."""

    def __init__(self, projection: Projection, mistake: Callable[[Tensor], Tensor]) -> None:
        given = {field.name: getattr(projection, field.name) for field in fields(projection) if field.init}
        super().__init__(**given)
        self._mistake = mistake

    @property
    def matrices(self) -> Tensor:
        return self._mistake(super().matrices)


MISTAKES = {
    "heads": lambda matrices: matrices[[1, 0, 2, 3]],
    "scale": lambda matrices: matrices * 1.05,
    "scale of one head": lambda matrices: matrices * torch.tensor([1, 1, 1, 1.05])[:, None, None],
    "transposed": lambda matrices: matrices.flatten(0, 1).T.reshape(matrices.shape),
    "heads and scale": lambda matrices: 2 * matrices.flip(0),
}


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("dtype", PRECISIONS, ids=str)
@pytest.mark.parametrize("mistake", MISTAKES)
def test_one_mistake_about_one_site_is_found(mistake: str, dtype: torch.dtype, family: str) -> None:
    def plant(lens: headscope.Lens) -> None:
        traced = lens.trace.sites[1]
        traced.projection = Mistaken(traced.projection, MISTAKES[mistake])

    assert_found_at(1, diagnosed(family, dtype, plant))


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("dtype", PRECISIONS, ids=str)
def test_values_that_are_not_the_models_are_found(dtype: torch.dtype, family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    own = KeySide.values.func

    def values(side: KeySide) -> Tensor:
        return own(side) * (1.05 if side.site.index == 1 else 1)

    monkeypatch.setattr(KeySide, "values", property(values))
    assert_found_at(1, diagnosed(family, dtype))


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("dtype", PRECISIONS, ids=str)
def test_weights_that_are_not_the_models_are_found(dtype: torch.dtype, family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that sum to 1 and rebuild the output, but from queries that the model does not have."""
    own = AttentionCall.rows

    def rows(call: AttentionCall, start: int, stop: int) -> tuple[Tensor, Tensor]:
        return own(call.with_inputs({"query": call.query * 1.1, "key": call.key, "value": call.value}), start, stop)

    monkeypatch.setattr(AttentionCall, "rows", rows)
    found = diagnosed(family, dtype)
    assert {report.verdict for report in found.sites} == {"wrong"}


# The same of what stands between the heads and W_O, and of weights that are found by what values become.
GATED = ("qwen3_next", "laguna", "bitnet", "diffllama", "granite_swa", "neomme")
IN_PARTS = ("longformer", "longt5", "reformer")


def built(model_type: str, dtype: torch.dtype, plant: Callable[[headscope.Lens], None]) -> Diagnosis:
    made = build(model_type)
    with headscope.open(made.model.to(dtype)) as lens:
        plant(lens)
        return diagnose(lens, made.inputs)


def exchanged(matrices: Tensor) -> Tensor:
    return matrices[[1, 0, *range(2, len(matrices))]]


@pytest.mark.parametrize("model_type", GATED)
@pytest.mark.parametrize("dtype", PRECISIONS[:2], ids=str)
@pytest.mark.parametrize("scale", [1.05, 0.95])
def test_a_wrong_gate_is_found(model_type: str, dtype: torch.dtype, scale: float, monkeypatch: pytest.MonkeyPatch) -> None:
    own, wrong = Gating.gates, []

    def gates(gating: Gating, *followed: Step) -> Tensor:
        return own(gating, *followed) * (scale if gating in wrong else 1)

    def plant(lens: headscope.Lens) -> None:
        wrong.append(lens.trace.sites[1].projection.gating)

    monkeypatch.setattr(Gating, "gates", gates)
    monkeypatch.setattr(Gating, "__eq__", lambda one, other: one is other)
    assert_found_at(1, built(model_type, dtype, plant))


@pytest.mark.parametrize("model_type", GATED)
@pytest.mark.parametrize("dtype", PRECISIONS[:2], ids=str)
def test_wrong_rows_of_the_projection_behind_a_gate_are_found(model_type: str, dtype: torch.dtype) -> None:
    def plant(lens: headscope.Lens) -> None:
        traced = lens.trace.sites[1]
        traced.projection = Mistaken(traced.projection, exchanged)

    assert_found_at(1, built(model_type, dtype, plant))


@pytest.mark.parametrize("model_type", GATED)
def test_heads_that_are_sought_at_the_wrong_place_are_found(model_type: str) -> None:
    def plant(lens: headscope.Lens) -> None:
        traced = lens.trace.sites[1]
        gating = traced.projection.gating
        elsewhere = gating.columns.flatten().roll(1).view_as(gating.columns)
        traced.projection = replace(traced.projection, gating=replace(gating, columns=elsewhere))

    assert_found_at(1, built(model_type, torch.float32, plant))


@pytest.mark.parametrize("model_type", IN_PARTS)
@pytest.mark.parametrize("dtype", PRECISIONS[:2], ids=str)
def test_keys_that_are_taken_for_their_neighbours_are_found(
    model_type: str, dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = ValuePath.weights

    def plant(lens: headscope.Lens) -> None:
        monkeypatch.setattr(ValuePath, "weights", lambda path, *followed: own(path, *followed).roll(1, -1))

    found = built(model_type, dtype, plant)
    read = [report.verdict for report in found.sites if report.site.capture == "values"]
    assert read
    assert set(read) == {"wrong"}


@pytest.mark.parametrize("model_type", ["zamba", "hrm_text"])
def test_sums_in_another_order_add_up_from_layer_to_layer_and_are_no_error(
    model_type: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plain, "small", lambda: 0)
    monkeypatch.setattr(plain, "PIECE", 16)
    assert built(model_type, torch.float32, lambda lens: None).verdict == "ok"


@pytest.mark.parametrize("family", FAMILIES)
def test_what_is_compared_is_computed_twice(family: str) -> None:
    """An error of exactly zero would say that a number was compared with itself."""
    assert all(report.reconstruction_error > 0 for report in diagnosed(family, torch.float32).sites)


def test_numbers_that_are_none_are_not_ok() -> None:
    model = tiny("bert")
    with headscope.open(model) as lens, torch.no_grad():
        model.encoder.layer[1].attention.output.dense.weight[0, 0] = float("nan")
        found = diagnose(lens, tiny_inputs("bert"))
    reports = found.sites
    assert [report.verdict for report in reports] == ["ok", "not finite", "not finite"]
    assert found.verdict == "not finite"
    assert ["load it anew" in report.note for report in reports] == [False, True, True]
    assert "NaN" not in json.dumps(found.to_json()), "which is no JSON"


def test_numbers_that_are_none_in_the_lens_alone_are_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    own = KeySide.values.func

    def values(side: KeySide) -> Tensor:
        return own(side) * (float("nan") if side.site.index == 1 else 1)

    monkeypatch.setattr(KeySide, "values", property(values))
    assert_found_at(1, diagnosed("bert", torch.float32))


def test_a_model_that_overflows_by_itself_is_said_to() -> None:
    """LongT5 hides padding by -1e10, which is infinite in float16: a row that sees nothing has no softmax."""
    made = build("longt5")
    with torch.no_grad():
        logits = made.model.to(torch.float16)(**made.inputs).logits
    assert not logits[1].isfinite().all()
    found = built("longt5", torch.float16, lambda lens: None)
    assert found.verdict == "not finite"
    assert all("open it in float32, or in bfloat16" in one.note for one in found.sites if one.verdict == "not finite")
    whole = {name: tensor[:1] for name, tensor in made.inputs.items()}  # a text without padding is read right
    with headscope.open(made.model) as lens:
        assert diagnose(lens, whole).verdict == "ok"


@pytest.mark.parametrize("dtype", PRECISIONS, ids=str)
def test_an_attention_that_gives_nothing_is_ok(dtype: torch.dtype) -> None:
    model = tiny("llama").to(dtype)
    with torch.no_grad():
        model.model.layers[1].self_attn.v_proj.weight.zero_()
    with headscope.open(model) as lens:
        assert diagnose(lens, tiny_inputs("llama")).sites[1].of_limit <= 1


# Both ways in, soft caps, biases, sinks, gates, what stands beside the heads, weights that the model itself rounds.
MIXED = (
    *("albert", "bloom", "convbert", "deberta-v2", "gemma2", "gpt_neox", "gpt_oss", "gptj", "ibert", "mpt", "opt"),
    *("nystromformer", "phi3", "qwen3", "qwen3_next", "roberta", "t5", "whisper", "xlm", "xlnet"),
    *("bitnet", "diffllama", "granite_swa", "led", "longformer", "longt5", "neomme", "reformer", "t5gemma2"),
)

OVERFLOWS = ("longt5",)  # at padding, in float16: a test above


@pytest.mark.parametrize("model_type", MIXED)
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
def test_architectures_in_half_precision(model_type: str, dtype: torch.dtype) -> None:
    made = build(model_type)
    with headscope.open(made.model) as lens:
        exact = diagnose(lens, made.inputs)
    inputs = made.inputs
    if model_type in OVERFLOWS and dtype is torch.float16:
        inputs = {name: tensor[:1] for name, tensor in inputs.items()}
    with headscope.open(made.model.to(dtype)) as lens:
        found = diagnose(lens, inputs)
    assert found.verdict == exact.verdict
    assert [replace(report.site, index=0) for report in found.sites] == [
        replace(report.site, index=0) for report in exact.sites
    ]


def test_heads_that_are_taken_from_the_wrong_call_are_found() -> None:
    """ALBERT has one layer for all: with the calls exchanged, every site's vectors would be another's."""
    made = build("albert")
    with headscope.open(made.model) as lens:
        first, second = lens.trace.sites[:2]
        assert diagnose(lens, made.inputs).sites[0].without_error < 1e-6
        first.projection.call, second.projection.call = 1, 0
        assert [report.verdict for report in diagnose(lens, made.inputs).sites[:2]] == ["wrong", "wrong"]


def test_heads_that_are_not_given_back_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    with headscope.open(tiny("llama")) as lens:
        own, kept = lens.without, []

        def forgetful(*heads: headscope.Head, **options: object) -> object:
            kept.append(own("0.0", how="zero"))
            kept[-1].__enter__()
            return own(*heads, **options)

        monkeypatch.setattr(lens, "without", forgetful)
        found = diagnose(lens, tiny_inputs("llama"))
    assert found.verdict == "wrong"
    assert all("given back" in report.note for report in found.sites)


def test_differential_heads_are_read_but_not_taken_away() -> None:
    made = build("diffllama")
    with headscope.open(made.model) as lens:
        found = diagnose(lens, made.inputs)
    assert found.verdict == "ok"
    assert {report.without_error for report in found.sites} == {None}
