"""Every text architecture that transformers can build goes through the doctor; the docs list what cannot, and why.

`python -m tests.architectures.test_architectures` writes docs/architectures.md anew; the test checks that it is current.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from inspect import signature

import pytest
import transformers
from torch import Tensor
from transformers.models.auto import modeling_auto

import headscope
from headscope.errors import HeadscopeError, InputError, ModelError
from headscope.lens.doctor import Diagnosis, diagnose
from headscope.lens.neurons import neurons_of
from headscope.lens.tokens.batch import Batch
from tests import places
from tests.architectures.tiny_models import ARCHITECTURES, CannotBuild, build, mapped_class, random_model

PAGE = places.DOCS / "architectures.md"
# One worker for all of them: the models are examined once, at the first test.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("architectures")]

# The families that the second way in was made for: all of them with norms.
OUTSIDE_THE_INTERFACE = (
    *("bloom", "falcon", "gptj", "gpt_neo", "mpt", "mpnet", "deberta", "deberta-v2", "openai-gpt", "roformer"),
    *("megatron-bert", "rembert", "fsmt", "xlm", "flaubert", "codegen", "convbert", "squeezebert", "big_bird"),
)

# Architectures that are proven, with a class that reads something else than text.
READS_NO_TEXT = ("llama4", "mllama", "seamless_m4t", "seamless_m4t_v2", "whisper")


@dataclass(frozen=True)
class Outcome:
    model_type: str
    verdict: str  # ok, in part, weights only, wrong, no attention, not built
    reason: str = ""
    neurons: frozenset[str] = (
        frozenset()
    )  # of its attentions: exact, what stands between q.k and the softmax, MISSING, WRONG


MISSING, WRONG = "no queries and keys", "q.k does not give the weights that it should"


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
            neurons = examine_neurons(lens, tiny.inputs)
    except HeadscopeError as error:
        return Outcome(model_type, "no attention", str(error).partition(" has ")[2].partition(", so ")[0] or str(error))
    return Outcome(model_type, found.verdict, _reason(found), neurons)


def examine_neurons(lens: headscope.Lens, inputs: dict[str, Tensor]) -> frozenset[str]:
    """What is said of each attention's queries and keys; where they are said to be exact, every text is computed again."""
    found: set[str] = set()

    def receive(block: headscope.AttentionBlock) -> None:
        try:
            neurons = neurons_of(block)
        except InputError:
            found.add(MISSING)
            return
        dots = block.queries.float() @ block.keys.mT  # batch head query key
        again = (neurons.scaling * dots).masked_fill(block.weights == 0, float("-inf")).softmax(-1).nan_to_num()
        near = bool((again - block.weights).abs().max() < 1e-4)
        found.add("exact" if neurons.exact and near else WRONG if neurons.exact else str(neurons.why))

    lens.run(Batch(inputs), receive, rows=1000)
    return frozenset(found)


def _reason(found: Diagnosis) -> str:
    if found.verdict == "ok":
        return ""
    notes = [f"`{report.site.module}`: {report.note}" for report in found.sites if report.verdict != "ok"]
    return (notes + found.skipped)[0]


def page() -> str:
    """The table for the docs, made of what the doctor found."""
    count = {verdict: sum(outcome.verdict == verdict for outcome in outcomes()) for verdict in _MEANING}
    attending = [outcome for outcome in outcomes() if outcome.neurons]
    found = sum(MISSING not in outcome.neurons for outcome in attending)
    exact = sum(outcome.neurons == {"exact"} for outcome in attending)
    between = sorted(frozenset().union(*(outcome.neurons for outcome in attending)) - {"exact"})
    lines = [
        "# Architectures",
        "",
        f"Every one of the {len(outcomes())} text architectures in transformers {transformers.__version__}'s causal-LM,",
        "masked-LM and sequence-to-sequence mappings, as a tiny random model, through `headscope doctor`. This page",
        "is written by `python -m tests.architectures.test_architectures`, and a test checks that it is current.",
        "An architecture stands for the class in that mapping; [others of its classes](#classes-that-read-no-text) may read",
        "no text, and are refused.",
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
        "",
        "## Queries and keys",
        "",
        f"The neuron view shows queries and keys. They are found in {found} of the {len(attending)} architectures",
        f"with attention; in {exact} of these, softmax(scaling * q.k) over the keys that a row sees gives the weights at",
        "every attention. In the others, at some attention, more stands between the two:",
        "",
        "| what stands between | architectures |",
        "|---|---|",
        *[f"| {what} | {', '.join(o.model_type for o in attending if what in o.neurons)} |" for what in between],
        "",
        "## Classes that read no text",
        "",
        "Of these architectures, the class in the second column is proven: those in the third read sound or pictures in",
        "the place of text, and are refused in one sentence. Of models that compare texts with pictures (CLIP, SigLIP),",
        "the text tower is read.",
        "",
        "| architecture | proven as | refused |",
        "|---|---|---|",
        *[f"| {name} | {mapped_class(name)[1]} | {', '.join(classes_without_text(name))} |" for name in READS_NO_TEXT],
    ]
    return "\n".join(lines) + "\n"


def classes_without_text(model_type: str) -> list[str]:
    """The classes of an architecture, in any of transformers' mappings, whose forward pass takes no input_ids."""
    named = [getattr(modeling_auto, mapping).get(model_type) for mapping in dir(modeling_auto) if _IS_MAPPING.match(mapping)]
    names = {name for some in named if some for name in ([some] if isinstance(some, str) else some)}
    return sorted(name for name in names if "input_ids" not in signature(getattr(transformers, name).forward).parameters)


_IS_MAPPING = re.compile("MODEL_.*MAPPING_NAMES")

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


@pytest.mark.parametrize("model_type", ARCHITECTURES)
def test_readable_weights_come_with_their_queries_and_keys(model_type: str) -> None:
    outcome = next(outcome for outcome in outcomes() if outcome.model_type == model_type)
    if outcome.verdict in ("ok", "in part", "weights only"):
        assert outcome.neurons
        assert not {MISSING, WRONG} & outcome.neurons


def test_every_exception_has_a_reason() -> None:
    assert [outcome.model_type for outcome in outcomes() if outcome.verdict != "ok" and not outcome.reason] == []


def test_classes_without_text_are_listed() -> None:
    proven = [outcome.model_type for outcome in outcomes() if outcome.verdict == "ok"]
    assert [name for name in proven if classes_without_text(name)] == list(READS_NO_TEXT)


@pytest.mark.parametrize("model_type", READS_NO_TEXT)
def test_classes_without_text_are_refused(model_type: str) -> None:
    listed = PAGE.read_text(encoding="utf-8").partition("## Classes that read no text")[2]
    for name in classes_without_text(model_type):
        assert name in listed
        model = random_model(model_type, name)
        with pytest.raises(ModelError, match=f"is a {name}, which reads .* and no text"):
            headscope.open(model)


def test_docs_list_is_current() -> None:
    if transformers.__version__ not in PAGE.read_text(encoding="utf-8"):
        pytest.skip(f"docs/architectures.md was written with another transformers than {transformers.__version__}")
    assert PAGE.read_text(encoding="utf-8") == page(), "run python -m tests.architectures.test_architectures"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(page())
