"""Opening, running, streaming and closing: the user's model is watched and comes back as it was."""

from __future__ import annotations

import copy

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import headscope
from headscope.errors import HeadscopeError, InputError, ModelError, NormsUnavailable
from headscope.lens.doctor import diagnose
from headscope.lens.tokens.batch import Batch
from headscope.lens.watching.interface import AttentionCall
from tests.architectures.tiny_models import build
from tests.tiny import FAMILIES, tiny, tiny_inputs
from tests.tiny_tokenizers import tiny_tokenizer


def state_of(model: torch.nn.Module) -> dict[str, object]:
    """Everything that the lens might touch."""
    return {
        "implementation": [m.config._attn_implementation for m in model.modules() if hasattr(m, "config")],
        "training": [m.training for m in model.modules()],
        "hooks": [
            (list(m._forward_hooks), list(m._forward_pre_hooks), list(m._forward_hooks_always_called))
            for m in model.modules()
        ],
        "attributes": [set(vars(m)) for m in model.modules()],
        "parameters": [p.clone() for p in model.parameters()],
    }


def assert_same_state(one: dict[str, object], other: dict[str, object]) -> None:
    one, other = dict(one), dict(other)
    parameters = zip(one.pop("parameters"), other.pop("parameters"), strict=True)
    assert all(torch.equal(a, b) for a, b in parameters)
    assert one == other


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("implementation", ["sdpa", "eager"])
def test_model_comes_back_as_it_was(family: str, implementation: str) -> None:
    model = tiny(family)
    model.set_attn_implementation(implementation)
    model.train()
    next(model.children()).eval()  # a mixture of modes must survive too
    before = state_of(model)
    with headscope.open(model) as lens:
        lens.run(Batch(tiny_inputs(family)), lambda block: None)
    assert_same_state(before, state_of(model))


def test_model_comes_back_after_an_exception_in_the_middle() -> None:
    model = tiny("bert")
    before = state_of(model)

    def fail(block: headscope.AttentionBlock) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), headscope.open(model) as lens:
        lens.run(Batch(tiny_inputs("bert")), fail)
    assert_same_state(before, state_of(model))


def test_model_comes_back_when_opening_fails() -> None:
    from transformers import MambaConfig, MambaForCausalLM

    model = MambaForCausalLM(MambaConfig(vocab_size=50, hidden_size=16, num_hidden_layers=1, state_size=4)).train()
    before = state_of(model)
    with pytest.raises(ModelError, match="no softmax attention"):
        headscope.open(model)
    assert_same_state(before, state_of(model))


def test_outputs_of_the_watched_model_are_its_own() -> None:
    for family in FAMILIES:
        model, inputs = tiny(family), tiny_inputs(family)
        model.set_attn_implementation("eager")
        with torch.no_grad():
            alone = model(**inputs)[0]
        with headscope.open(model), torch.no_grad():
            watched = model(**inputs)[0]  # the user's own call, while the lens is open
        torch.testing.assert_close(watched, alone)


def test_one_model_in_two_lenses_is_refused() -> None:
    model = tiny("bert")
    with headscope.open(model), pytest.raises(ModelError, match="open in another lens"):
        headscope.open(model)
    headscope.open(model).close()  # and is free again afterwards


def test_a_lens_that_is_lost_gives_its_model_back() -> None:
    model = tiny("bert").train()
    before = state_of(model)
    lens = headscope.open(model, tiny_tokenizer("wordpiece"))
    assert not model.training
    lens.read("the cat")
    blocks = lens.stream(["the cat", "a dog"], batch_size=1)
    next(blocks)
    blocks.close()
    del lens, blocks
    assert_same_state(before, state_of(model))
    lens = headscope.open(model)
    lens.itself = lens  # lost in a circle: until the next collection, or until the model is wanted
    del lens
    headscope.open(model).close()
    assert_same_state(before, state_of(model))


