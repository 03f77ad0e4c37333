"""What a model predicts under an open lens is what the plain model predicts, and the lens is afterwards as it was."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import (
    AutoModelForCausalLM,
    AutoModelForSeq2SeqLM,
    AutoTokenizer,
    BertConfig,
    BertForMaskedLM,
    BertForPreTraining,
    BertLMHeadModel,
)

import headscope
from headscope.errors import InputError, ModelError
from headscope.lens import Lens
from headscope.lens.predicted import Predicted, Without
from headscope.lens.predictions import GAPS, Bounds, Out, compares_texts, predict, similarity
from headscope.text import Document
from tests.architectures.tiny_models import build
from tests.lens.language_models import language_model, lens_for, tokenizer_for
from tests.tiny import tiny
from tests.tiny_tokenizers import tiny_tokenizer

TEXT = "the cat sat on the"
SMALL = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 40, "vocab_size": 90}


def predicted(lens: Lens, text: str, pair: str | None = None, **options: Any) -> Predicted:
    return predict(lens, lens.encoder.batch([Document(text, pair)]), **options)


def check_guesses(found: Predicted, number: int, logits: torch.Tensor, tokenizer: Any) -> None:
    """The five likeliest of the plain model's softmax over its whole vocabulary."""
    share = logits.double().exp() / logits.double().exp().sum()
    order = sorted(range(len(share)), key=lambda token: -float(share[token]))[:5]
    guesses = found.gaps[number].guesses
    assert [guess.probability for guess in guesses] == pytest.approx([float(share[token]) for token in order], rel=1e-5)
    assert [guess.token for guess in guesses] == [shown_as(tokenizer, token) for token in order]


def shown_as(tokenizer: Any, token: int) -> str:
    name = tokenizer.convert_ids_to_tokens(token)
    return f"<token {token}>" if name is None else "␣" if name == "Ġ" else str(name).replace("Ġ", "")


# The next token


@pytest.mark.parametrize("family", ["gpt2", "llama"])
def test_the_next_token_is_the_plain_models(family: str) -> None:
    tokenizer = tokenizer_for(family)
    found = predicted(lens_for(family), TEXT)
    ids = tokenizer(TEXT, add_special_tokens=False, return_tensors="pt").input_ids
    with torch.no_grad():
        logits = language_model(family)(ids).logits[0, -1]
    check_guesses(found, 0, logits, tokenizer)
    assert (found.task, found.gaps[0].segment, found.gaps[0].position) == ("next", "text", ids.shape[1])


def test_a_guess_can_be_read_on() -> None:
    """Its text, tokenised again, is the text before and the guessed token: the next question that a reader would ask."""
    lens = lens_for("gpt2")
    ids = lens.encoder.batch([TEXT]).sources[0].ids[:-1]  # without the end token
    guesses = predicted(lens, TEXT).gaps[0].guesses
    texts = {guess.token: guess.reads for guess in guesses if guess.reads}
    assert texts
    for token, text in texts.items():
        assert text.startswith(TEXT)
        assert text.removeprefix(TEXT).strip() == token.replace("␣", "")
        again = lens.encoder.batch([text]).sources[0].ids[:-1]
        assert len(again) <= len(ids) + 1  # it may join the piece before it


def test_of_a_text_that_was_cut_off_nothing_is_read_on() -> None:
    lens = lens_for("gpt2")
    batch = lens.encoder.batch([TEXT], max_tokens=4, truncate=True)
    assert [guess.reads for guess in predict(lens, batch).gaps[0].guesses] == [""] * 5


# Masked tokens


@pytest.mark.parametrize("kind", ["bert", "two heads"])
def test_masked_tokens_are_the_plain_models(kind: str) -> None:
    tokenizer = tokenizer_for("bert")
    torch.manual_seed(0)
    plain = language_model("bert") if kind == "bert" else BertForPreTraining(BertConfig(**SMALL)).eval()
    twin = type(plain)(plain.config).eval()
    twin.load_state_dict(plain.state_dict())
    text = "the [MASK] sat on the [MASK] ."
    ids = tokenizer(text, return_tensors="pt")
    with torch.no_grad():
        output = plain(input_ids=ids.input_ids, attention_mask=ids.attention_mask)
    logits = (output.logits if kind == "bert" else output.prediction_logits)[0]
    with headscope.open(twin, tokenizer) as lens:
        found = predicted(lens, text)
    assert [place.position for place in found.gaps] == [2, 6]
    for number, place in enumerate(found.gaps):
        check_guesses(found, number, logits[place.position], tokenizer)


