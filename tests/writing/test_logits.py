"""The parts of logits: against full tensors, by hand on the planted model, by their sum for many architectures."""

from __future__ import annotations

import gc

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers import IBertForMaskedLM

import headscope
from headscope.errors import HeadscopeError, InputError, ModelError
from headscope.lens.direct import DirectPass
from headscope.lens.tokens.batch import Batch
from headscope.measures.projection import toward
from tests.architectures.tiny_models import build
from tests.lens.language_models import documents, language_model, lens_for, tokenizer_for
from tests.planted_heads import MLP, NORM_BIAS, OUTPUT_BIAS, TOKENS, logits, planted_model, planted_tokenizer, written
from tests.tiny_tokenizers import tiny_tokenizer
from tests.writing.textbook_logits import textbook_logits

FAMILIES = ("bert", "gpt2", "llama", "marian")


def reading_of(family: str, text: int = 0) -> headscope.Reading:
    return lens_for(family).read(documents(family)[text])


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("text", [0, 1])
def test_parts_equal_full_tensors(family: str, text: int) -> None:
    reading = reading_of(family, text)
    batch, kind = reading.batch, "cross" if family == "marian" else "self"
    target = batch.inputs["decoder_input_ids"][0] if family == "marian" else None
    by_hand = textbook_logits(family, language_model(family), batch.inputs["input_ids"][0], target)
    for at, token, against in [(-1, 20, 33), (1, 45, None), (0, 7, 8)]:
        found = reading.logits(token, against=against, at=at)

        def wanted(vocabulary: torch.Tensor, token: int = token, against: int | None = against) -> torch.Tensor:
            return vocabulary[..., token] - (0 if against is None else vocabulary[..., against])

        assert found.total == pytest.approx(float(wanted(by_hand.logits[at])), abs=1e-4)
        layers = [parts for site, parts in found.heads.items() if site.kind == kind]
        assert len(layers) == len(by_hand.parts)
        for ours, theirs in zip(layers, by_hand.parts, strict=True):
            torch.testing.assert_close(ours, wanted(theirs[:, at]), rtol=1e-4, atol=2e-5)
        # All rows at once: the reading's own measure, which is this logit's part at every row.
        scores = found.reading.scores("projection", kind=kind, stack=None if kind == "self" else "decoder")
        for ours, theirs in zip(scores, by_hand.parts, strict=True):
            torch.testing.assert_close(ours, wanted(theirs), rtol=1e-4, atol=2e-5)
        assert abs(found.remainder) < 1e-4


# Parallel layers, norms on both sides, scaled embeddings, sums and logits, soft caps, gates, mixtures, shared layers.
ARCHITECTURES = [
    "gptj", "gpt_neox", "phi", "cohere", "falcon", "gemma2", "gemma3_text", "granite", "olmo2", "opt", "t5", "bart", "bloom",
    "mixtral", "gpt_oss", "qwen3_next", "jamba", "albert", "roberta", "modernbert", "electra", "deberta-v2", "convbert",
]  # fmt: skip


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_parts_sum_to_the_logit(architecture: str) -> None:
    """With every row and both texts of a padded batch; and each head's part is that of its slice alone."""
    tiny = build(architecture)
    with headscope.open(tiny.model) as lens:
        batch = Batch(tiny.inputs)
        blocks = {}
        lens.run(batch, lambda block: blocks.__setitem__(block.site, block), rows=None)
        run = DirectPass(lens, batch)
        wanted = torch.zeros(run.output.shape[-1])
        wanted[20], wanted[21] = 1, -1
        found = run.directions(wanted)
    own = lens.model(**tiny.inputs).logits.detach() @ wanted
    total = sum(part.amounts for part in found.others)
    for site, direction in found.by_site.items():
        total = total + toward(blocks[site], direction).sum((1, 3))
    counted = tiny.inputs["attention_mask"].bool() if tiny.task != "seq2seq" else torch.ones_like(own, dtype=torch.bool)
    assert len(found.by_site) == sum(site.stack == lens.sites[-1].stack for site in lens.sites)
    torch.testing.assert_close(total[counted], own[counted], rtol=1e-4, atol=1e-5 * float(own.abs().max()))
    kinds = {part.kind for part in found.others}
    assert {"embedding", "mlp"} <= kinds, "nothing may hide in the others"