def test_a_lens_that_is_held_keeps_its_model() -> None:
    model = tiny("bert")
    lens = headscope.open(model)
    with pytest.raises(ModelError, match="open in another lens"):
        headscope.open(model)
    assert not lens.closed
    lens.close()
    assert lens.closed


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_the_doctor_leaves_nothing_behind(family: str, dtype: torch.dtype) -> None:
    model, inputs = tiny(family).to(dtype).train(), tiny_inputs(family)
    before = state_of(model)
    with headscope.open(model) as lens:
        assert diagnose(lens, inputs).sites[0].own_weights_difference is not None
    assert_same_state(before, state_of(model))
    with torch.no_grad():
        model.set_attn_implementation("eager")
        given = model(**inputs, output_attentions=True)  # and the model can still say itself what it attends to
    assert all(maps is not None for name, maps in given.items() if name.endswith("attentions"))
    hooked = state_of(model)
    with headscope.open(model) as lens:
        diagnose(lens, inputs)
    assert_same_state(hooked, state_of(model))  # transformers' hooks that were there before stay


def test_closed_lens_says_so() -> None:
    lens = headscope.open(tiny("bert"))
    lens.close()
    lens.close()
    with pytest.raises(ModelError, match="closed"):
        lens.run(Batch(tiny_inputs("bert")), lambda block: None)


@pytest.mark.parametrize("family", FAMILIES)
def test_models_in_the_interface_are_read_through_it(family: str) -> None:
    """The second way in would work too, but makes n x n maps."""
    with headscope.open(tiny(family)) as lens:
        assert {site.capture for site in lens.sites} == {"interface"}


def test_sites_are_named_in_the_order_they_run() -> None:
    with headscope.open(tiny("marian")) as lens:
        places = [(site.stack, site.kind, site.layer) for site in lens.sites]
    decoder = [("decoder", kind, layer) for layer in (0, 1) for kind in ("self", "cross")]
    assert places == [("encoder", "self", 0), ("encoder", "self", 1), *decoder]
    with headscope.open(tiny("llama")) as lens:
        assert [(site.stack, site.heads, site.key_value_heads) for site in lens.sites] == [("decoder", 4, 2)] * 3
        assert lens.sites[2].projection == "model.layers.2.self_attn.o_proj"


@pytest.mark.parametrize("family", ["bert", "llama"])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_measured_in_float32(family: str, dtype: torch.dtype) -> None:
    exact = tiny(family)
    model = copy.deepcopy(exact).to(dtype)
    inputs = tiny_inputs(family)
    with headscope.open(model) as lens, headscope.open(exact) as reference:
        blocks, wanted = [], []
        lens.run(Batch(inputs), blocks.append)
        reference.run(Batch(inputs), wanted.append)
        assert diagnose(lens, inputs).verdict == "ok"
    assert {block.scores(measure).dtype for block in blocks for measure in ("weight", "norm", "joint_norm")} == {
        torch.float32
    }
    rows = torch.cat([block.weights.sum(-1)[block.row_mask[:, None].expand(-1, 4, -1)] for block in blocks])
    torch.testing.assert_close(rows, torch.ones_like(rows), atol=1e-5, rtol=0)  # half-precision rows would miss this
    torch.testing.assert_close(blocks[0].scores("norm"), wanted[0].scores("norm"), rtol=0.1, atol=0.05)


def test_changed_weights_change_the_norms() -> None:
    model, inputs = tiny("bert"), tiny_inputs("bert")
    with headscope.open(model) as lens:
        before: list[torch.Tensor] = []
        after: list[torch.Tensor] = []
        lens.run(Batch(inputs), lambda block: before.append(block.scores("norm")))
        with torch.no_grad():
            model.encoder.layer[0].attention.output.dense.weight.mul_(2)
        lens.run(Batch(inputs), lambda block: after.append(block.scores("norm")))
    torch.testing.assert_close(after[0], 2 * before[0])


def test_norms_that_cannot_be_had_say_why() -> None:
    model = tiny("bert")
    dense = model.encoder.layer[0].attention.output.dense
    dense.register_forward_pre_hook(lambda module, given: (given[0] ** 3,))  # the user's own hook: no factor of each row
    with headscope.open(model) as lens:
        assert lens.sites[0].why_no_norms is not None
        with pytest.raises(NormsUnavailable, match="only weights can be read here, because"):
            lens.run(Batch(tiny_inputs("bert")), lambda block: block.scores("norm"))
        assert diagnose(lens, tiny_inputs("bert")).verdict == "weights only"


# With a tokenizer


@pytest.fixture(scope="module")
def lens() -> headscope.Lens:
    return headscope.open(tiny("bert"), tiny_tokenizer("wordpiece"))


TEXTS = ["the cat sat on the mat", "a dog", ("one cat", "two dogs"), ["pre", "split", "words"], "the end"]


