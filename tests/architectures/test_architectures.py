"""Every text architecture that transformers can build goes through the doctor; the docs list what cannot, and why.

`python -m tests.architectures.test_architectures` writes docs/architectures.md anew; the test checks that it is current.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
import transformers

import headscope
from headscope.errors import HeadscopeError
from headscope.lens.doctor import Diagnosis, diagnose
from tests.architectures.tiny_models import ARCHITECTURES, CannotBuild, build

PAGE = Path(__file__).resolve().parents[2] / "docs" / "architectures.md"
# One worker for all of them: the models are examined once, at the first test.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("architectures")]

# The families that the second way in was made for: all of them with norms.
OUTSIDE_THE_INTERFACE = (
    *("bloom", "falcon", "gptj", "gpt_neo", "mpt", "mpnet", "deberta", "deberta-v2", "openai-gpt", "roformer"),
    *("megatron-bert", "rembert", "fsmt", "xlm", "flaubert", "codegen", "convbert", "squeezebert", "big_bird"),
)


@dataclass(frozen=True)
class Outcome:
    model_type: str
    verdict: str  # ok, in part, weights only, wrong, no attention, not built
    reason: str = ""


@cache
def outcomes() -> tuple[Outcome, ...]:
    return tuple(examine(model_type) for model_type in ARCHITECTURES)


def examine(model_type: str) -> Outcome:
    try:
        tiny = build(model_type)
    except CannotBuild as error:
        return Outcome(model_type, "not built", str(error))
    try:
        with headscope.open(tiny.model) as lens:
            found = diagnose(lens, tiny.inputs)
    except HeadscopeError as error:
        return Outcome(model_type, "no attention", str(error).partition(" has ")[2].partition(", so ")[0] or str(error))
    return Outcome(model_type, found.verdict, _reason(found))


def _reason(found: Diagnosis) -> str:
    if found.verdict == "ok":
        return ""
    notes = [f"`{report.site.module}`: {report.note}" for report in found.sites if report.verdict != "ok"]
    return (notes + found.skipped)[0]


def page() -> str:
    """The table for the docs, made of what the doctor found."""
    count = {verdict: sum(outcome.verdict == verdict for outcome in outcomes()) for verdict in _MEANING}
    lines = [
        "# Architectures",
        "",
        f"Every one of the {len(outcomes())} text architectures in transformers {transformers.__version__}'s causal-LM,",
        "masked-LM and sequence-to-sequence mappings, as a tiny random model, through `headscope doctor`. This page",
        "is written by `python -m tests.architectures.test_architectures`, and a test checks that it is current.",
        "",
        "| verdict | architectures | what it means |",
        "|---|---|---|",
        *[f"| {verdict} | {count[verdict]} | {meaning} |" for verdict, meaning in _MEANING.items()],
        "",
        "## Weights and norms, proven at every site",
        "",
        ", ".join(outcome.model_type for outcome in outcomes() if outcome.verdict == "ok") + ".",
        "",
        "## All others, and why",
        "",
        "| architecture | verdict | reason (the first site's, where there are several) |",
        "|---|---|---|",
        *[f"| {o.model_type} | {o.verdict} | {o.reason} |" for o in outcomes() if o.verdict != "ok"],
    ]
    return "\n".join(lines) + "\n"


_MEANING = {
    "ok": "weights and norms are read right at every attention",
    "in part": "what is read is read right, but some attention is of a form that the lens does not read",
    "weights only": "weights are read right; norms cannot be had",
    "no attention": "there is no softmax attention over the text's tokens",
    "not built": "no tiny model can be built or run on text alone here",
    "wrong": "read wrongly (a bug)",
}


@pytest.mark.parametrize("model_type", ARCHITECTURES)
def test_architecture_is_never_read_wrongly(model_type: str) -> None:
    outcome = next(outcome for outcome in outcomes() if outcome.model_type == model_type)
    assert outcome.verdict != "wrong", outcome.reason


def test_at_least_150_architectures_have_norms() -> None:
    assert sum(outcome.verdict == "ok" for outcome in outcomes()) >= 150


@pytest.mark.parametrize("model_type", OUTSIDE_THE_INTERFACE)
def test_architectures_outside_the_interface_have_norms(model_type: str) -> None:
    assert next(outcome for outcome in outcomes() if outcome.model_type == model_type).verdict in ("ok", "in part")


def test_every_exception_has_a_reason() -> None:
    assert [outcome.model_type for outcome in outcomes() if outcome.verdict != "ok" and not outcome.reason] == []


def test_docs_list_is_current() -> None:
    if transformers.__version__ not in PAGE.read_text(encoding="utf-8"):
        pytest.skip(f"docs/architectures.md was written with another transformers than {transformers.__version__}")
    assert PAGE.read_text(encoding="utf-8") == page(), "run python -m tests.architectures.test_architectures"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(page())
