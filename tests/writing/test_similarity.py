"""Parts of a cosine: they sum to it, on either side and by pairs; heads against full tensors; pooling as the folder says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

import headscope
from headscope.errors import InputError, ModelError
from tests.lens.language_models import lens_for as language_lens
from tests.tiny import tiny
from tests.tiny_tokenizers import save_tiny, tiny_tokenizer
from tests.writing.textbook_logits import layer_norm

ONE, OTHER = "the cat sat on the mat", "a dog and two dogs ."


@pytest.fixture(scope="module")
def lens() -> headscope.Lens:
    return headscope.open(tiny("bert"), tiny_tokenizer("wordpiece"))


@pytest.mark.parametrize("pooling", ["mean", "cls"])
def test_parts_sum_to_the_model_s_own_cosine(lens: headscope.Lens, pooling: str) -> None:
    found = headscope.similarity(lens, ONE, OTHER, pooling=pooling)
    with torch.no_grad():
        states = [lens.model(**lens.encoder.batch([text]).inputs).last_hidden_state[0] for text in (ONE, OTHER)]
    vectors = [text.mean(0) if pooling == "mean" else text[0] for text in states]
    assert found.cosine == pytest.approx(float(torch.cosine_similarity(*vectors, dim=0)), abs=1e-6)
    for side in (found.one, found.other):
        assert abs(side.remainder) < 1e-5
        assert side.table()["part"].sum() == pytest.approx(found.cosine, abs=1e-5)
        tokens = side.by_token()
        assert (tokens["heads"] + tokens["itself"]).sum() == pytest.approx(found.cosine, abs=1e-5)
    assert found.pairs.to_numpy().sum() == pytest.approx(found.cosine, abs=1e-6)
    assert found.pairs.shape == (len(states[0]), len(states[1]))
    if pooling == "cls":
        assert found.one.by_token()["itself"][1:].abs().max() == 0, "only the first token's own stream counts"


def test_heads_equal_full_tensors(lens: headscope.Lens) -> None:
    """The last layer's heads, carried through its two norms with the scales that they had."""
    found = headscope.similarity(lens, ONE, OTHER)
    model, seen = lens.model, {}
    block = model.encoder.layer[-1]
    norms = (block.attention.output.LayerNorm, block.output.LayerNorm)
    hooks = [norm.register_forward_hook(lambda norm, given, _: seen.__setitem__(norm, given[0])) for norm in norms]
    other = model(**lens.encoder.batch([OTHER]).inputs).last_hidden_state[0].mean(0).detach()
    own = model(**lens.encoder.batch([ONE]).inputs).last_hidden_state[0].mean(0).detach()
    for hook in hooks:
        hook.remove()
    reading = lens.read(ONE).blocks[lens.sites[-1]]
    vectors = torch.einsum("hij,hjd,hde->hije", reading.weights[0], reading.values[0], reading.key_side.projection.matrices)
    with torch.no_grad():
        for norm in norms:
            vectors = layer_norm(norm, seen, vectors)
    wanted = (vectors @ other).sum(1) / vectors.shape[1] / (own.norm() * other.norm())
    torch.testing.assert_close(found.one.heads[lens.sites[-1]], wanted, rtol=1e-4, atol=1e-6)


def test_a_text_is_most_alike_to_itself(lens: headscope.Lens) -> None:
    found = headscope.similarity(lens, ONE, ONE)
    assert found.cosine == pytest.approx(1, abs=1e-6)
    heads = found.by_head()
    assert heads["one"].tolist() == pytest.approx(heads["other"].tolist(), abs=1e-6)


def test_pooling_is_what_the_folder_says(tmp_path: Path) -> None:
    folder = save_tiny("bert", "wordpiece", tmp_path / "bert")
    (folder / "1_Pooling").mkdir()
    settings = folder / "1_Pooling" / "config.json"
    for name, wanted in (("mean_tokens", "mean"), ("cls_token", "cls"), ("max_tokens", None)):
        settings.write_text(json.dumps({"word_embedding_dimension": 32, f"pooling_mode_{name}": True}))
        with headscope.open(folder) as lens:
            if wanted is None:
                with pytest.raises(ModelError, match="pools its tokens by pooling_mode_max_tokens: say pooling="):
                    headscope.similarity(lens, ONE, OTHER)
            else:
                assert headscope.similarity(lens, ONE, OTHER).pooling == wanted


def test_a_translator_is_no_sentence_encoder() -> None:
    with pytest.raises(InputError, match="is an encoder-decoder, and no sentence encoder"):
        headscope.similarity(language_lens("marian"), ONE, OTHER)
