"""What bertviz's functions take, ours take: a model's own attentions, an array a layer, beside its tokens."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoModel, AutoTokenizer, DistilBertConfig, DistilBertModel

import headscope
from headscope.views.state import State
from tests.tiny import tiny
from tests.views import decoding

Outputs = Any


@pytest.fixture(scope="module")
def distilbert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A saved model whose last output is its attentions."""
    folder = tmp_path_factory.mktemp("models") / "distilbert"
    torch.manual_seed(0)
    DistilBertModel(DistilBertConfig(vocab_size=90, dim=32, n_layers=3, n_heads=4, hidden_dim=40)).save_pretrained(folder)
    return folder


def eager(family: str) -> Any:
    model = tiny(family)
    model.set_attn_implementation("eager")
    return model


def ran(model: Any, length: int = 6, texts: int = 1, **options: Any) -> Outputs:
    ids = torch.arange(3, 3 + length).repeat(texts, 1)
    return model(ids, output_attentions=True, **options)


def tokens(length: int = 6) -> list[str]:
    return ["[CLS]", "the", "cat", "##s", "sat", "[SEP]", "a", "dog"][:length]


def drawn(view: headscope.View, group: str, layer: int) -> np.ndarray:
    return next(one for one in view.content.of_group(group) if one.layer == layer).scores["weight"]


@pytest.mark.parametrize("show", [headscope.head_view, headscope.model_view], ids=["head", "model"])
def test_the_last_output_of_a_model_that_is_loaded_to_return_attentions(show: Any, distilbert: Path) -> None:
    """With gradients, as a model that is just called has them."""
    model = AutoModel.from_pretrained(distilbert, output_attentions=True).eval()
    outputs = model(torch.arange(3, 9)[None])
    attention = outputs[-1]
    assert attention[0].requires_grad
    view = show(attention, tokens())
    for layer in range(3):
        np.testing.assert_array_equal(drawn(view, "encoder self", layer), attention[layer][0].detach().numpy())
    description, chunks = decoding.parts(view.html())
    shown = decoding.scores(description["attentions"][2], chunks, "weight")
    assert np.abs(shown - attention[2][0].detach().numpy()).max() <= 1 / 255
    assert view._repr_html_().startswith("<iframe")


def test_in_either_order_and_by_name() -> None:
    attentions = ran(eager("bert")).attentions
    same = [
        headscope.head_view(attentions, tokens()),
        headscope.head_view(tokens(), attentions),
        headscope.head_view(attention=attentions, tokens=tokens()),
        headscope.head_view(tokens=tokens(), scores=attentions),
        headscope.head_view(list(attentions), tuple(tokens())),
        headscope.head_view(torch.stack(attentions), tokens()),
        headscope.head_view(torch.stack(attentions)[:, 0], np.array(tokens())),
        headscope.head_view([layer[0].detach().numpy() for layer in attentions], tokens()),
    ]
    assert len({view.html() for view in same}) == 1


def test_the_choices_that_bertviz_has() -> None:
    attentions = ran(eager("bert"), 8).attentions
    view = headscope.head_view(attentions, tokens(8), 6, layer=2, heads=[1, 3])
    assert view.content.sides["source"].segments == [0] * 6 + [1] * 2
    assert (view.state.layer, view.state.heads) == (2, (1, 3))
    assert headscope.head_view(attentions, tokens(8), sentence_b_start=6, pairs="ab").fitted.pairs == "ab"
    some = headscope.model_view(attentions, tokens(8), include_layers=[1, 2], include_heads=[3], display_mode="dark")
    assert [(one.layer, one.heads) for one in some.content.attentions] == [(1, [3]), (2, [3])]
    np.testing.assert_array_equal(some.content.attentions[0].scores["weight"], attentions[1][0, [3]].detach().numpy())
    assert some.state.theme == "dark"
    assert [
        len(one.heads) for one in headscope.model_view(attentions, tokens(8), include_layers=[0]).content.attentions
    ] == [4]
    assert [one.layer for one in headscope.model_view(attentions, tokens(8), only={1: [0]}).content.attentions] == [1]


def test_the_page_that_is_returned_can_be_written(tmp_path: Path) -> None:
    view = headscope.head_view(ran(eager("bert")).attentions, tokens(), html_action="return")
    (tmp_path / "head_view.html").write_text(view.data, "utf-8")
    assert (tmp_path / "head_view.html").read_bytes() == view.save(tmp_path / "own.html").read_bytes()