@given(batch_size=st.integers(1, 6), rows=st.one_of(st.none(), st.integers(1, 9)))
def test_stream_is_the_same_for_any_batch_and_block_size(lens: headscope.Lens, batch_size: int, rows: int | None) -> None:
    total = torch.zeros(3)
    for block in lens.stream(TEXTS, batch_size=batch_size, rows=rows):
        total[block.site.layer] += block.scores("norm").sum()
    wanted = torch.zeros(3)
    for text in TEXTS:
        wanted += _read(lens, text).scores("norm").sum((1, 2, 3))
    torch.testing.assert_close(total, wanted, rtol=1e-4, atol=1e-3)


def _read(lens: headscope.Lens, given: object) -> headscope.Reading:
    if isinstance(given, list):
        return lens.read(words=given)
    return lens.read(*given[:1], pair=given[1]) if isinstance(given, tuple) else lens.read(given)


def test_stream_can_be_left_in_the_middle(lens: headscope.Lens) -> None:
    for block in lens.stream(TEXTS, rows=2):
        assert block.rows == range(2)
        break
    assert lens.read("the cat").tokens  # the model is usable again at once


def test_stream_raises_what_goes_wrong_inside(lens: headscope.Lens) -> None:
    def documents():
        yield "the cat"
        raise FileNotFoundError("gone")

    with pytest.raises(FileNotFoundError):
        list(lens.stream(documents(), batch_size=1))
    with pytest.raises(InputError, match="must be a string"):
        list(lens.stream([3]))


def test_reading_has_the_shapes_that_it_says(lens: headscope.Lens) -> None:
    reading = lens.read("the cat sat", pair="a dog")
    n = len(reading.tokens)
    assert reading.scores("weight").shape == (3, 4, n, n)
    assert reading.scores("value_norm").shape == (3, 4, n)
    assert reading.scores("joint_norm").shape == (3, 1, n, n)
    assert reading.scores("norm", layer=1).shape == (4, n, n)
    torch.testing.assert_close(reading.scores("weight").sum(-1), torch.ones(3, 4, n))
    assert reading.batch.sources[0].segments == [0] * 5 + [1] * 3


def test_scores_are_ordinary_tensors(lens: headscope.Lens) -> None:
    scores = lens.read("the cat").scores("weight", layer=0)
    scores *= 2  # inference tensors would refuse
    assert not scores.requires_grad
    for block in lens.stream(["the cat"]):
        block.scores("norm").mul_(2)


