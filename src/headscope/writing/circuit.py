"""From the words to a head's values, and from its output to the words: matrices of a decoder, with norms folded in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headscope.errors import ModelError
from headscope.later import Tensor, nn, torch
from headscope.lens import watching
from headscope.lens.direct import DirectPass
from headscope.lens.site import Site
from headscope.lens.task import task_of, why_no_task
from headscope.lens.tokens.batch import Batch

if TYPE_CHECKING:
    from headscope.lens.lens import Lens
    from headscope.lens.watching import Normalisation

ALIKE = 1e-4  # how far from 1 the cosine may be of what the matrices say a vector does to the logits, and what it does


@dataclass(frozen=True)
class OutputCircuit:
    """W_E, W_U with the last norm in it, and the norms around each attention whose way to the words these matrices are."""

    embeddings: Tensor  # token d_model
    unembeddings: Tensor  # token d_model
    before: dict[Site, Normalisation | None]
    behind: dict[Site, Normalisation | None]

    def folded(self, site: Site, values: Tensor, outputs: Tensor) -> tuple[Tensor, Tensor]:
        """W_V (head, d_model, d_head) and W_O (head, d_head, d_model) with the norms before and behind in them."""
        before, behind = self.before[site], self.behind[site]
        if before is not None:
            values = before.transposed(values.mT).mT  # LN(x) W = x (D W), but for the scale
        return values, outputs if behind is None else behind.linear(outputs)


def output_circuit(lens: Lens) -> OutputCircuit:
    """The circuit of a decoder, proven on a small text: what it says a vector does to the logits is what the vector does."""
    model: Any = lens.model
    if task_of(lens) is None:
        raise ModelError(f"{why_no_task(lens)}, so its heads write no words.")
    embedding, unembedding = model.get_input_embeddings(), model.get_output_embeddings()
    batch = Batch(watching.dummy_inputs(model))
    found = [one for one in lens.trace.sites if one.site.kind == "self" and one.value_projection and one.projection]
    readers = [one.value_projection.module for one in found if one.value_projection]
    norms = watching.norms_read(model, lambda: model(**batch.inputs), [*readers, unembedding])
    last = norms.get(unembedding)
    words = unembedding.weight.detach().float()
    words = words if last is None else last.transposed(words)
    run = DirectPass(lens, batch, until=unembedding)
    circuit = OutputCircuit(embedding.weight.detach().float(), words, {}, {})
    for one in found:
        site, connection = one.site, one.connection
        if connection is not None and connection.outer is not None:
            continue  # norms on the stream itself: what stands between a head and the words is more than the last one
        circuit.before[site] = norms.get(one.value_projection.module) if one.value_projection else None
        circuit.behind[site] = None if connection is None else connection.inner
        if not _is_proven(circuit, site, run):
            del circuit.before[site], circuit.behind[site]
    if not circuit.before:
        raise ModelError(
            f"{lens.name} ({type(lens.model).__name__}): between its heads and its words stands more than the residual "
            "stream and a last norm, so the heads' weights alone do not say whether they copy."
        )
    return circuit


def _is_proven(circuit: OutputCircuit, site: Site, run: DirectPass) -> bool:
    if not run.joins(site):
        return False
    size = circuit.unembeddings.shape[1]
    vector = torch.randn(size, generator=torch.Generator().manual_seed(site.index)).to(circuit.unembeddings)
    behind = circuit.behind[site]
    said = circuit.unembeddings @ (vector if behind is None else behind.linear(vector))
    done = run.written(site, vector[None], run.output.shape[1] - 1)[0]
    return float(nn.functional.cosine_similarity(said.double(), done.double(), dim=0)) > 1 - ALIKE