def test_tokens_are_shown_without_their_marks_unless_asked_for() -> None:
    attentions = ran(eager("gpt2"), 4).attentions
    raw = ["The", "Ġcat", "ĠcafÃ©", "Ċ"]
    assert headscope.head_view(attentions, raw).content.sides["source"].tokens == ["The", "cat", "café", "⏎"]
    assert headscope.head_view(attentions, raw, prettify_tokens=False).content.sides["source"].tokens[1] == "Ġcat"
    assert headscope.head_view(attentions, raw).content.sides["source"].raw == raw


def test_a_decoder_is_known_by_what_it_does_not_see() -> None:
    view = headscope.head_view(ran(eager("gpt2")).attentions, tokens())
    assert view.content.groups == ["decoder self"]
    assert view.fitted.sinks == "hidden"
    assert headscope.head_view(ran(eager("bert")).attentions, tokens()).fitted.sinks == "shown"


def test_an_encoder_decoder_has_three() -> None:
    model = eager("marian")
    outputs = ran(model, decoder_input_ids=torch.arange(3, 7)[None])
    given = {
        "encoder_attention": outputs.encoder_attentions,
        "decoder_attention": outputs.decoder_attentions,
        "cross_attention": outputs.cross_attentions,
    }
    source, target = ["▁le", "▁chat", "▁dor", "t", ".", "</s>"], ["<pad>", "▁the", "▁cat", "▁sleeps"]
    for show in (headscope.head_view, headscope.model_view):
        view = show(**given, encoder_tokens=source, decoder_tokens=target)
        assert view.content.groups == ["encoder self", "decoder self", "decoder cross"]
        assert view.content.sides["source"].tokens[1] == "chat"
        for layer in range(2):
            for group, name in zip(view.content.groups, given, strict=True):
                np.testing.assert_array_equal(drawn(view, group, layer), given[name][layer][0].detach().numpy())
        assert view.html()
    assert headscope.head_view(**given, encoder_tokens=source, decoder_tokens=target, attention="cross").state == State(
        attention="decoder cross"
    )
    alone = headscope.head_view(decoder_attention=outputs.decoder_attentions, decoder_tokens=target)
    assert (alone.content.groups, alone.content.title) == (["decoder self"], "<pad> the cat sleeps")
    with pytest.raises(headscope.HeadscopeError, match="cross_attention= has no tokens: give encoder_tokens= too"):
        headscope.head_view(cross_attention=outputs.cross_attentions, decoder_tokens=target)
    with pytest.raises(headscope.HeadscopeError, match="two things to draw"):
        headscope.head_view(outputs.encoder_attentions, source, **given)


def test_layers_without_attention_keep_the_others_numbers_and_heads_may_differ() -> None:
    first, second = np.full((1, 2, 3, 3), 1 / 3), np.full((1, 5, 3, 3), 1 / 3)
    view = headscope.model_view((None, first, None, second), ["a", "b", "c"])
    assert [(one.layer, len(one.heads)) for one in view.content.attentions] == [(1, 2), (3, 5)]


def test_half_precision_is_drawn() -> None:
    attentions = [layer.bfloat16() for layer in ran(eager("bert")).attentions]
    assert drawn(headscope.head_view(attentions, tokens()), "encoder self", 0).dtype == np.float32


# What goes wrong, and what is said


def test_no_attentions_says_where_they_are() -> None:
    """transformers 5 returns () for them under sdpa; and as outputs[-1] of BERT or GPT-2, which is cross_attentions."""
    under_sdpa = ran(tiny("bert")).attentions
    last = ran(eager("bert"))[-1]
    for nothing in (under_sdpa, last, (None, None), []):
        with pytest.raises(headscope.HeadscopeError, match=r"outputs\.attentions .* attn_implementation='eager'"):
            headscope.head_view(nothing, tokens())
        with pytest.raises(headscope.HeadscopeError, match=r"outputs\.attentions"):
            headscope.model_view(tokens(), nothing)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: headscope.head_view(ran(eager("bert"), texts=3).attentions, tokens()), "of 3 texts: .* one"),
        (lambda: headscope.head_view(torch.stack(ran(eager("bert"), texts=2).attentions), tokens()), "of 2 texts"),
        (lambda: headscope.head_view(ran(eager("bert")).attentions, tokens(5)), "shape .* there are 4 heads, 5 tokens"),
        (lambda: headscope.head_view(ran(eager("bert"))[0], tokens()), r"shape .* its outputs\.attentions"),
        (lambda: headscope.head_view(ran(eager("bert")).attentions), "tokens="),
        (lambda: headscope.head_view(tokens(), tokens()), "two tokens"),
        (lambda: headscope.head_view(np.eye(6), tokens(), scores=np.eye(6)), "two scores"),
        (lambda: headscope.head_view(np.eye(6), tokens(), html_action="print"), 'html_action= is "view" or "return"'),
        (lambda: headscope.head_view(np.eye(6), tokens(), 9), "sentence_b_start= is the place"),
        (lambda: headscope.model_view(np.eye(6), tokens(), include_layers=[4]), "no layer 4 to draw: there are 0"),
        (lambda: headscope.model_view(np.eye(6), tokens(), include_heads=[4]), "no head 0.4"),
        (lambda: headscope.model_view(np.eye(6), tokens(), include_heads=[0], only={0: [0]}), "say the same"),
        (lambda: headscope.neuron_view(np.eye(6), tokens()), "queries and keys"),
    ],
)
def test_what_cannot_be_drawn_is_one_sentence(make: Any, words: str) -> None:
    with pytest.raises(headscope.HeadscopeError, match=words):
        make()


