"""Models that are not plainly models of text: two towers, pictures, sound, quantised weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from transformers import CLIPConfig, CLIPModel, PreTrainedModel, SiglipConfig, SiglipModel, ViTConfig, ViTModel

import headscope
from headscope.errors import ModelError
from headscope.lens.doctor import diagnose
from tests.architectures.tiny_models import random_model, randomise
from tests.tiny import tiny, tiny_inputs
from tests.tiny_tokenizers import tiny_tokenizer

LAYERS = {"hidden_size": 32, "intermediate_size": 40, "num_hidden_layers": 2, "num_attention_heads": 4}
PICTURES = {**LAYERS, "image_size": 16, "patch_size": 8}
TEXTS = {**LAYERS, "vocab_size": 90, "max_position_embeddings": 64, "bos_token_id": 1, "eos_token_id": 2}


def two_towers(family: str) -> PreTrainedModel:
    torch.manual_seed(0)
    config, model = {"clip": (CLIPConfig, CLIPModel), "siglip": (SiglipConfig, SiglipModel)}[family]
    made = model(config(text_config=TEXTS, vision_config=PICTURES))
    randomise(made)
    return made.eval()


@pytest.mark.parametrize("family", ["clip", "siglip"])
def test_of_two_towers_the_text_tower_is_read(family: str, tmp_path: Path) -> None:
    model = two_towers(family)
    model.save_pretrained(tmp_path)
    tiny_tokenizer("wordpiece").save_pretrained(tmp_path)
    with headscope.open(tmp_path) as lens:
        assert diagnose(lens).verdict == "ok"
        reading = lens.read("the cat sat")
    model.set_attn_implementation("eager")
    with torch.no_grad():
        own = model.text_model(**reading.batch.inputs, output_attentions=True).attentions
    torch.testing.assert_close(reading.scores(), torch.cat(own), atol=1e-6, rtol=0)
    with headscope.open(model, tiny_tokenizer("wordpiece")) as lens:
        assert lens.model is model.text_model
        torch.testing.assert_close(lens.read("the cat sat").scores("norm"), reading.scores("norm"))


def test_a_model_of_pictures_is_told_that_and_nothing_of_tokenizers(tmp_path: Path) -> None:
    ViTModel(ViTConfig(**PICTURES)).save_pretrained(tmp_path)
    with pytest.raises(ModelError, match=r"is a ViTModel, which reads pictures \(pixel_values\) and no text") as raised:
        headscope.open(tmp_path)
    assert str(tmp_path) in str(raised.value)
    assert "tokenizer" not in str(raised.value)


def test_a_model_of_sound_is_told_that(tmp_path: Path) -> None:
    model = random_model("whisper", "WhisperForConditionalGeneration")
    sentence = r"is a WhisperForConditionalGeneration, which reads sound \(input_features\) and no text"
    with pytest.raises(ModelError, match=sentence):
        headscope.open(model)
    model.save_pretrained(tmp_path)
    with pytest.raises(ModelError, match=sentence):
        headscope.open(tmp_path)
    with headscope.open(random_model("whisper", "WhisperForCausalLM")) as lens:  # what docs/architectures.md has proven
        assert diagnose(lens).verdict == "ok"


def test_a_model_that_fails_by_itself_is_one_sentence() -> None:
    model = tiny("bert")
    model.embeddings.forward = lambda *given, **named: torch.zeros(1) @ torch.zeros(2)
    with pytest.raises(
        ModelError, match=r"BertModel, float32.*does not run on a small text by itself.*inconsistent tensor"
    ) as found:
        headscope.open(model)
    assert "\n" not in str(found.value)
    del model.embeddings.forward
    headscope.open(model).close()


class Int8(Tensor):
    """As torchao makes them: looks like a float matrix, and can be multiplied with, and dequantised; nothing else."""

    whole: Tensor
    scale: Tensor

    @staticmethod
    def __new__(cls, matrix: Tensor) -> Int8:
        made = Tensor._make_wrapper_subclass(cls, matrix.shape, dtype=matrix.dtype)
        made.scale = matrix.abs().amax(1, keepdim=True) / 127
        made.whole = (matrix / made.scale).round().to(torch.int8)
        return made

    def dequantize(self) -> Tensor:
        return self.whole * self.scale

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is torch.nn.functional.linear:
            given, weight, bias = args
            return func(given, weight.whole.to(given.dtype) * weight.scale, bias)
        return super().__torch_function__(func, types, args, kwargs or {})

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is torch.ops.aten.detach.default:
            return args[0]
        raise NotImplementedError(f"Int8 dispatch: attempting to run unimplemented operator/function: {func}")


def quantised(family: str, how: str) -> PreTrainedModel:
    model = tiny(family)
    if how == "torchao":
        quantization = pytest.importorskip("torchao.quantization", reason="torchao is not installed")
        quantization.quantize_(model, quantization.Int8WeightOnlyConfig())
        return model
    for module in model.modules():
        if isinstance(module, torch.nn.Linear):
            module.weight = torch.nn.Parameter(Int8(module.weight.detach()), requires_grad=False)
    return model


@pytest.mark.parametrize("how", ["as torchao does", "torchao"])
@pytest.mark.parametrize("family", ["bert", "llama", "marian"])
def test_int8_weights_are_read_as_what_they_stand_for(family: str, how: str) -> None:
    model, inputs = quantised(family, how), tiny_inputs(family)
    with headscope.open(model) as lens:
        assert diagnose(lens, inputs).verdict == "ok"
        assert lens.matrices(lens.sites[0]) is not None