def test_a_mask_is_filled_where_it_stands() -> None:
    text = "a 🙂 [MASK] sat, the [MASK]."
    torch.manual_seed(1)
    tokenizer = tokenizer_for("bert")
    with headscope.open(BertForMaskedLM(BertConfig(**SMALL | {"vocab_size": len(tokenizer)})), tokenizer) as lens:
        first, second = predicted(lens, text).gaps
    for place, (before, after) in ((first, ("a 🙂 ", " sat, the [MASK].")), (second, ("a 🙂 [MASK] sat, the ", "."))):
        words = [guess for guess in place.guesses if not guess.token.startswith(("##", "["))]
        assert words
        assert [guess.reads for guess in words] == [f"{before}{guess.token}{after}" for guess in words]
        assert {guess.reads for guess in place.guesses if guess not in words} <= {""}


def test_masks_of_a_pair_and_too_many() -> None:
    lens = lens_for("bert")
    (place,) = predicted(lens, "the cat sat", "on a [MASK]").gaps
    assert place.segment == "pair"
    assert {guess.reads for guess in place.guesses} - {""} <= {f"on a {guess.token}" for guess in place.guesses}
    many = predicted(lens, "[MASK] " * 11)
    assert (len(many.gaps), many.left_out) == (GAPS, 3)


def test_how_to_get_a_mask_is_said() -> None:
    found = predicted(lens_for("bert"), TEXT)
    assert (found.task, found.gaps) == ("masked", [])
    assert found.says == "Write [MASK] in the place of a word, and the model guesses it."
    with headscope.open(language_model("bert"), tiny_tokenizer("wordpiece")) as lens:
        assert "no mask token" in predicted(lens, TEXT).says


# A text of its own


def test_a_written_text_is_the_plain_models() -> None:
    lens, plain, tokenizer = lens_for("marian"), language_model("marian"), tokenizer_for("marian")
    inputs = tokenizer(TEXT, return_tensors="pt")
    most = Bounds().tokens_for(inputs.input_ids.shape[1])
    options = {"do_sample": False, "max_new_tokens": most}
    right = plain.generate(input_ids=inputs.input_ids, attention_mask=inputs.attention_mask, **options)[0]
    found = predicted(lens, TEXT)
    assert found.written == tokenizer.decode(right, skip_special_tokens=True).strip() != ""
    assert found.complete == (len(right) - 1 < most)
    batch = lens.encoder.batch([Document(TEXT, target="two dogs")])
    assert predict(lens, batch).written == found.written  # whatever target was given


def test_writing_is_bounded_in_length_and_time_and_uses_its_cache() -> None:
    lens = lens_for("marian")
    lengths: list[int] = []
    decoder = lens.model.get_decoder()
    handle = decoder.register_forward_pre_hook(
        lambda _, __, given: lengths.append(given["input_ids"].shape[1]), with_kwargs=True
    )
    try:
        short = predicted(lens, TEXT, bounds=Bounds(tokens=3))
        assert (lengths, short.complete) == ([1, 1, 1], False)
        lengths.clear()
        assert not predicted(lens, TEXT, bounds=Bounds(seconds=0)).complete
        assert lengths == [1]
    finally:
        handle.remove()


# Nothing


def test_a_model_without_a_head_says_so() -> None:
    with headscope.open(tiny("bert"), tiny_tokenizer("wordpiece"), name="tiny") as lens:
        found = predicted(lens, TEXT)
        assert found == Predicted(None, says="tiny has no language-model head (it is a BertModel), so it predicts no words.")
        assert compares_texts(lens)
    with headscope.open(BertLMHeadModel(BertConfig(**SMALL)), tokenizer_for("bert")) as lens:
        assert "attention also sees later ones, so it predicts no words." in predicted(lens, TEXT).says
        assert not compares_texts(lens)
    assert not any(compares_texts(lens_for(family)) for family in ("bert", "gpt2", "marian"))


def test_similarity_is_the_cosine_of_means() -> None:
    plain, tokenizer = tiny("bert"), tiny_tokenizer("wordpiece")
    texts = (TEXT, "two dogs")
    vectors = []
    for text in texts:
        with torch.no_grad():
            states = plain(**tokenizer(text, return_tensors="pt")).last_hidden_state[0].double()
        vectors.append(sum(states) / len(states))
    one, other = vectors
    right = float((one * other).sum() / ((one**2).sum().sqrt() * (other**2).sum().sqrt()))
    with headscope.open(tiny("bert"), tokenizer) as lens:
        batches = [lens.encoder.batch([text]) for text in texts]
        assert similarity(lens, *batches) == pytest.approx(right, abs=1e-6)
        assert similarity(lens, *batches[::-1]) == pytest.approx(right, abs=1e-6)
        assert similarity(lens, batches[0], batches[0]) == pytest.approx(1, abs=1e-6)


