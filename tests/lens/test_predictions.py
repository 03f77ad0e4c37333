"""What a model predicts under an open lens is what the plain model predicts, and the lens is afterwards as it was."""

from __future__ import annotations

import threading
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
from headscope.errors import ModelError
from headscope.lens import Lens
from headscope.lens.predicted import Predicted
from headscope.lens.predictions import GAPS, Bounds, compares_texts, predict, similarity
from headscope.text import Document
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
    for guess, token in zip(guesses, order, strict=True):
        name = tokenizer.convert_ids_to_tokens(token)
        assert guess.token == (f"<token {token}>" if name is None else "␣" if name == "Ġ" else name.replace("Ġ", ""))


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
