"""Where a model is: on one device, on several, or offloaded, so that its weights come when a layer runs."""

from __future__ import annotations

from headscope.later import PreTrainedModel, nn, torch


def device_of(model: PreTrainedModel) -> torch.device:
    """Where a model takes its inputs; of one whose first weights are offloaded, where it runs."""
    if model.device.type != "meta":
        return model.device
    return next((found for module in model.modules() if (found := runs_on(module)) is not None), model.device)


def runs_on(module: nn.Module) -> torch.device | None:
    """To where accelerate brings the weights of a module; None where it does not."""
    device = getattr(getattr(module, "_hf_hook", None), "execution_device", None)
    return None if device is None else torch.device(device)