# The lens afterwards


@pytest.mark.parametrize("family", ["bert", "gpt2", "marian"])
def test_the_lens_is_as_it_was_also_where_nobody_waits(family: str) -> None:
    lens = lens_for(family)
    text, target = "the [MASK] sat", "two dogs" if family == "marian" else None
    before = lens.read(text, target=target)
    state = {module: (len(module._forward_pre_hooks), len(module._forward_hooks)) for module in lens.model.modules()}
    calls = 0

    def leave() -> None:
        nonlocal calls
        calls += 1
        if calls == 2:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        predicted(lens, text, check=leave)
    assert calls == 2  # and no attention more
    predicted(lens, text)
    assert state == {module: (len(module._forward_pre_hooks), len(module._forward_hooks)) for module in lens.model.modules()}
    after = lens.read(text, target=target)
    for site, block in before.blocks.items():
        assert torch.equal(block.weights, after.blocks[site].weights)


def test_other_threads_read_meanwhile() -> None:
    """Predicting switches nothing over, and asks nobody else whether to go on."""
    lens = lens_for("gpt2")
    right = lens.read(TEXT).scores("weight")
    begun, done = threading.Event(), threading.Event()

    def check() -> None:
        assert threading.get_ident() == predicting.ident
        begun.set()
        done.wait(20)

    predicting = threading.Thread(target=lambda: predicted(lens, TEXT, check=check))
    predicting.start()
    try:
        assert begun.wait(20)
        assert torch.equal(lens.read(TEXT).scores("weight"), right)
    finally:
        done.set()
        predicting.join(20)


# Without some heads: the plain model, of which the head's part of W_O is zero


def cut(family: str, layer: int, head: int, kind: str = "") -> Any:
    """A copy of the model that cannot read what a head brings."""
    model: Any = language_model(family)
    if family == "bert":
        weight = model.bert.encoder.layer[layer].attention.output.dense.weight.T
    elif family == "gpt2":
        weight = model.transformer.h[layer].attn.c_proj.weight
    else:
        weight = getattr(model.model.decoder.layers[layer], kind).out_proj.weight.T
    size = weight.shape[0] // 4
    with torch.no_grad():
        weight[head * size : (head + 1) * size] = 0
    return model


def check_without(found: Predicted, number: int, logits: torch.Tensor, changed: torch.Tensor, tokenizer: Any) -> None:
    """Both models' five likeliest are there, each with the probability that both give it, and KL is the textbook's."""
    p, q = (some.double().softmax(-1) for some in (logits, changed))
    gap = found.gaps[number]
    for guess in gap.guesses:  # "the" and " the" are shown alike
        shown = [token for token in range(len(p)) if shown_as(tokenizer, token) == guess.token]
        pairs = [pytest.approx((float(p[token]), float(q[token])), rel=1e-4) for token in shown]
        assert any((guess.probability, guess.without) == pair for pair in pairs)
    for order, key in ((p, "probability"), (q, "without")):
        right = sorted((float(share) for share in order), reverse=True)[:5]
        assert sorted((getattr(guess, key) for guess in gap.guesses), reverse=True)[:5] == pytest.approx(right, rel=1e-4)
    assert gap.kl == pytest.approx(float((p * (p / q).log()).sum()), rel=1e-4)
    assert gap.kl > 1e-4, "a head that changes nothing would show nothing"


def test_the_next_token_and_the_loss_without_a_head() -> None:
    lens, tokenizer = lens_for("gpt2"), tokenizer_for("gpt2")
    found = predicted(lens, TEXT, out=Out(("1.2",)))
    ids = tokenizer(TEXT, add_special_tokens=False, return_tensors="pt").input_ids
    with torch.no_grad():
        whole, changed = (model(ids, labels=ids) for model in (language_model("gpt2"), cut("gpt2", 1, 2)))
    check_without(found, 0, whole.logits[0, -1], changed.logits[0, -1], tokenizer)
    assert found.without is not None
    assert (found.without.heads, found.without.how) == (["decoder self 1.2"], "zero")
    assert (found.loss, found.without.loss) == pytest.approx((float(whole.loss), float(changed.loss)), rel=1e-5)
    plain = predicted(lens, TEXT)
    assert (plain.loss, plain.without) == (found.loss, None)
    assert [replace(guess, without=None) for guess in found.gaps[0].guesses[:5]] == plain.gaps[0].guesses


