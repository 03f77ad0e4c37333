"""SmolLM2 and MiniLM as people hold them: the doctor's verdict, and the norms of a plain twin."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from transformers import AutoModel, AutoTokenizer, pipeline

import headscope
from headscope.errors import NormsUnavailable
from headscope.lens.doctor import diagnose
from headscope.lens.loading import load
from headscope.lens.watching.linear import computed_in, linear_modules, matrix_of
from tests.lens.watching.test_linear import in_bits

TEXT = "The keys to the old cabinet are, she said, on the table in the kitchen."
pytestmark = [pytest.mark.real, pytest.mark.slow]


@pytest.fixture(scope="module")
def opened(smollm: Path) -> tuple[Any, Any]:
    return load(smollm)


@pytest.fixture
def fresh(opened: tuple[Any, Any]) -> Callable[[], Any]:
    """A model of its own each time: what is done to it stays in it."""
    model = opened[0]

    def again() -> Any:
        made = type(model)(model.config)
        made.load_state_dict(model.state_dict())
        return made.eval()

    return again


def norms(held: Any, tokenizer: Any) -> Tensor:
    """(site, head, query, key)"""
    with headscope.open(held, tokenizer) as lens:
        return torch.cat([block.scores("norm") for block in lens.read(TEXT).blocks.values()])


def proven(held: Any, tokenizer: Any) -> float:
    """The largest error of W_O's output, of a model that the doctor finds to be read right."""
    with headscope.open(held, tokenizer) as lens:
        diagnosis = diagnose(lens)
    assert diagnosis.verdict == "ok"
    return max(report.reconstruction_error or 0.0 for report in diagnosis.sites)


def twin_of(model: Any, fresh: Callable[[], Any]) -> Any:
    """A plain model with the numbers that the layers of another stand for; the last is tied to the embeddings, and stays."""
    twin = fresh()
    with torch.no_grad():
        for plain, layer in zip(linear_modules(twin), linear_modules(model), strict=True):
            if plain is not twin.get_output_embeddings():
                plain.weight.copy_(matrix_of(layer).T)
    return twin


def apart(ours: Tensor, theirs: Tensor) -> float:
    return float((ours - theirs).abs().max() / theirs.abs().max())


@pytest.mark.parametrize("where", [["q_proj", "v_proj"], ["o_proj"]])
def test_with_an_adapter(fresh: Callable[[], Any], opened: tuple[Any, Any], where: list[str]) -> None:
    peft = pytest.importorskip("peft", reason="peft is not installed: make test installs it")
    torch.manual_seed(0)
    adapted = peft.get_peft_model(fresh(), peft.LoraConfig(r=8, target_modules=where, init_lora_weights=False))
    assert proven(adapted, opened[1]) < 1e-5
    ours = norms(adapted, opened[1])
    assert apart(ours, norms(adapted.merge_and_unload(), opened[1])) < 1e-4


def quantised(how: str, model: Any) -> Any:
    if how == "torchao":
        quantization = pytest.importorskip("torchao.quantization", reason="torchao is not installed: make test installs it")
        quantization.quantize_(model, quantization.Int8WeightOnlyConfig())
    elif how == "quanto":
        quanto = pytest.importorskip("optimum.quanto", reason="optimum-quanto is not installed: make test installs it")
        quanto.quantize(model, weights=quanto.qint8, exclude="lm_head")
        quanto.freeze(model)
    else:
        bitsandbytes = pytest.importorskip("bitsandbytes", reason="bitsandbytes is not installed: make test installs it")
        for module in list(model.modules()):
            for name, child in module.named_children():
                if isinstance(child, nn.Linear) and name != "lm_head":
                    module.add_module(name, in_bits(bitsandbytes, how, child))
    return model


@pytest.mark.parametrize("how", ["torchao", "quanto", "bitsandbytes 4 bit"])
def test_quantised(fresh: Callable[[], Any], opened: tuple[Any, Any], how: str) -> None:
    model = quantised(how, fresh())
    error = proven(model, opened[1])
    # bitsandbytes multiplies in bfloat16 where the processor does, whatever the model's precision is.
    in_half = computed_in(linear_modules(model)[0], torch.float32) == torch.bfloat16
    assert error < (0.01 if in_half else 1e-5)
    assert apart(norms(model, opened[1]), norms(twin_of(model, fresh), opened[1])) < (0.05 if in_half else 1e-4)


def test_layers_that_round_their_inputs_are_proven_or_refused(fresh: Callable[[], Any], opened: tuple[Any, Any]) -> None:
    """bitsandbytes' 8 bit rounds every vector: where one is far larger than the rest, a sum is not the sum of its parts."""
    with headscope.open(quantised("bitsandbytes 8 bit", fresh()), opened[1]) as lens:
        diagnosis = diagnose(lens)
        reasons = [site.why_no_norms for site in lens.sites if site.why_no_norms is not None]
        reading = lens.read(TEXT)
        with pytest.raises(NormsUnavailable, match=r"quantise its weights only, as .* use the measure 'weight'"):
            reading.scores("norm")
        sums = reading.scores("weight").sum(-1)
    assert diagnosis.verdict == "weights only"
    assert all("is not linear" in reason and "rounds every vector that it reads to int8" in reason for reason in reasons)
    assert 0 < len(reasons) < len(diagnosis.sites)
    own = [report.own_weights_difference for report in diagnosis.sites]
    assert all(one is not None and one < 1e-6 for one in own), "weights are read at every site"
    torch.testing.assert_close(sums, torch.ones_like(sums))


def test_offloaded_to_a_disk(fresh: Callable[[], Any], opened: tuple[Any, Any], tmp_path: Path) -> None:
    accelerate = pytest.importorskip("accelerate", reason="accelerate is not installed: make test installs it")
    model = fresh()
    accelerate.disk_offload(model, tmp_path, execution_device=torch.device("cpu"))
    assert proven(model, opened[1]) < 1e-5
    assert apart(norms(model, opened[1]), norms(opened[0], opened[1])) < 1e-5


def test_compiled(fresh: Callable[[], Any], opened: tuple[Any, Any]) -> None:
    held = torch.compile(fresh())
    assert proven(held, opened[1]) < 1e-5
    assert torch.equal(norms(held, opened[1]), norms(opened[0], opened[1]))


@pytest.fixture
def plain_minilm(minilm: Path) -> Tensor:
    return norms(AutoModel.from_pretrained(minilm), AutoTokenizer.from_pretrained(minilm))


def test_in_a_sentence_transformer(minilm: Path, plain_minilm: Tensor) -> None:
    library = pytest.importorskip("sentence_transformers", reason="sentence-transformers is not installed: make test does")
    held = library.SentenceTransformer(str(minilm), device="cpu")
    before = held.encode(TEXT)
    assert torch.equal(norms(held, None), plain_minilm)
    assert (held.encode(TEXT) == before).all()


def test_in_a_pipeline(minilm: Path, plain_minilm: Tensor) -> None:
    held = pipeline("feature-extraction", model=str(minilm))
    assert torch.equal(norms(held, None), plain_minilm)
