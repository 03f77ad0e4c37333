"""Whether a head copies, from its weights alone: the eigenvalues of W_E W_V^h W_O^h W_U (Elhage et al. 2021).

Token by token, that matrix says how much more likely a head makes each token by looking at each. A positive eigenvalue is a
set of tokens that make themselves more likely; the sum of the eigenvalues over that of their moduli is 1 for a head that
copies everything, and -1 for one that suppresses whatever it sees. But for zeros, the eigenvalues are those of the d_h x d_h
matrix W_O^h W_U W_E W_V^h.

The norms are folded in: the gain and centring of the one before the attention into W_V, of one behind W_O into W_O, of the
last one into W_U. Their scales, which depend on the text, are left out, and so are all biases. W_U is centred over the
vocabulary: what is added to all logits alike changes no probability.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headscope.errors import ModelError
from headscope.later import Tensor, pd, torch
from headscope.lens.head import HEAD
from headscope.writing.circuit import output_circuit

if TYPE_CHECKING:
    from headscope.lens.lens import Lens

CHUNK = 8192  # tokens of the vocabulary at a time, in float64
ROUNDING = 1e-12  # of the matrices' sizes: eigenvalues that are smaller are zero


def copying_of(values: Tensor, outputs: Tensor, products: Tensor) -> Tensor:
    """sum(lambda) / sum(|lambda|), from W_V (head, d_model, d_head), W_O (head, d_head, d_model) and W_U W_E (d_model,
    d_model): (head,), nan where all eigenvalues are zero.

    >>> one = torch.eye(2, dtype=torch.float64)
    >>> copying_of(one[None], torch.stack([one]), 3 * one).tolist(), copying_of(one[None], -one[None], one).tolist()
    ([1.0], [-1.0])
    """
    found = torch.linalg.eigvals(outputs @ products @ values)
    moduli = found.abs().sum(-1)
    norms = [torch.linalg.matrix_norm(matrices) for matrices in (values, outputs, products)]
    return (found.real.sum(-1) / moduli).where(moduli > ROUNDING * norms[0] * norms[1] * norms[2], torch.nan)


def products_of(embeddings: Tensor, unembeddings: Tensor) -> Tensor:
    """W_U W_E over the vocabulary, W_U centred: from (token, d_model) each, (d_model, d_model) in float64."""
    mean = unembeddings.double().mean(0)
    size = embeddings.shape[-1], unembeddings.shape[-1]
    total = torch.zeros(size[1], size[0], dtype=torch.float64)
    for start in range(0, min(len(embeddings), len(unembeddings)), CHUNK):
        one, other = (part[start : start + CHUNK].cpu().double() for part in (embeddings, unembeddings))
        total += (other - mean.cpu())[: len(one)].T @ one[: len(other)]
    return total


def copying_scores(lens: Lens) -> pd.DataFrame:
    """One row a head of a language model's decoder: stack, kind, layer, head, copying.

    From the weights alone, no text is read. Heads whose values or outputs are not what a linear layer makes are absent; a
    head that writes nothing to the words has no number.
    """
    circuit = output_circuit(lens)
    products = products_of(circuit.embeddings, circuit.unembeddings)
    parts = []
    for site in lens.sites:
        matrices = lens.matrices(site)
        if matrices is None or site not in circuit.before:
            continue
        values, outputs = (matrix.detach().cpu().double() for matrix in (matrices.values, matrices.output))
        scores = copying_of(*circuit.folded(site, values, outputs), products)
        frame = pd.DataFrame({"head": range(site.heads), "copying": scores.tolist()})
        parts.append(frame.assign(stack=site.stack, kind=site.kind, layer=site.layer))
    if not parts:
        raise ModelError(
            f"{lens.name} has no head whose values and outputs linear layers make, so none has a copying score."
        )
    return pd.concat(parts, ignore_index=True)[[*HEAD, "copying"]]