def test_one_token_has_no_loss() -> None:
    found = predicted(lens_for("gpt2"), "the", out=Out(("1.2",)))
    assert found.loss is None
    assert found.without is not None
    assert found.without.loss is None


def test_masked_words_without_a_head() -> None:
    tokenizer, text = tokenizer_for("bert"), "the [MASK] sat on [MASK]"
    found = predicted(lens_for("bert"), text, out=Out(("encoder self 0.3",)))
    inputs = tokenizer(text, return_tensors="pt")
    places = (inputs.input_ids[0] == tokenizer.mask_token_id).nonzero()[:, 0].tolist()
    with torch.no_grad():
        logits, changed = (model(**inputs).logits[0] for model in (language_model("bert"), cut("bert", 0, 3)))
    for number, place in enumerate(places):
        check_without(found, number, logits[place], changed[place], tokenizer)
    assert predicted(lens_for("bert"), TEXT, out=Out(("0.3",))).without == Without(["encoder self 0.3"], "zero")


@pytest.mark.parametrize("kind", ["self_attn", "encoder_attn"])
def test_what_is_written_without_a_head(kind: str) -> None:
    lens, tokenizer = lens_for("marian"), tokenizer_for("marian")
    heads = [f"decoder {'self' if kind == 'self_attn' else 'cross'} 1.{head}" for head in range(4)]
    found = [predicted(lens, TEXT, out=Out((head,)), bounds=Bounds(12)) for head in heads]
    inputs = tokenizer(TEXT, return_tensors="pt")
    for head, one in enumerate(found):
        ids = cut("marian", 1, head, kind).generate(**inputs, do_sample=False, max_new_tokens=12)[0]
        assert one.without is not None
        assert one.without.written == tokenizer.decode(ids, skip_special_tokens=True).strip()
        assert one.written == predicted(lens, TEXT, bounds=Bounds(12)).written
    assert any(one.without and one.without.written != one.written for one in found)


