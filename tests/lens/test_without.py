"""A model without some heads is the hand-written one with their slices replaced; afterwards it is what it was."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from transformers import GPTNeoXConfig, GPTNeoXForCausalLM, PreTrainedModel

import headscope
from headscope.errors import InputError, ModelError
from headscope.lens import Head, HeadMeans
from headscope.lens.without import is_at, same_place
from tests.architectures.tiny_models import build, randomise
from tests.lens.language_models import TEXTS, documents, lens_for
from tests.lens.textbook_forward import FORWARD, Change
from tests.tiny import tiny, tiny_inputs

FAMILIES = (*FORWARD,)
HEADS = {
    "bert": ["0.1", "1.3"],
    "gpt2": ["0.0", "2.2"],
    "llama": ["1.3", "1.1"],
    "gpt_neox": ["0.2", "1.0"],
    "marian": ["encoder self 0.3", "decoder self 1.0", "decoder cross 1.2"],
}
PLACES = (None, -1, 0, [1, -2], slice(1, None))


def model_of(family: str) -> PreTrainedModel:
    if family != "gpt_neox":
        return tiny(family)
    torch.manual_seed(0)
    size = {"hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 40, "vocab_size": 90}
    model = GPTNeoXForCausalLM(GPTNeoXConfig(**size, max_position_embeddings=64)).eval()
    randomise(model)
    return model


def output_of(model: PreTrainedModel, inputs: dict[str, Tensor]) -> Tensor:
    with torch.no_grad():
        return model(**inputs)[0]


def real_rows(family: str, inputs: dict[str, Tensor]) -> Tensor:
    return inputs["decoder_attention_mask" if family == "marian" else "attention_mask"].bool()


def random_means(lens: headscope.Lens) -> HeadMeans:
    generator = torch.Generator().manual_seed(7)
    size = {site.name: (site.heads, site.head_size) for site in lens.sites}
    by_site = {name: torch.randn(*shape, generator=generator).double().numpy() for name, shape in size.items()}
    return HeadMeans(lens.name, by_site, dict.fromkeys(size, 1))


def by_hand(heads: list[Head], means: HeadMeans | None, at: object, inputs: dict[str, Tensor]) -> Change:
    """Loops over texts and tokens, in the place of masks."""

    def change(stack: str, kind: str, layer: int, z: Tensor) -> Tensor:
        z = z.clone()
        mask = inputs["decoder_attention_mask" if stack == "decoder" and "decoder_input_ids" in inputs else "attention_mask"]
        for head in (head for head in heads if head[:3] == (stack, kind, layer)):
            new = 0 if means is None else torch.from_numpy(means.by_site[f"{stack} {kind} layer {layer}"][head.head]).float()
            for text in range(len(z)):
                own = [place for place in range(z.shape[1]) if mask[text, place]]
                chosen = (
                    own
                    if at is None
                    else own[at]
                    if isinstance(at, slice)
                    else [own[i] for i in as_list(at) if i < len(own)]
                )
                for place in chosen:
                    z[text, place, head.head] = new
        return z

    return change


def as_list(at: object) -> list[int]:
    return [at] if isinstance(at, int) else list(at)


@pytest.mark.parametrize("at", PLACES, ids=str)
@pytest.mark.parametrize("how", ["zero", "mean"])
@pytest.mark.parametrize("family", FAMILIES)
def test_it_is_the_hand_written_model_with_the_slices_replaced(family: str, how: str, at: object) -> None:
    model, inputs = model_of(family), tiny_inputs(family)
    rows = real_rows(family, inputs)
    with headscope.open(model) as lens:
        means = random_means(lens) if how == "mean" else None
        heads = headscope.lens.head.heads_named(HEADS[family], lens.sites)
        with lens.without(*HEADS[family], how=how, means=means, at=at):
            found = output_of(model, inputs)[rows]
        with torch.no_grad():
            expected = FORWARD[family](model, inputs, by_hand(heads, means, at, inputs))[rows]
            untouched = FORWARD[family](model, inputs, lambda *given: given[-1])[rows]
        assert torch.allclose(found, expected, atol=2e-5, rtol=1e-5)
        assert torch.allclose(output_of(model, inputs)[rows], untouched, atol=2e-5, rtol=1e-5)
        assert (found - untouched).abs().max() > 1e-2, "a test that could not fail would be none"


def test_padding_on_the_left_is_not_counted() -> None:
    """The last token, and the first, are the text's own wherever the padding stands."""
    model = tiny("llama")
    ids = torch.randint(3, 80, (1, 6), generator=torch.Generator().manual_seed(3))
    padded = torch.cat([torch.full((1, 3), 5), ids], 1)
    mask = torch.cat([torch.zeros(1, 3), torch.ones(1, 6)], 1).long()
    with headscope.open(model) as lens:
        for at in PLACES:
            with lens.without("1.2", how="zero", at=at):
                alone = output_of(model, {"input_ids": ids})
                beside = output_of(model, {"input_ids": padded, "attention_mask": mask})
            assert torch.allclose(beside[:, 3:], alone, atol=1e-5)


