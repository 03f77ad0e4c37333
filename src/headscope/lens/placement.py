"""Where a model is: on one device, on several, or offloaded, so that its weights come when a layer runs."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Iterator
from functools import cache

from headscope.later import PreTrainedModel, nn, torch

PLACED = ("device_map", "quantization_config", "offload_folder")  # of from_pretrained: what a tokenizer does not take


def device_of(model: PreTrainedModel) -> torch.device:
    """Where a model takes its inputs; of one whose first weights are offloaded, where it runs."""
    if model.device.type != "meta":
        return model.device
    return next((found for module in model.modules() if (found := runs_on(module)) is not None), model.device)


def runs_on(module: nn.Module) -> torch.device | None:
    """To where accelerate brings the weights of a module; None where it does not."""
    device = getattr(getattr(module, "_hf_hook", None), "execution_device", None)
    return None if device is None else torch.device(device)


def array_of(module: nn.Module, name: str) -> torch.Tensor | None:
    """A parameter or buffer of a module; what is offloaded is read where it is kept."""
    own = getattr(module, name, None)
    kept = getattr(getattr(module, "_hf_hook", None), "weights_map", None)
    return own if kept is None or own is None or not own.is_meta else kept[name].to(runs_on(module))


def arrays_of(model: nn.Module) -> Iterator[tuple[str, torch.Tensor]]:
    """Every array of a model by its name, one at a time: what is offloaded is read where it is kept."""
    modules = dict(model.named_modules())
    for name, array in model.state_dict().items():
        place, _, own = name.rpartition(".")
        kept = array_of(modules[place], own) if array.is_meta and place in modules else None
        yield name, array if kept is None else kept


@cache
def offload_folder() -> str:
    """Where weights are kept for which there is no memory, as long as this process runs."""
    folder = tempfile.mkdtemp(prefix="headscope-offload-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
