"""Models as people hold them: `headscope.open(it)` reads the model inside, and gives it back as it was."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import headscope
from headscope.errors import ModelError
from headscope.lens.doctor import diagnose
from headscope.lens.tokens.batch import Batch
from headscope.lens.unwrapping import unwrapped
from tests.tiny import tiny, tiny_inputs
from tests.tiny_tokenizers import tiny_tokenizer


def with_adapter(family: str = "llama", where: tuple[str, ...] = ("o_proj",), **config: Any) -> Any:
    peft = pytest.importorskip("peft", reason="peft is not installed: make test installs it")
    torch.manual_seed(1)
    settings = peft.LoraConfig(r=2, target_modules=list(where), init_lora_weights=False, **config)
    return peft.get_peft_model(tiny(family), settings)


def norms(model: Any, family: str) -> list[torch.Tensor]:
    found: list[torch.Tensor] = []
    with headscope.open(model) as lens:
        lens.run(Batch(tiny_inputs(family)), lambda block: found.append(block.scores("norm")))
    return found


def everything(model: nn.Module) -> dict[str, Any]:
    """All that could be changed by mistake."""
    return {
        "arrays": {name: array.clone() for name, array in model.state_dict().items()},
        "modules": {name: (id(module), module.training) for name, module in model.named_modules()},
        "compiled": {name: module._compiled_call_impl for name, module in model.named_modules()},
        "hooks": {
            name: [dict(hooks) for hooks in (module._forward_hooks, module._forward_pre_hooks)]
            for name, module in model.named_modules()
        },
        "learning": {name: parameter.requires_grad for name, parameter in model.named_parameters()},
    }


def assert_same(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert one["arrays"].keys() == other["arrays"].keys()
    for name, array in one["arrays"].items():
        assert torch.equal(array, other["arrays"][name]), name
    assert {**one, "arrays": None} == {**other, "arrays": None}


@pytest.mark.parametrize("where", [("q_proj", "v_proj"), ("o_proj",), ("k_proj", "o_proj")])
def test_an_adapter_has_the_norms_of_its_merged_twin(where: tuple[str, ...]) -> None:
    adapted = with_adapter(where=where)
    with headscope.open(adapted) as lens:
        assert diagnose(lens, tiny_inputs("llama")).verdict == "ok"
        assert lens.name.endswith(" + default")
    apart = norms(adapted, "llama")
    merged = norms(adapted.merge_and_unload(), "llama")
    base = norms(tiny("llama"), "llama")
    for ours, theirs, plain in zip(apart, merged, base, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-7)
        assert (ours - plain).abs().max() > 1e-3 * plain.abs().max()  # the adapter is part of what was read


def test_adapters_may_be_chosen_otherwise_while_the_model_is_open() -> None:
    adapted = with_adapter()
    base = norms(tiny("llama"), "llama")
    with headscope.open(adapted) as lens:
        first: list[torch.Tensor] = []
        second: list[torch.Tensor] = []
        lens.run(Batch(tiny_inputs("llama")), lambda block: first.append(block.scores("norm")))
        with adapted.disable_adapter():
            lens.run(Batch(tiny_inputs("llama")), lambda block: second.append(block.scores("norm")))
    torch.testing.assert_close(second[0], base[0], rtol=1e-5, atol=1e-7)
    assert not torch.allclose(first[0], second[0], rtol=1e-3)


def test_an_adapter_on_gpt2s_transposed_layers() -> None:
    adapted = with_adapter("gpt2", ("c_attn", "c_proj"), fan_in_fan_out=True)
    with headscope.open(adapted) as lens:
        assert diagnose(lens, tiny_inputs("gpt2")).verdict == "ok"


def test_an_adapter_that_is_not_linear_is_refused_with_that_reason() -> None:
    adapted = with_adapter()
    layer = adapted.base_model.model.model.layers[0].self_attn.o_proj
    layer.lora_A["default"].register_forward_hook(lambda module, given, result: nn.functional.gelu(result))
    with headscope.open(adapted) as lens:
        assert "is not linear" in str(lens.sites[0].why_no_norms)
        assert lens.sites[1].why_no_norms is None


def test_prompts_that_are_learnt_are_refused() -> None:
    peft = pytest.importorskip("peft", reason="peft is not installed: make test installs it")
    tuned = peft.get_peft_model(tiny("llama"), peft.PromptTuningConfig(num_virtual_tokens=3, task_type="FEATURE_EXTRACTION"))
    with pytest.raises(ModelError, match=r"no tokens of it .* pass model.get_base_model\(\)"):
        headscope.open(tuned)


def wrapped(how: str) -> tuple[Any, nn.Module]:
    """A model as someone holds it, and the transformers model inside."""
    model = tiny("bert")
    match how:
        case "compiled":
            return torch.compile(model), model
        case "compiled in place":
            model.compile()
            return model, model
        case "compiled by layer":
            for index, layer in enumerate(model.encoder.layer):
                model.encoder.layer[index] = torch.compile(layer)
            return model, model
        case "DataParallel":
            return nn.DataParallel(model), model
        case "compiled DataParallel":
            return torch.compile(nn.DataParallel(model)), model
        case "adapter":
            adapted = with_adapter("bert", ("query", "dense"))
            return adapted, adapted.base_model.model
        case _:
            from transformers import pipeline

            made = pipeline("feature-extraction", model=model, tokenizer=tiny_tokenizer("wordpiece"))
            return made, made.model


HELD = ("compiled", "compiled in place", "compiled by layer", "DataParallel", "compiled DataParallel", "adapter", "pipeline")


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("how", HELD)
def test_what_is_held_is_read_and_comes_back_as_it_was(how: str, training: bool) -> None:
    held, model = wrapped(how)
    model.train(training)
    before = everything(model)
    with headscope.open(held) as lens:
        assert lens.model is model
        assert diagnose(lens, tiny_inputs("bert")).verdict == "ok"
    assert_same(everything(model), before)
    if how not in ("adapter",):
        for ours, theirs in zip(norms(held, "bert"), norms(tiny("bert"), "bert"), strict=True):
            assert torch.equal(ours, theirs)


def test_a_pipeline_brings_its_tokenizer() -> None:
    held, _ = wrapped("pipeline")
    with headscope.open(held) as lens:
        assert lens.tokenizer is held.tokenizer
        assert len(lens.read("the cat sat").blocks) == len(lens.sites)


class Tagger(nn.Module):
    def __init__(self, *models: nn.Module) -> None:
        super().__init__()
        self.towers = nn.ModuleList(models)
        self.head = nn.Linear(4, 2)


def test_where_the_model_is_inside_is_said() -> None:
    with pytest.raises(
        ModelError, match=r"^Tagger is no transformers model, .* headscope.open\(it.towers\[0\], tokenizer\)\.$"
    ):
        headscope.open(Tagger(tiny("bert")))
    with pytest.raises(ModelError, match=r"has 2 inside: pass one of it.towers\[0\], it.towers\[1\]\.$"):
        headscope.open(Tagger(tiny("bert"), tiny("bert")))
    with pytest.raises(ModelError, match="not Linear"):
        unwrapped(nn.Linear(2, 2))


def test_an_adapters_folder_is_opened_with_its_base(tmp_path: Path) -> None:
    peft = pytest.importorskip("peft", reason="peft is not installed: make test installs it")
    base, folder = tmp_path / "base", tmp_path / "adapter"
    model = tiny("bert")
    model.save_pretrained(base)
    tiny_tokenizer("wordpiece").save_pretrained(base)
    torch.manual_seed(1)
    config = peft.LoraConfig(r=2, target_modules=["query", "dense"], init_lora_weights=False)
    adapted = peft.get_peft_model(type(model).from_pretrained(base), config)
    adapted.save_pretrained(folder)
    with headscope.open(folder) as lens:
        assert lens.name == "adapter"
        blocks: list[torch.Tensor] = []
        lens.run(Batch(tiny_inputs("bert")), lambda block: blocks.append(block.scores("norm")))
    for ours, theirs in zip(blocks, norms(adapted, "bert"), strict=True):
        assert torch.equal(ours, theirs)
    text = (folder / "adapter_config.json").read_text()
    (folder / "adapter_config.json").write_text(text.replace(str(base), str(tmp_path / "moved")))
    with pytest.raises(ModelError, match="write where it is into base_model_name_or_path"):
        headscope.open(folder)