@pytest.mark.parametrize("architecture", ["gptj", "gemma2", "granite", "bert", "opt"])
def test_there_and_back_is_the_same_map(architecture: str) -> None:
    """The way there, from a head's vector to all logits, and the way back, from a logit to heads, are the same map."""
    tiny = build(architecture)
    with headscope.open(tiny.model) as lens:
        batch = Batch({name: tensor[:1] for name, tensor in tiny.inputs.items()})
        blocks = {}
        lens.run(batch, lambda block: blocks.__setitem__(block.site, block), rows=None)
        run = DirectPass(lens, batch)
        site = lens.sites[-1]
        matrices = blocks[site].key_side.projection.matrices
        vectors = torch.einsum("hj,hjd,hde->he", blocks[site].weights[0, :, -1], blocks[site].values[0], matrices)
        logits = run.written(site, vectors, run.output.shape[1] - 1)  # head token
        for token in (20, 33):
            wanted = torch.eye(logits.shape[1])[token]
            parts = toward(blocks[site], run.directions(wanted).by_site[site])[0, :, -1].sum(-1)
            torch.testing.assert_close(logits[:, token], parts, rtol=1e-4, atol=1e-5)


def test_planted_parts_are_those_worked_out_by_hand() -> None:
    """a b c a: the induction head says b, the copying head half of it a, the negative copier not a."""
    with headscope.open(planted_model(), planted_tokenizer()) as lens:
        reading = lens.read("a b c a")
        ids = reading.batch.sources[0].ids
        by_hand, b, a = written(ids), TOKENS.index("b"), TOKENS.index("a")
        found = reading.logits("b", against="a")
        size = by_hand.scales[-1]
        assert found.total == pytest.approx(logits(ids)[-1, b] - logits(ids)[-1, a], abs=1e-5)
        # (3 - 0) for b; 2/5 for the one b less 2 x 2/5 for two a; -(-1) for a; all over the scale of the last norm.
        parts = {f"{row.layer}.{row.head}": row.part for row in found.by_head().itertuples()}
        wanted = {"1.0": 3 / size, "1.1": (0.4 - 0.8) / size, "1.2": 1 / size, "0.0": 0, "0.1": 0, "1.3": 0}
        assert {name: parts[name] for name in wanted} == pytest.approx(wanted, abs=1e-5)
        assert found.sums["mlp"] == pytest.approx(-MLP / size, abs=1e-5)
        assert found.sums["bias"] == pytest.approx(OUTPUT_BIAS / size, abs=1e-5)
        assert found.sums["embedding"] == pytest.approx(0, abs=1e-5)
        assert found.by_token("1.0")["part"].tolist() == pytest.approx([0, 0, 3 / size, 0, 0], abs=1e-5)
        assert found.by_token("1.1")["part"].tolist() == pytest.approx(np.array([0, -0.4, 0.4, 0, -0.4]) / size, abs=1e-5)
        assert reading.logits("e").sums["bias"] == pytest.approx(NORM_BIAS, abs=1e-5)
        assert abs(found.remainder) < 1e-5
        table = found.table()
        assert table["part"].sum() == pytest.approx(found.total, abs=1e-5)
        assert set(table["of"]) == {"head", "embedding", "mlp", "bias"}


def test_what_planted_heads_write() -> None:
    """Beyond what is added to all tokens alike: six tokens, so a head that says b has 5/6 for it and -1/6 for each other."""
    with headscope.open(planted_model(), planted_tokenizer()) as lens:
        reading = lens.read("a b c a")
        size = written(reading.batch.sources[0].ids).scales[-1]
        induction = reading.writes("1.0", count=1)
        assert induction["token"].tolist()[0] == "b"
        assert induction["logit"].tolist() == pytest.approx([3 * 5 / 6 / size, -3 / 6 / size], abs=1e-4)
        negative = reading.writes("1.2", count=1)
        assert negative["token"].tolist()[-1] == "a"
        assert negative["logit"].tolist()[-1] == pytest.approx(-5 / 6 / size, abs=1e-4)
        assert reading.writes("1.3")["logit"].abs().max() < 1e-5
        assert len(reading.writes("1.0")) == len(TOKENS), "no more than there are"


@given(numbers=st.lists(st.floats(-3, 3, width=32), min_size=4, max_size=4))
def test_parts_are_linear_in_the_direction(numbers: list[float]) -> None:
    reading = reading_of("llama")
    one, other = torch.randn(2, 32, generator=torch.Generator().manual_seed(0))
    a, b = numbers[:2]
    both = reading.toward(a * one + b * other).scores("projection")
    apart = a * reading.toward(one).scores("projection") + b * reading.toward(other).scores("projection")
    torch.testing.assert_close(both, apart, rtol=1e-4, atol=1e-4)


@given(token=st.integers(0, 88), against=st.integers(0, 88), at=st.integers(-5, 4))
def test_differences_are_differences_of_parts(token: int, against: int, at: int) -> None:
    reading = reading_of("gpt2", 1)
    difference = reading.logits(token, against=against, at=at)
    each = [reading.logits(one, at=at) for one in (token, against)]
    for site, parts in difference.heads.items():
        torch.testing.assert_close(parts, each[0].heads[site] - each[1].heads[site], rtol=1e-4, atol=1e-5)
    for of, amount in difference.sums.items():
        assert amount == pytest.approx(each[0].sums[of] - each[1].sums[of], abs=1e-4)
    assert abs(difference.remainder) < 1e-4


