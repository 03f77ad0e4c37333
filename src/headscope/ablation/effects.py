"""What happens without a head, token by token: the change of the loss and KL(p || p without), or how states turn."""

from __future__ import annotations

from headscope.later import Tensor, nn, torch


class CleanWords:
    """What a model predicts with all its heads, at the tokens that it is to predict."""

    def __init__(self, logits: Tensor, targets: Tensor) -> None:
        """logits (token, vocabulary), targets (token,)"""
        self.logits = logits.float()
        self.log_shares = self.logits.log_softmax(-1)
        self.shares = self.log_shares.exp()
        self.targets = targets[:, None]
        self.losses = -self.log_shares.gather(1, self.targets)[:, 0]

    def effects(self, logits: Tensor) -> tuple[Tensor, Tensor]:
        """(copy, token, vocabulary) without some heads -> (copy, token) each: the change of the loss, and KL.

        With d the change of the logits less its mean under p: KL = log sum p e^d, and the loss changes by KL - d of the
        token. A difference of two large sums would lose what a small effect is made of.
        """
        change = logits.float() - self.logits
        change -= torch.einsum("ctv,tv->ct", change, self.shares)[..., None]
        of_targets = change.gather(2, self.targets.expand(len(change), -1, 1))[..., 0]
        kl = torch.logsumexp(change.add_(self.log_shares), -1)
        return kl - of_targets, kl


class CleanStates:
    """The final states of texts with all heads, and their means: what sentence encoders are read by."""

    def __init__(self, states: Tensor, real: Tensor) -> None:
        """states (text, token, d), real (text, token): False at padding"""
        self.states, self.real = states.float(), real

    def effects(self, states: Tensor) -> tuple[Tensor, Tensor]:
        """(copy, text, token, d) without some heads -> 1 - cos of states (copy, text, token), of means (copy, text)."""
        states = states.float()
        turned = 1 - nn.functional.cosine_similarity(states, self.states.expand_as(states), dim=-1)
        pooled, clean = (mean_states(some, self.real) for some in (states, self.states))
        return turned, 1 - nn.functional.cosine_similarity(pooled, clean.expand_as(pooled), dim=-1)


def mean_states(states: Tensor, real: Tensor) -> Tensor:
    """(..., text, token, d) -> (..., text, d): special tokens are counted as any others, padding is not."""
    weights = real.to(states.dtype)[..., None]
    return (states * weights).sum(-2) / weights.sum(-2)