@pytest.mark.parametrize("family", ["gpt2", "llama", "marian"])
@pytest.mark.parametrize("at", [None, 2, slice(0, 4)], ids=str)
def test_generation_with_its_cache_is_generation_without_one(family: str, at: object) -> None:
    """One token at a time, each by the hand-written model on all tokens before it."""
    model = model_of(family)
    ids = tiny_inputs(family, lengths=(6,), targets=(1,))
    name, side = HEADS[family][-1], "decoder_" if family == "marian" else ""
    read = {part: ids[part] for part in ("input_ids", "attention_mask")}
    options = {"do_sample": False, "num_beams": 1, "max_new_tokens": 6, "output_logits": True}
    with headscope.open(model) as lens:
        chosen = headscope.lens.head.heads_named([name], lens.sites)
        with lens.without(name, how="zero", at=at):
            made = model.generate(**read, **options, return_dict_in_generate=True, pad_token_id=89)
    for step, logits in enumerate(made.logits):
        now = made.sequences[:, : made.sequences.shape[1] - len(made.logits) + step]
        inputs = {**ids, f"{side}input_ids": now, f"{side}attention_mask": torch.ones_like(now)}
        with torch.no_grad():
            expected, clean = (
                FORWARD[family](model, inputs, change)[0, -1]
                for change in (by_hand(chosen, None, at, inputs), lambda *given: given[-1])
            )
        assert torch.allclose(logits[0], expected, atol=2e-5)
        assert at is not None or (expected - clean).abs().max() > 1e-3
    assert len(made.logits) > 3


def test_the_last_token_of_a_cached_step_is_the_new_one() -> None:
    model = tiny("llama")
    ids = torch.randint(3, 80, (2, 5), generator=torch.Generator().manual_seed(4))
    with headscope.open(model) as lens, torch.no_grad():
        cache = model(input_ids=ids[:, :4], use_cache=True).past_key_values
        clean = model(input_ids=ids[:, :4], use_cache=True).past_key_values
        with lens.without("0.1", how="zero", at=-1):
            last = model(input_ids=ids[:, 4:], past_key_values=cache).logits
            whole = model(input_ids=ids).logits[:, -1:]
        with lens.without("0.1", how="zero", at=3):
            third = model(input_ids=ids[:, 4:], past_key_values=clean).logits
        assert torch.allclose(last, whole, atol=1e-5)
        assert torch.allclose(third, model(input_ids=ids).logits[:, -1:], atol=1e-5), "it has been read before"


# Afterwards


@pytest.mark.parametrize("family", FAMILIES)
def test_afterwards_the_model_is_bit_for_bit_what_it_was(family: str) -> None:
    model, inputs = model_of(family), tiny_inputs(family)
    weights = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    hooks = [(len(module._forward_hooks), len(module._forward_pre_hooks)) for module in model.modules()]
    with headscope.open(model) as lens:
        before = output_of(model, inputs)
        with lens.without(*HEADS[family], how="zero", at=0):
            assert not torch.equal(output_of(model, inputs), before)
        assert torch.equal(output_of(model, inputs), before)
        with pytest.raises(ZeroDivisionError), lens.without(*HEADS[family], how="zero"):
            fail(model, inputs)
        assert torch.equal(output_of(model, inputs), before)
    assert all(torch.equal(tensor, weights[name]) for name, tensor in model.state_dict().items())
    assert hooks == [(len(module._forward_hooks), len(module._forward_pre_hooks)) for module in model.modules()]