def test_the_position_that_is_asked_about() -> None:
    decoder, masked, translator = (reading_of(family) for family in ("gpt2", "bert", "marian"))
    source = decoder.batch.sources[0]
    assert source.special[-1], "the tiny tokenizer ends texts with a special token"
    assert decoder.logits(3).position == len(source) - 2
    assert decoder.logits(3, at=-1).position == len(source) - 1
    assert translator.logits(3).position == len(translator.target_tokens) - 1
    with pytest.raises(InputError, match=r"write \[MASK\] for one of them, or say where"):
        masked.logits(3)
    lens = lens_for("bert")
    assert lens.read("the [MASK] sat").logits(5).position == 2
    with pytest.raises(InputError, match="masks at positions 2, 3: say which"):
        lens.read("the [MASK] [MASK]").logits(5)
    with pytest.raises(InputError, match="There is no position 40"):
        decoder.logits(3, at=40)


def test_tokens_by_text_by_name_and_by_number() -> None:
    reading = reading_of("bert", 0)
    assert [reading.logits(name, at=1).token.id for name in ("cat", " cat", "##able", 5)] == [5, 5, 20, 5]
    likeliest = reading.logits(at=1)
    with torch.no_grad():
        own = language_model("bert")(**reading.batch.inputs).logits[0, 1]
    assert likeliest.token.id == int(own.argmax())
    assert likeliest.total == pytest.approx(float(own.max()), abs=1e-4)
    with pytest.raises(InputError, match=r"'cat sat' is 2 tokens for .* \(cat, sat\): give a single one, such as 'cat'"):
        reading.logits("cat sat", at=1)
    with pytest.raises(InputError, match="'zebra' is no token of"):
        reading.logits("zebra", at=1)
    with pytest.raises(InputError, match=r"There is no token 90: the vocabulary of .* has 90"):
        reading.logits(90, at=1)


def test_what_cannot_be_said_is_refused() -> None:
    with pytest.raises(InputError, match="predicts the tokens of a translation: give one with target="):
        lens_for("marian").read("a dog").logits(3)
    with pytest.raises(InputError, match="This reading has no layer 0"):
        lens_for("gpt2").read("a dog", layers=[1]).logits(3)
    with (
        pytest.raises(ModelError, match="no language-model head"),
        headscope.open(language_model("bert").bert, tiny_tokenizer("wordpiece")) as lens,
    ):
        lens.read("the cat").logits(3)
    assert "does not write to the stream" in str(_refused(lambda: reading_of("marian").writes("encoder self 0.0")))
    closed = headscope.open(language_model("gpt2"), tokenizer_for("gpt2"))
    reading = closed.read("a dog")
    closed.close()
    assert "lens of this reading is closed" in str(_refused(lambda: reading.logits(3)))


def test_a_model_whose_parts_do_not_add_up_is_refused() -> None:
    """A planted error: a stream that is squared on its way is no sum."""
    model = language_model("gpt2")
    model.transformer.ln_f.register_forward_pre_hook(lambda _, given: (given[0] + 0.1 * given[0] ** 2,))
    with (
        headscope.open(model, tokenizer_for("gpt2")) as lens,
        pytest.raises(ModelError, match="something on their way is not a sum"),
    ):
        lens.read("a dog").logits(3)


def test_a_reading_does_not_keep_its_lens() -> None:
    model = language_model("gpt2")
    lens = headscope.open(model, tokenizer_for("gpt2"))
    reading = lens.read("a dog")
    assert reading.logits(3).reading.lens is lens
    del lens
    gc.collect()
    with headscope.open(model, tokenizer_for("gpt2")):
        assert "closed" in str(_refused(lambda: reading.logits(3)))


def test_nothing_stays_on_the_model() -> None:
    lens = lens_for("gpt2")
    before = {
        name: (len(module._forward_hooks), len(module._forward_pre_hooks)) for name, module in lens.model.named_modules()
    }
    reading_of("gpt2").logits(3)
    after = {
        name: (len(module._forward_hooks), len(module._forward_pre_hooks)) for name, module in lens.model.named_modules()
    }
    assert before == after
    assert all(parameter.requires_grad and parameter.grad is None for parameter in lens.model.parameters())


def _refused(call) -> HeadscopeError:
    with pytest.raises(HeadscopeError) as caught:
        call()
    return caught.value


def test_layers_that_return_more_than_their_output_are_refused() -> None:
    """I-BERT's come with a scale, which its sums and norms read."""
    tokenizer = tiny_tokenizer("wordpiece")
    config = build("ibert").model.config
    settings = {**config.to_dict(), "vocab_size": len(tokenizer)}
    with (
        headscope.open(IBertForMaskedLM(type(config)(**settings)).eval(), tokenizer) as lens,
        pytest.raises(ModelError, match="returns more than its output, so what is added to the residual stream"),
    ):
        lens.read("the cat sat on the mat").logits(at=2)