def test_reading_in_words(lens: headscope.Lens) -> None:
    reading = lens.read(words=["unbelievable", "cats"])
    assert reading.tokens == ["[CLS]", "un", "##believ", "##able", "cat", "##s", "[SEP]"]
    words = reading.to_words()
    assert words.tokens == ["[CLS]", "unbelievable", "cats", "[SEP]"]
    pieces, merged = reading.scores("norm"), words.scores("norm")
    torch.testing.assert_close(merged[..., 1, 2], pieces[..., 1:4, 4:6].sum(-1).mean(-1))
    torch.testing.assert_close(words.scores("value_norm")[..., 1], reading.scores("value_norm")[..., 1:4].mean(-1))
    torch.testing.assert_close(words.scores("weight").sum(-1), torch.ones(3, 4, 4))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ({"text": ""}, "empty"),
        ({"text": " \n"}, "empty"),
        ({"words": []}, "empty"),
        ({"words": ["a", " "]}, "empty"),
        ({"words": "not a list"}, "not one string"),
        ({}, "no text"),
        ({"text": "a", "words": ["a"]}, "not both"),
        ({"text": "the cat " * 80}, "at most 64.*--truncate"),
        ({"text": "the cat", "target": "le chat"}, "not an encoder-decoder"),
    ],
)
def test_bad_input_is_one_clear_sentence(lens: headscope.Lens, call: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        lens.read(**call)


def test_truncation(lens: headscope.Lens) -> None:
    assert len(lens.read("the cat " * 80, truncate=True).tokens) == 64


def test_questions_that_a_reading_cannot_answer(lens: headscope.Lens) -> None:
    reading = lens.read("the cat")
    with pytest.raises(InputError, match=r"no decoder cross attention.*it has encoder self.*target"):
        reading.scores(kind="cross")
    with pytest.raises(InputError, match="in layer 7"):
        reading.scores(layer=7)
    with pytest.raises(InputError, match="There is no measure 'wieght'; choose one of"):
        reading.scores("wieght")
    with pytest.raises(HeadscopeError, match="no tokenizer"):
        headscope.open(tiny("bert")).read("x")


def test_some_layers_only(lens: headscope.Lens) -> None:
    whole, some = lens.read("the cat sat"), lens.read("the cat sat", layers=[2, 0])
    assert [site.layer for site in some.sites] == [0, 2]
    for measure in ("weight", "norm"):
        torch.testing.assert_close(some.scores(measure), whole.scores(measure)[[0, 2]])
    with pytest.raises(InputError, match="in layer 1"):
        some.scores(layer=1)


@pytest.mark.parametrize(
    ("layers", "message"),
    [
        ([0, 3], "no attention in layer 3: its layers with attention are 0, 1, 2"),
        ([-1], "layer -1"),
        ([], "no layer to read"),
    ],
)
def test_layers_that_do_not_exist(lens: headscope.Lens, layers: list[int], message: str) -> None:
    with pytest.raises(InputError, match=message):
        lens.read("the cat", layers=layers)


def test_layers_are_kept_in_every_stack_and_kind() -> None:
    with headscope.open(tiny("marian", encoder_layers=3), tiny_tokenizer("bpe")) as lens:
        places = {(site.stack, site.kind, site.layer) for site in lens.read("the cat", target="a dog", layers=[1]).sites}
        assert places == {("encoder", "self", 1), ("decoder", "self", 1), ("decoder", "cross", 1)}
        assert [site.stack for site in lens.read("the cat", target="a dog", layers=[2]).sites] == ["encoder"]
    with headscope.open(tiny("marian", decoder_layers=3), tiny_tokenizer("bpe")) as lens:
        with pytest.raises(InputError, match="layer 2: its layers with attention are 0, 1"):
            lens.read("the cat", layers=[2])  # without a target, the decoder does not run
        assert lens.read("the cat", target="a dog", layers=[2]).scores(kind="cross").shape[0] == 1


def test_layers_left_out_have_no_whole_map(lens: headscope.Lens, monkeypatch: pytest.MonkeyPatch) -> None:
    """A text whose maps would not all fit in memory: only those that were asked for are made in one piece."""
    tallest: dict[int, int] = {}
    own = AttentionCall.rows

    def rows(call: AttentionCall, start: int, stop: int) -> tuple[torch.Tensor, torch.Tensor]:
        layer = next(found.site.layer for found in lens.trace.sites if found.module is call.module)
        tallest[layer] = max(tallest.get(layer, 0), stop - start)
        return own(call, start, stop)

    wanted = lens.read("the cat sat").scores(layer=1)
    monkeypatch.setattr(AttentionCall, "rows", rows)
    monkeypatch.setattr("headscope.lens.watching.capture.BLOCK", 1)
    monkeypatch.setattr("headscope.lens.watching.capture.CUT", 1)
    monkeypatch.setattr("headscope.lens.watching.capture.ROWS", 1)
    reading = lens.read("the cat sat", layers=[1])
    assert tallest == {0: 1, 1: len(reading.tokens), 2: 1}
    torch.testing.assert_close(reading.scores(layer=1), wanted)


def test_layers_outside_the_interface() -> None:
    made = build("bloom")
    blocks: list[headscope.AttentionBlock] = []
    with headscope.open(made.model) as lens:
        lens.run(Batch(made.inputs), blocks.append, layers=[1])
    assert [block.site.layer for block in blocks] == [1]


def test_source_and_target() -> None:
    with headscope.open(tiny("marian"), tiny_tokenizer("bpe")) as lens:
        reading = lens.read("the cat sat", target="a dog")
        source, target = len(reading.tokens), len(reading.target_tokens)
        assert reading.scores().shape == (2, 4, source, source)
        assert reading.scores(stack="decoder").shape == (2, 4, target, target)
        assert reading.scores("norm", kind="cross").shape == (2, 4, target, source)
        assert reading.query_tokens("cross") == reading.target_tokens
        assert reading.key_tokens("cross") == reading.tokens
        alone = lens.read("the cat sat")
        torch.testing.assert_close(alone.scores("norm"), reading.scores("norm"))
        with pytest.raises(InputError, match="target"):
            alone.scores(kind="cross")
        with pytest.raises(InputError, match="all or none"):
            list(lens.stream([headscope.Document("a", target="b"), headscope.Document("a")]))