def fail(model: PreTrainedModel, inputs: dict[str, Tensor]) -> None:
    output_of(model, inputs)
    raise ZeroDivisionError


def test_a_pass_that_breaks_off_does_not_shift_the_layers_of_the_next() -> None:
    """ALBERT runs one layer again and again: a count that went on would take the wrong one."""
    model = build("albert").model
    inputs = build("albert").inputs
    with headscope.open(model) as lens, lens.without("1.0", how="zero"):
        expected = output_of(model, inputs)
        seen = []

        def break_off(*_: object) -> None:
            seen.append(None)
            if len(seen) == 1:
                raise ZeroDivisionError

        hook = lens.trace.sites[0].projection.module.register_forward_hook(break_off)
        with pytest.raises(ZeroDivisionError):
            output_of(model, inputs)
        hook.remove()
        assert torch.equal(output_of(model, inputs), expected)


def test_one_layer_for_all_has_each_of_its_calls_by_itself() -> None:
    """ALBERT: each layer's absence is another change, and the sum of calls is told apart."""
    tiny_albert = build("albert")
    with headscope.open(tiny_albert.model) as lens:
        layers = [site.layer for site in lens.sites]
        outputs = []
        for layer in layers:
            kept = []
            with lens.without(f"{layer}", how="zero"):
                hook = lens.trace.sites[0].projection.module.register_forward_hook(
                    lambda *run, kept=kept: kept.append(run[-1])
                )
                output_of(tiny_albert.model, tiny_albert.inputs)
                hook.remove()
            bias = lens.trace.sites[0].projection.module.bias
            assert [torch.equal(one, bias.expand_as(one)) for one in kept] == [other == layer for other in layers]
            outputs.append(kept)
    assert len(layers) > 1


@pytest.mark.parametrize("model_type", ["qwen3_next", "fsmt", "convbert", "squeezebert", "gptj", "bloom", "xlm", "t5"])
def test_all_heads_of_a_layer_gone_leave_the_bias_however_it_is_read(model_type: str) -> None:
    """Gates, rows before texts, features beside the heads, convolutions, the second way in."""
    made = build(model_type)
    with headscope.open(made.model) as lens, torch.no_grad():
        for found in lens.trace.sites:
            kept = []
            with lens.without(f"{found.site.group} {found.site.layer}", how="zero", at=0):
                hook = found.projection.module.register_forward_hook(lambda *run, kept=kept: kept.append(run))
                lens.forward(made.inputs)
                hook.remove()
            module, (given,), result = kept[0]
            turned = isinstance(module, torch.nn.Conv1d)
            given, result = (one.mT if turned else one for one in (given, result))
            rows = (given[0] if found.projection.rows_first else given.flatten(0, -2)[:: given.shape[-2]], result)
            assert (rows[0][:, found.projection.columns.flatten()] == 0).all(), "at the first token of every text"
            assert (given != 0).any()
            if model_type != "convbert":
                first = result[0] if found.projection.rows_first else result.flatten(0, -2)[:: result.shape[-2]]
                bias = torch.zeros(1) if module.bias is None else module.bias
                assert torch.equal(first, bias.expand_as(first))


def test_heads_that_are_subtracted_from_one_another_are_refused() -> None:
    with headscope.open(build("diffllama").model) as lens, pytest.raises(ModelError, match="one is subtracted from another"):
        lens.without("0.0", how="zero").__enter__()


# Where else it holds


def test_gradients_flow_as_in_the_hand_written_model() -> None:
    model, inputs = tiny("llama"), tiny_inputs("llama", lengths=(7,))
    with headscope.open(model) as lens:
        with lens.without("1.3", "1.1", how="zero"):
            model(**inputs).logits.square().mean().backward()
        found = {name: one.grad.clone() for name, one in model.named_parameters()}
        model.zero_grad()
        heads = headscope.lens.head.heads_named(["1.3", "1.1"], lens.sites)
        FORWARD["llama"](model, inputs, by_hand(heads, None, None, inputs)).square().mean().backward()
    assert all(torch.allclose(found[name], one.grad, atol=1e-5) for name, one in model.named_parameters())


