"""Which part of a model reads text: all of it, its text tower, or none."""

from __future__ import annotations

import inspect

from headscope.errors import ModelError
from headscope.later import PreTrainedModel, nn, transformers

_READ = {"pixel_values": "pictures", "pixel_values_videos": "pictures", "input_features": "sound", "input_values": "sound"}


def text_part(model: PreTrainedModel) -> PreTrainedModel:
    """The text tower of a model that compares texts with pictures (CLIP, SigLIP); any other model as it is."""
    tower = getattr(model, "text_model", None)
    two_towers = transformers.models.auto.modeling_auto.MODEL_FOR_ZERO_SHOT_IMAGE_CLASSIFICATION_MAPPING_NAMES.values()
    return tower if type(model).__name__ in two_towers and isinstance(tower, PreTrainedModel) else model


def backbone(model: PreTrainedModel, name: str) -> tuple[nn.Module, set[str]]:
    """The model without its head, where that takes the same inputs, and the names of its arguments."""
    for candidate in (model.base_model, model):
        accepted = set(inspect.signature(candidate.forward).parameters)
        if "input_ids" in accepted:
            return candidate, accepted
    given = str(model.main_input_name)
    raise ModelError(
        f"{name} is a {type(model).__name__}, which reads {_READ.get(given, 'something else')} ({given}) and no text: "
        "give a model that takes text alone (input_ids)."
    )