def test_attentions_of_a_text_that_was_generated_are_told_apart() -> None:
    model = eager("gpt2")
    ids = torch.arange(3, 7)[None]
    made = model.generate(
        ids, attention_mask=torch.ones_like(ids), max_new_tokens=2, do_sample=False, pad_token_id=0,
        output_attentions=True, return_dict_in_generate=True,
    )  # fmt: skip
    with pytest.raises(headscope.HeadscopeError, match=r"as generate\(\) returns them"):
        headscope.head_view(made.attentions, tokens(4))


def test_a_reading_takes_the_same_choices() -> None:
    from tests.tiny_tokenizers import tiny_tokenizer

    with headscope.open(tiny("bert"), tiny_tokenizer("wordpiece")) as lens:
        reading = lens.read("the cat sat")
        view = headscope.model_view(reading, include_layers=[2], display_mode="light")
    assert [one.layer for one in view.content.attentions] == [2]
    with pytest.raises(headscope.HeadscopeError, match="There are two"):
        headscope.head_view(reading, cross_attention=np.eye(3))


# Real models


@pytest.mark.real
def test_what_a_real_model_returns_is_what_the_lens_reads(minilm: Path) -> None:
    model = AutoModel.from_pretrained(minilm, output_attentions=True).eval()
    tokenizer = AutoTokenizer.from_pretrained(minilm)
    inputs = tokenizer("The rabbit quickly hopped", "The turtle slowly crawled", return_tensors="pt")
    outputs, ids = model(**inputs), inputs["input_ids"][0]
    start = inputs["token_type_ids"][0].tolist().index(1)
    view = headscope.head_view(outputs.attentions, tokenizer.convert_ids_to_tokens(ids), start)
    with headscope.open(minilm) as lens:
        reading = lens.read("The rabbit quickly hopped", pair="The turtle slowly crawled")
    own = headscope.head_view(reading, measures=["weight"])
    assert view.content.sides["source"].tokens == own.content.sides["source"].tokens
    assert view.content.sides["source"].segments == own.content.sides["source"].segments
    for layer in range(6):
        there, here = drawn(view, "encoder self", layer), drawn(own, "encoder self", layer)
        np.testing.assert_allclose(there, here, atol=1e-5)


@pytest.mark.real
def test_what_a_real_translator_returns(opus: Path) -> None:
    model = AutoModel.from_pretrained(opus, output_attentions=True).eval()
    tokenizer = AutoTokenizer.from_pretrained(opus)
    source = tokenizer("Le chat dort.", return_tensors="pt").input_ids
    target = tokenizer(text_target="The cat sleeps.", return_tensors="pt").input_ids
    outputs = model(input_ids=source, decoder_input_ids=target)
    view = headscope.model_view(
        encoder_attention=outputs.encoder_attentions,
        decoder_attention=outputs.decoder_attentions,
        cross_attention=outputs.cross_attentions,
        encoder_tokens=tokenizer.convert_ids_to_tokens(source[0]),
        decoder_tokens=tokenizer.convert_ids_to_tokens(target[0]),
    )
    assert [len(view.content.of_group(group)) for group in view.content.groups] == [6, 6, 6]
    assert view.content.sides["source"].tokens[:2] == ["Le", "chat"]
    np.testing.assert_array_equal(drawn(view, "decoder cross", 3), outputs.cross_attentions[3][0].detach().numpy())