def test_checkpointed_layers_do_without_them_when_they_run_again() -> None:
    model, inputs = tiny("llama").train(), tiny_inputs("llama", lengths=(7,))
    gradients = []
    with headscope.open(model) as lens:
        model.train()
        for checkpointed in (False, True):
            if checkpointed:
                model.gradient_checkpointing_enable()
            with lens.without("1.3", how="zero"):
                model(**inputs, use_cache=False).logits.square().mean().backward()
            gradients.append({name: one.grad.clone() for name, one in model.named_parameters()})
            model.zero_grad()
    assert all(torch.allclose(gradients[0][name], one, atol=1e-6) for name, one in gradients[1].items())


@pytest.mark.parametrize("family", ["bert", "gpt2", "llama", "marian"])
def test_readings_and_streams_do_without_them_too(family: str) -> None:
    lens, some = lens_for(family), documents(family)
    name = HEADS[family][0]
    layer = headscope.lens.head.heads_named([name], lens.sites)[0].layer
    before = lens.read(some[0])
    with lens.without(name, how="zero"):
        reading = lens.read(some[0])
        streamed = [block.weights.clone() for block in lens.stream(some[:1])]
    kind = {"stack": "encoder"} if family == "marian" else {}
    one, other = (each.scores("weight", kind="self", **kind) for each in (before, reading))
    assert torch.equal(torch.as_tensor(one[: layer + 1]), torch.as_tensor(other[: layer + 1])), (
        "its own map is what it would be"
    )
    assert not torch.equal(torch.as_tensor(one[layer + 1]), torch.as_tensor(other[layer + 1]))
    assert torch.allclose(streamed[layer + 1][0], torch.as_tensor(other[layer + 1]), atol=1e-6)


@pytest.mark.parametrize("family", ["bert", "gpt2", "llama", "marian"])
def test_means_are_those_of_every_token_and_survive_their_file(family: str, tmp_path) -> None:
    lens, some = lens_for(family), documents(family)
    sums: dict[str, Tensor] = {}
    counts: dict[str, int] = {}
    means = lens.head_means(some, batch_size=3)
    for document in some:  # one by one: no padding

        def change(site, z, where):
            sums[site.name] = sums.get(site.name, 0) + z[0].double().sum(0)
            counts[site.name] = counts.get(site.name, 0) + z.shape[1]

        with torch.no_grad(), lens.changed_heads({s: (lambda z, w, s=s: change(s, z, w)) for s in lens.sites}):
            lens.forward(lens.encoder.batch([document]).inputs)
    for site in lens.sites:
        assert means.tokens[site.name] == counts[site.name]
        assert torch.allclose(torch.from_numpy(means.of(site)), sums[site.name] / counts[site.name], atol=1e-6)
    means.save(tmp_path / "means.safetensors")
    again = HeadMeans.load(tmp_path / "means.safetensors")
    assert again.model == means.model
    assert all((again.of(site) == means.of(site)).all() for site in lens.sites)
    inputs = lens.encoder.batch(some).inputs
    outputs = []
    for how in ({}, {"means": means}, {"means": tmp_path / "means.safetensors"}):
        with lens.without(HEADS[family][0], **how):
            outputs.append(output_of(lens.model, inputs))
    assert torch.equal(outputs[0], outputs[1])
    assert torch.equal(outputs[0], outputs[2])


