"""The baselines without attention: the next word, and a network on words and their distance (clark2019, section 5).

The network's features are, in the paper's note 4, "indicator features for short distances as well as continuous distance
features, with distance ahead/behind treated separately". Here: an indicator for every distance up to 8, the distance
divided by 10 and its logarithm, each once for a candidate behind the dependent and once for one ahead; 100 hidden
units, ReLU.
"""

import torch
from torch import Tensor, nn

from headscope.probes.base import NO_HEAD, Probe, Sentences

SHORT = 8
SCALE = 10.0
FEATURES = 2 * (SHORT + 2)
HIDDEN = 100


class RightBranching(Probe):
    """The next word to the right. The last word has none, so that nothing is predicted for it, which is wrong."""

    name = "right_branching"

    def predict(self, sentences: Sentences) -> Tensor:
        count = sentences.mask.sum(-1, keepdim=True)
        following = torch.arange(1, sentences.mask.shape[1] + 1, device=count.device).expand_as(sentences.mask)
        return torch.where(following < count, following, NO_HEAD)


def distance_features(length: int) -> Tensor:
    """(2 length - 1, FEATURES): row r is for a candidate r - length + 1 words after the dependent; zeros for itself."""
    signed = torch.arange(-(length - 1), length)
    apart = signed.abs()
    short = apart[:, None] == torch.arange(1, SHORT + 1)
    one_side = torch.cat([short.float(), (apart / SCALE)[:, None], apart.clamp(min=1).log()[:, None]], -1)
    return torch.cat([one_side * (signed < 0)[:, None], one_side * (signed > 0)[:, None]], -1)


def distances_words_logits(
    vectors: Tensor, candidate: Tensor, dependent: Tensor, distance: Tensor, bias: Tensor, out: Tensor
) -> Tensor:
    """(batch, word, d), (d, hidden), (d, hidden), (FEATURES, hidden), (hidden,), (hidden,) -> (batch, j, i).

    The first layer of a concatenation is the sum of the layers of its parts.
    """
    length = vectors.shape[1]
    places = torch.arange(length, device=vectors.device)
    by_distance = distance_features(length).to(vectors) @ distance
    apart = by_distance[places[None, :] - places[:, None] + length - 1]  # dependent candidate hidden
    hidden = (vectors @ dependent)[:, :, None] + (vectors @ candidate + bias)[:, None] + apart
    return hidden.relu_() @ out


class DistancesProbe(Probe):
    """One hidden layer, begun at random from a generator."""

    name = "distances_words"
    needs = ("vectors",)
    learning_rate = 0.003

    def __init__(self, size: int, generator: torch.Generator, hidden: int = HIDDEN) -> None:
        super().__init__()

        def drawn(*shape: int, inputs: int) -> nn.Parameter:
            return nn.Parameter((torch.rand(*shape, generator=generator) * 2 - 1) * inputs**-0.5)

        inputs = 2 * size + FEATURES
        self.candidate = drawn(size, hidden, inputs=inputs)
        self.dependent = drawn(size, hidden, inputs=inputs)
        self.distance = drawn(FEATURES, hidden, inputs=inputs)
        self.bias = drawn(hidden, inputs=inputs)
        self.out = drawn(hidden, inputs=hidden)

    def forward(self, sentences: Sentences) -> Tensor:
        assert sentences.vectors is not None
        return distances_words_logits(sentences.vectors, self.candidate, self.dependent, self.distance, self.bias, self.out)
