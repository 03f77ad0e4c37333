"""What a model was trained to predict, by the head that it was saved with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from headscope.later import Tensor, transformers

if TYPE_CHECKING:
    from headscope.lens.lens import Lens

Task = Literal["next", "masked", "target"]  # the next token of a text, tokens that are masked in it, another text


def has_head(lens: Lens) -> bool:
    """Whether it was saved with a language-model head."""
    return lens.model.get_output_embeddings() is not None


def task_of(lens: Lens) -> Task | None:
    """Next-token where attention is causal, else masked-LM; None without a head, or with one for tokens that are seen."""
    if not has_head(lens):
        return None
    if lens.is_encoder_decoder:
        return "target"
    if all(site.stack == "decoder" for site in lens.sites):
        return "next"
    kinds = transformers.models.auto.modeling_auto
    kind = type(lens.model).__name__
    is_causal = kind in kinds.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES.values()
    return None if is_causal and kind not in kinds.MODEL_FOR_MASKED_LM_MAPPING_NAMES.values() else "masked"


def why_no_task(lens: Lens) -> str:
    """The beginning of a sentence about a model of which `task_of` is None."""
    kind = type(lens.model).__name__
    if not has_head(lens):
        return f"{lens.name} has no language-model head (it is a {kind})"
    return f"{lens.name} is a {kind}, whose head predicts the next token, but its attention also sees later ones"


def word_logits(output: Any) -> Tensor:
    """(batch, position, vocabulary) of what a model with a language-model head returns."""
    found: Tensor = output.logits if "logits" in output else output.prediction_logits  # the latter: BertForPreTraining
    return found