def test_how_alike_two_texts_are_without_a_head() -> None:
    model: Any = tiny("bert")
    lens = headscope.open(model, tiny_tokenizer("wordpiece"))
    one, other = (lens.encoder.batch([text]) for text in (TEXT, "two dogs"))
    whole = similarity(lens, one, other)
    changed, moved = similarity(lens, one, other, out=Out(("0", "1.1"))), predict(lens, one, out=Out(("0", "1.1"))).without
    assert similarity(lens, one, other) == whole
    with torch.no_grad():
        before = [model(**batch.inputs).last_hidden_state[0].mean(0) for batch in (one, other)]
        for layer, heads in ((0, range(4)), (1, [1])):
            weight = model.encoder.layer[layer].attention.output.dense.weight
            for head in heads:
                weight[:, head * weight.shape[1] // 4 : (head + 1) * weight.shape[1] // 4] = 0
        after = [model(**batch.inputs).last_hidden_state[0].mean(0) for batch in (one, other)]
    cosine = torch.nn.functional.cosine_similarity
    assert changed == pytest.approx(float(cosine(*after, dim=0)), abs=1e-6)
    assert abs(changed - whole) > 1e-4
    assert moved is not None
    assert moved.moved == pytest.approx(1 - float(cosine(before[0], after[0], dim=0)), abs=1e-6)
    assert moved.heads == [f"encoder self 0.{head}" for head in range(4)] + ["encoder self 1.1"]


def test_other_threads_read_the_whole_model_meanwhile() -> None:
    """ALBERT's one layer serves every site, which are told apart by its calls: another thread's must not be counted."""
    albert = build("albert")
    model, inputs = albert.model, albert.inputs
    lens = headscope.open(model)
    sites, here = len(lens.sites), Out(("1.0",))
    with torch.no_grad():
        right = model(**inputs)[0]
    with lens.without(*here.heads, how="zero"), torch.no_grad():
        changed = model(**inputs)[0]
    assert not torch.equal(right, changed)
    begun, done, found, calls = threading.Event(), threading.Event(), [], 0

    def wait(*_: object) -> None:
        nonlocal calls
        if threading.get_ident() == taking.ident:
            calls += 1
            if calls == sites:  # in the middle of its pass
                begun.set()
                done.wait(20)

    def take() -> None:
        with here.of(lens), torch.no_grad():
            found.append(model(**inputs)[0])

    taking = threading.Thread(target=take)
    handle = lens.trace.sites[0].module.register_forward_pre_hook(wait)
    taking.start()
    try:
        assert begun.wait(20)
        with torch.no_grad():
            assert torch.equal(model(**inputs)[0], right)
    finally:
        done.set()
        taking.join(20)
        handle.remove()
    assert torch.equal(found[0], changed)


@pytest.mark.parametrize("family", ["bert", "gpt2", "marian"])
def test_nothing_stays_where_nobody_waits_for_a_model_without_heads(family: str) -> None:
    lens = lens_for(family)
    text, out = "the [MASK] sat", Out(("encoder self 1.0" if family == "marian" else "1.0",))
    whole = predicted(lens, text)
    state = {module: (len(module._forward_pre_hooks), len(module._forward_hooks)) for module in lens.model.modules()}
    calls = 0

    def count() -> None:
        nonlocal calls
        calls += 1

    predicted(lens, text, out=out, check=count)
    last, calls = calls, 0

    def leave() -> None:
        count()
        if calls == last:  # in the second pass, without the head
            raise InterruptedError

    with pytest.raises(InterruptedError):
        predicted(lens, text, out=out, check=leave)
    assert state == {module: (len(module._forward_pre_hooks), len(module._forward_hooks)) for module in lens.model.modules()}
    assert predicted(lens, text) == whole


def test_heads_that_cannot_be_taken_out() -> None:
    with pytest.raises(InputError, match=r"no head 0\.9"):
        predicted(lens_for("gpt2"), TEXT, out=Out(("0.9",)))
    with pytest.raises(InputError, match="head_means"):
        predicted(lens_for("gpt2"), TEXT, out=Out(("0.1",), "mean"))


def test_a_closed_lens() -> None:
    lens = headscope.open(tiny("gpt2"), tokenizer_for("gpt2"))
    batch = lens.encoder.batch([TEXT])
    lens.close()
    with pytest.raises(ModelError, match="closed"):
        predict(lens, batch)


# Real models


@pytest.mark.real
@pytest.mark.slow
def test_smollm_gives_the_drink_to_mary(smollm: Path) -> None:
    (gguf,) = smollm.glob("*.gguf")
    plain = AutoModelForCausalLM.from_pretrained(smollm, gguf_file=gguf.name, dtype=torch.float32).eval()
    tokenizer = AutoTokenizer.from_pretrained(smollm, gguf_file=gguf.name)
    text = "When Mary and John went to the store, John gave a drink to"
    with torch.no_grad():
        logits = plain(**tokenizer(text, return_tensors="pt")).logits[0, -1]
    with headscope.open(smollm) as lens:
        found = predicted(lens, text)
    check_guesses(found, 0, logits, tokenizer)
    first = found.gaps[0].guesses[0]
    assert (first.token, first.reads) == ("Mary", f"{text} Mary")
    assert first.probability > 0.9


@pytest.mark.real
@pytest.mark.slow
def test_opus_translates_as_by_itself(opus: Path) -> None:
    text = "La maison blanche que tu vois est celle de ma sœur."
    plain, tokenizer = AutoModelForSeq2SeqLM.from_pretrained(opus).eval(), AutoTokenizer.from_pretrained(opus)
    right = tokenizer.decode(plain.generate(**tokenizer(text, return_tensors="pt"))[0], skip_special_tokens=True)
    with headscope.open(opus) as lens:
        found = predicted(lens, text)
    assert (found.written, found.complete) == (right, True)
    assert "white house" in right


@pytest.mark.real
@pytest.mark.slow
def test_antiberty_knows_what_stands_before_the_loop(antiberty: Path) -> None:
    with headscope.open(antiberty) as lens:
        found = predicted(lens, "E V Q L V E S G G G L V Q P G G S L R L S C [MASK] A S G F N I K D T Y I H W V R Q A P")
    first = found.gaps[0].guesses[0]
    assert (first.token, first.probability > 0.8) == ("A", True)


@pytest.mark.real
def test_minilm_finds_what_means_the_same(minilm: Path) -> None:
    with headscope.open(minilm) as lens:
        music, same, other = (
            lens.encoder.batch([text])
            for text in ("A man plays the guitar.", "Someone is playing a guitar.", "The stock market fell today.")
        )
        assert similarity(lens, music, same) > 0.7 > 0.2 > similarity(lens, music, other)
