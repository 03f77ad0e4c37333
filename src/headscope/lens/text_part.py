"""Which part of a model reads text: all of it, its text tower, or none."""

import inspect

from torch import nn
from transformers import PreTrainedModel
from transformers.models.auto.modeling_auto import MODEL_FOR_ZERO_SHOT_IMAGE_CLASSIFICATION_MAPPING_NAMES

from headscope.errors import ModelError

_TWO_TOWERS = frozenset(MODEL_FOR_ZERO_SHOT_IMAGE_CLASSIFICATION_MAPPING_NAMES.values())
_READ = {"pixel_values": "pictures", "pixel_values_videos": "pictures", "input_features": "sound", "input_values": "sound"}


def text_part(model: PreTrainedModel) -> PreTrainedModel:
    """The text tower of a model that compares texts with pictures (CLIP, SigLIP); any other model as it is."""
    tower = getattr(model, "text_model", None)
    return tower if type(model).__name__ in _TWO_TOWERS and isinstance(tower, PreTrainedModel) else model


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
