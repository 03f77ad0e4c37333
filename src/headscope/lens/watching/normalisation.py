"""Layer normalisation, as a linear map and a scale: once the scale is known, it acts on every summand by itself."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from headscope.lens.placement import array_of

_EPSILONS = ("eps", "variance_epsilon", "epsilon", "layer_norm_eps")


@dataclass(frozen=True)
class Normalisation:
    """LN(z) = linear(z) / scale(z) + bias: LayerNorm, or RMSNorm where nothing is centred.

    linear((a + b)) is linear(a) + linear(b), so that a sum's parts can be followed through (Kobayashi et al. 2021).
    """

    module: nn.Module
    centred: bool
    added: float  # to the module's weight, which some models keep as the difference from 1
    epsilon: float

    @property
    def gain(self) -> Tensor | float:
        weight = array_of(self.module, "weight")
        return 1.0 if weight is None else weight.detach().float() + self.added

    @property
    def bias(self) -> Tensor | float:
        bias = array_of(self.module, "bias")
        return 0.0 if bias is None else bias.detach().float()

    def linear(self, vectors: Tensor) -> Tensor:
        """(..., d_model) -> (..., d_model)"""
        return self._centre(vectors) * self.gain

    def transposed(self, vectors: Tensor) -> Tensor:
        """With which <linear(a), b> = <a, transposed(b)>: (..., d_model) -> (..., d_model)"""
        return self._centre(vectors * self.gain)

    def scale(self, vectors: Tensor) -> Tensor:
        """What LN divides by: (..., d_model) -> (..., 1)"""
        return (self._centre(vectors).square().mean(-1, keepdim=True) + self.epsilon).sqrt()

    def __call__(self, vectors: Tensor) -> Tensor:
        return self.linear(vectors) / self.scale(vectors) + self.bias

    def _centre(self, vectors: Tensor) -> Tensor:
        return vectors - vectors.mean(-1, keepdim=True) if self.centred else vectors


def looks_like_one(module: nn.Module) -> bool:
    """Whether a module may be a normalisation; `recognise` tells by its numbers."""
    return isinstance(module, nn.LayerNorm) or "norm" in type(module).__name__.lower()


def recognise(module: nn.Module, given: Tensor, result: Tensor, tolerance: float) -> Normalisation | None:
    """The normalisation that made `result` of `given` in a trace; None if it is no LayerNorm or RMSNorm over d_model."""
    weight = getattr(module, "weight", None)
    if weight is not None and (not isinstance(weight, Tensor) or weight.shape != given.shape[-1:]):
        return None
    epsilon = next((float(getattr(module, name)) for name in _EPSILONS if hasattr(module, name)), 1e-6)
    for centred in (True, False):
        for added in (0.0, 1.0):
            found = Normalisation(module, centred, added, epsilon)
            if is_near(found(given.float()), result, tolerance):
                return found
    return None


def is_near(one: Tensor, other: Tensor, tolerance: float, size: Tensor | None = None) -> bool:
    """Whether two tensors of a trace have the same numbers, but for a share of the largest (of `size`, where given)."""
    if one.shape != other.shape:
        return False
    largest = (other if size is None else size).float().abs().max().clamp(min=1e-30)
    return bool((one.float() - other.float()).abs().max() <= tolerance * largest)


def no_scale(vectors: Tensor) -> Tensor:
    """The scale where nothing is normalised: (..., d_model) -> (..., 1)"""
    return torch.ones_like(vectors[..., :1])