def test_resample_takes_what_another_text_has_at_the_same_place() -> None:
    lens = lens_for("llama")
    text, other = TEXTS[0], TEXTS[3]
    batch, donor = lens.encoder.batch([text]), lens.encoder.batch([other])
    kept: dict[str, Tensor] = {}

    def keep(stack: str, kind: str, layer: int, z: Tensor) -> Tensor:
        kept[f"{layer}"] = z
        return z

    def change(stack: str, kind: str, layer: int, z: Tensor) -> Tensor:
        if layer != 1:
            return z
        z, length = z.clone(), kept["1"].shape[1]
        for place in range(z.shape[1]):
            there = place if place < length else 1 + (place - 1) % (length - 1)
            z[0, place, 2] = kept["1"][0, there, 2]
        return z

    with torch.no_grad():
        FORWARD["llama"](lens.model, donor.inputs, keep)
        expected = FORWARD["llama"](lens.model, batch.inputs, change)
    assert donor.inputs["input_ids"].shape[1] < batch.inputs["input_ids"].shape[1] - 1
    with lens.without("1.2", how="resample", others=[other]):
        assert torch.allclose(output_of(lens.model, batch.inputs), expected, atol=1e-5)
    with lens.without("1.2", how="resample", others=[text]):
        assert torch.allclose(
            output_of(lens.model, batch.inputs), FORWARD["llama"](lens.model, batch.inputs, lambda *g: g[-1]), atol=1e-5
        )


@given(st.lists(st.integers(0, 12), min_size=1, max_size=4), st.integers(0, 5), st.sampled_from(["left", "right"]))
def test_places_are_those_of_a_list_without_padding(lengths: list[int], more: int, side: str) -> None:
    longest = max(lengths) + more
    if longest == 0:
        return
    pads = [longest - length for length in lengths]
    mask = [
        [0] * pad + [1] * length if side == "left" else [1] * length + [0] * pad
        for pad, length in zip(pads, lengths, strict=True)
    ]
    places, counts = headscope.lens.watching.places.places_of((len(lengths), longest), torch.tensor(mask))
    for at in PLACES:
        found = is_at(at, places, counts)
        for row, (pad, length) in enumerate(zip(pads, lengths, strict=True)):
            own = list(range(pad if side == "left" else 0, longest))[:length]
            expected = (
                own
                if at is None
                else own[at]
                if isinstance(at, slice)
                else [own[i] for i in as_list(at) if -length <= i < length]
            )
            assert found[row].nonzero()[:, 0].tolist() == sorted(set(expected))


def test_the_same_place_is_never_the_first_again() -> None:
    assert same_place(torch.arange(4), torch.tensor(1)).tolist() == [0, 0, 0, 0]
    assert 0 not in same_place(torch.arange(1, 30), torch.tensor(3)).tolist()


# What is refused


@pytest.mark.parametrize(
    ("heads", "options", "says"),
    [
        (["9.1"], {}, "There is no layer 9.1: this model has decoder self layers 0 to 2."),
        (["1.9"], {}, "layer 1 has heads 0 to 3"),
        (["one"], {}, "is not a head: write layer.head"),
        ([], {}, "No head is named"),
        ([Head("encoder", "self", 0, 0)], {}, "There is no head encoder self 0.0"),
        (["0.0"], {"how": "median"}, "zero, mean or resample"),
        (["0.0"], {"how": "mean"}, "lens.head_means(corpus)"),
        (["0.0"], {"how": "resample"}, "others="),
        (["0.0"], {"means": "nowhere.safetensors"}, "has no means of heads"),
    ],
)
def test_what_cannot_be_is_said_in_one_sentence(heads: list, options: dict, says: str) -> None:
    with (
        headscope.open(tiny("llama")) as lens,
        pytest.raises(InputError, match=says.replace("(", r"\(").replace(")", r"\)")),
    ):
        lens.without(*heads, **options)


def test_a_name_that_fits_several_attentions_is_refused() -> None:
    with headscope.open(tiny("marian")) as lens:
        with pytest.raises(InputError, match=r"encoder self 0\.1 or decoder self 0\.1 or decoder cross 0\.1"):
            lens.without("0.1", how="zero")
        with pytest.raises(InputError, match=r"encoder self 0\.1 or decoder self 0\.1"):
            lens.without("self 0.1", how="zero")


def test_a_closed_lens_takes_nothing_away() -> None:
    with headscope.open(tiny("llama")) as lens:
        pass
    with pytest.raises(ModelError, match="closed"):
        lens.without("0.0", how="zero")


def test_checkpointed_layers_that_serve_twice_are_refused() -> None:
    model = build("albert").model
    with headscope.open(model) as lens:
        model.albert.encoder.gradient_checkpointing = True
        with pytest.raises(ModelError, match="gradient_checkpointing_disable"):
            lens.without("0.0", how="zero")
