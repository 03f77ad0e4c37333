"""What happens without a head, token by token: the change of the loss and KL(p || p without), or how states turn.

With d the change of the logits less its mean under p: KL = log sum p e^d, and the loss changes by KL - d of the token. A
difference of two large sums would lose what a small effect is made of.
"""

from __future__ import annotations

from headscope.later import Tensor, nn, torch

NUMBERS = 1 << 20  # of logits at a time: 4 MB, which stay in a processor's cache while they are read


class CleanWords:
    """What a model predicts with all its heads, at the tokens that it is to predict."""

    def __init__(self, logits: Tensor, targets: Tensor) -> None:
        """logits (token, vocabulary), targets (token,)"""
        self.logits = logits.float()
        # A large vocabulary's sum in float32 is off by 1e-5, which is what many heads do.
        self.log_shares = self.logits.double().log_softmax(-1).float()
        self.shares = self.log_shares.exp()
        self.targets = targets[:, None]
        self.losses = -self.log_shares.gather(1, self.targets)[:, 0]

    def effects(self, logits: Tensor) -> tuple[Tensor, Tensor]:
        """(copy, token, vocabulary) without some heads -> (copy, token) each: the change of the loss, and KL."""
        change = logits.float() - self.logits
        for _ in range(2):  # the mean of large changes is rounded: what is left of it is small
            change -= torch.einsum("ctv,tv->ct", change, self.shares)[..., None]
        of_targets = change.gather(2, self.targets.expand(len(change), -1, 1))[..., 0]
        kl = torch.logsumexp(change.add_(self.log_shares), -1)
        return kl - of_targets, kl


class CleanReadWords(CleanWords):
    """The same where logits are W_U h and a constant: the change of h says all, and no logits of a batch are ever whole."""

    def __init__(self, logits: Tensor, targets: Tensor, states: Tensor, unembedding: Tensor) -> None:
        """logits (token, vocabulary), targets (token,), states (token, d), unembedding (vocabulary, d)"""
        super().__init__(logits, targets)
        self.states, self.unembedding = states, unembedding
        self.mean_row = self.shares @ unembedding  # (token, d): of what is predicted
        self.target_rows = unembedding[targets]

    def effects(self, states: Tensor) -> tuple[Tensor, Tensor]:
        """(copy, token, d) without some heads -> (copy, token) each: the change of the loss, and KL."""
        change = (states - self.states).transpose(0, 1).contiguous()  # token copy d
        mean = torch.einsum("tcd,td->tc", change, self.mean_row)
        of_targets = torch.einsum("tcd,td->tc", change, self.target_rows) - mean
        more = self._more(change, mean)
        kl = torch.where(more.isfinite(), more.log1p(), 0)
        for token in (~more.isfinite()).any(1).nonzero()[:, 0].tolist():
            logits = change[token] @ self.unembedding.T - mean[token, :, None]
            kl[token] = torch.logsumexp(logits.add_(self.log_shares[token]), -1)
        return (kl - of_targets).T, kl.T

    def _more(self, change: Tensor, mean: Tensor) -> Tensor:
        """sum p (e^d - 1), (token, copy), a part of the vocabulary at a time; not finite where some e^d is too large."""
        tokens, copies, _ = change.shape
        more = torch.zeros_like(mean)
        flat, below = change.flatten(0, 1), mean.flatten()[:, None]
        step = max(64, NUMBERS // len(flat))
        buffer = flat.new_empty(len(flat), step)
        for rows, shares in zip(self.unembedding.split(step), self.shares.split(step, 1), strict=True):
            part = buffer if len(rows) == step else flat.new_empty(len(flat), len(rows))
            torch.mm(flat, rows.T, out=part)
            part.sub_(below).expm1_()
            more += torch.bmm(part.view(tokens, copies, -1), shares[..., None])[..., 0]
        return more


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
