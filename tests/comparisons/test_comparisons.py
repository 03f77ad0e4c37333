"""The comparisons' own formulas agree where no other tool is needed, and the page is made of the results beside it."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
import torch
from benchmarks.rows import Row
from benchmarks.settings import Settings
from comparisons.attention import agreement, forward, output_of
from comparisons.catalogue import COMPARISONS
from comparisons.features import FEATURES, TOOLS, short_table
from comparisons.models import batch_of
from comparisons.page import page, section
from comparisons.readers.headscope_lens import HeadscopeLens
from comparisons.readers.papers_formulas import PapersFormulas
from comparisons.readers.reader import value_norms
from comparisons.table import Line, Table

from headscope.demo.text import text
from tests import places
from tests.textbook import textbook
from tests.tiny import tiny
from tests.tiny_tokenizers import tiny_tokenizer

TOKENIZERS = {"bert": "wordpiece", "llama": "bpe"}


class Tiny:
    """A model of the comparisons that no package brings."""

    def __init__(self, family: str) -> None:
        self.name, self.family = family, family

    def load(self) -> tuple[Any, Any]:
        return tiny(self.family), tiny_tokenizer(TOKENIZERS[self.family])


@pytest.mark.parametrize("family", TOKENIZERS)
def test_the_lens_and_the_formulas_give_the_same_numbers(family: str) -> None:
    model: Any = Tiny(family)
    batch = batch_of(*model.load(), 20)
    assert batch.inputs["input_ids"].shape == (1, 20)
    ours, formulas = HeadscopeLens(model), PapersFormulas(model)
    for mine, theirs in zip(ours.maps(batch), formulas.maps(batch), strict=True):
        assert mine.shape == (3, 4, 20, 20)
        torch.testing.assert_close(mine, theirs)
    shares = formulas.strongest(batch)
    torch.testing.assert_close(ours.strongest(batch), shares)
    weights, norms = formulas.maps(batch)
    by_hand = [[(row.max() / row.sum()).item() for row in scores[2, 3]] for scores in (weights, norms)]
    assert shares[:, 2, 3].tolist() == pytest.approx([sum(rows) / 20 for rows in by_hand])


@pytest.mark.parametrize("family", TOKENIZERS)
def test_the_lines_that_other_tools_leave_to_their_user_are_the_papers_norms(family: str) -> None:
    """alpha ||v W_O|| from values as a projection gives them and W_O a head apart."""
    model = tiny(family)
    ids = torch.arange(5, 17)
    layer = textbook(family, model, ids)[1]
    if family == "bert":
        attention = model.encoder.layer[1].attention
        project, output, read = attention.self.value, attention.output.dense, attention
    else:
        attention = model.model.layers[1].self_attn
        project, output, read = attention.v_proj, attention.o_proj, attention
    values: list[torch.Tensor] = []
    project.register_forward_hook(lambda module, given, out: values.append(out[0]))
    with torch.no_grad():
        model(ids[None])
        per_head = output.weight.T.reshape(4, 8, 32)
        lengths = value_norms(values[0].unflatten(-1, (-1, 8)), per_head)
    torch.testing.assert_close(layer.weight * lengths[:, None], layer.norm)
    assert read is attention


def test_a_wrong_number_is_seen_in_the_agreement() -> None:
    model: Any = Tiny("bert")
    batch = batch_of(*model.load(), 12)
    readers: dict[str, Any] = {"headscope": HeadscopeLens(model), "the papers' formulas": PapersFormulas(model)}
    found = agreement(readers, tiny("bert"), batch)
    assert found["weights"]["headscope"] in (
        "equal",
        *(f"within {digit}e-0{power}" for digit in range(1, 10) for power in (7, 8)),
    )
    right = readers["headscope"].maps
    readers["headscope"].maps = lambda batch: tuple(scores + 0.01 for scores in right(batch))
    assert agreement(readers, tiny("bert"), batch)["weights"]["headscope"] == "within 1e-02"
    readers["headscope"].maps = right
    changed = tiny("bert")
    changed.encoder.layer[0].output.dense.weight.data *= 1.5
    assert float(agreement(readers, changed, batch)["the model's output"]["headscope"].split()[1]) > 1e-3


def test_the_output_is_that_of_the_model_while_it_is_read() -> None:
    model: Any = Tiny("llama")
    batch, reader = batch_of(*model.load(), 12), HeadscopeLens(model)
    with output_of(reader.backbone) as outputs:
        reader.strongest(batch)
    (read,) = outputs
    torch.testing.assert_close(read, forward(tiny("llama").base_model, batch))


def test_a_table_says_who_is_best() -> None:
    lines = [
        Line("headscope 1", {"time": Row("headscope", [2.0, 4.0, 3.0], "s"), "longest": Row("", [8192], "tokens")}),
        Line("other 2", {"time": Row("other", [1.0], "s", 0.5), "longest": Row("", [512], "tokens"), "weights": "equal"}),
        Line("the model alone", {"time": Row("alone", [0.5], "s")}),
    ]
    result = Table("A | B", "What was asked.", lines).to_json() | {"load": 1.5, "minutes": 0.1}
    said = section(result)
    assert "| headscope 1 | 3.00 s | **8,192 tokens** |  |" in said
    assert "| other 2 | **1.00 s** (0.50 x) | 512 tokens | equal |" in said
    assert "| the model alone | 0.50 s |  |  |" in said
    assert "Rounds: 3; load of the machine at the start: 1.5." in said


def test_the_page_in_the_docs_is_made_of_the_results_beside_it() -> None:
    results = places.DOCS / "comparison.json"
    run = json.loads(results.read_text("utf-8"))
    assert page(run) == results.with_suffix(".md").read_text("utf-8")
    assert set(run["results"]) <= set(COMPARISONS)


def test_every_version_is_pinned_and_torch_is_the_one_that_was_tested() -> None:
    pinned = (places.ROOT / "comparisons" / "requirements.txt").read_text("utf-8").splitlines()
    versions = dict(line.split("==") for line in pinned if not line.startswith("#"))
    assert {"bertviz", "transformer-lens", "nnsight", "inseq", "eflomal", "simalign", "systran-align"} <= {
        name.replace("_", "-") for name in versions
    }
    assert "torch" not in versions  # first and alone
    tested = (places.ROOT / "constraints.txt").read_text("utf-8")
    assert re.search(rf"^transformers=={re.escape(versions['transformers'])}$", tested, re.MULTILINE)


@pytest.mark.slow
@pytest.mark.real
def test_a_page_with_every_head_is_compared_with_whom_is_here(minilm: object) -> None:
    table = COMPARISONS["views"](Settings(repeats=1, quick=True))
    assert table.lines[0].tool.startswith("headscope")
    assert len(text()) > 500
    sizes = [line.cells["file"].median for line in table.lines]  # type: ignore[union-attr]
    assert 0 < sizes[1] < sizes[0] < 1


def test_the_table_in_the_readme_is_the_one_that_was_checked() -> None:
    assert short_table() in (places.ROOT / "README.md").read_text("utf-8")
    assert all(len(cells) == len(TOOLS) for cells in FEATURES.values())
