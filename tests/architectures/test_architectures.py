"""Every text architecture that transformers can build goes through the doctor; the docs list what cannot, and why.

`python -m tests.architectures.test_architectures` writes docs/architectures.md anew; the test checks that it is current.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import cache
from inspect import signature

import pytest
import torch
import transformers
from torch import Tensor
from transformers.models.auto import modeling_auto

import headscope
from headscope.errors import HeadscopeError, InputError, ModelError
from headscope.lens.doctor import Diagnosis, diagnose
from headscope.lens.neurons import neurons_of
from headscope.lens.tokens.batch import Batch
from tests import places
from tests.architectures.overrides import OTHER_TOWERS
from tests.architectures.tiny_models import ARCHITECTURES, CannotBuild, build, mapped_class, random_model

PAGE = places.DOCS / "architectures.md"
# One worker for all of them: the models are examined once, at the first test.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("architectures")]

# The families that the second way in was made for: all of them with norms.
OUTSIDE_THE_INTERFACE = (
    *("bloom", "falcon", "gptj", "gpt_neo", "mpt", "mpnet", "deberta", "deberta-v2", "openai-gpt", "roformer"),
    *("megatron-bert", "rembert", "fsmt", "xlm", "flaubert", "codegen", "convbert", "squeezebert", "big_bird"),
)

# Attention in windows, chunks and blocks: the weights are found by what values become, and not by queries and keys.
IN_PARTS = ("led", "longformer", "longt5", "reformer")

# Architectures that are proven, with a class that reads something else than text.
READS_NO_TEXT = ("llama4", "mllama", "seamless_m4t", "seamless_m4t_v2", "whisper")


IN_HALF = 60  # so many architectures, evenly spread over the alphabet, are examined in bfloat16 too
NORMS = 220  # at least so many architectures have weights and norms that are proven at every site


@dataclass(frozen=True)
class Outcome:
    model_type: str
    verdict: str  # ok, in part, weights only, not finite, wrong, no attention, not built
    reason: str = ""
    neurons: frozenset[str] = (
        frozenset()
    )  # of its attentions: exact, what stands between q.k and the softmax, MISSING, WRONG
    residual: frozenset[str] = frozenset()  # how its attentions join the residual stream: LN(r + y), r + y, ... or NOT_FOUND
    error: float | None = None  # the largest of its sites', between what the heads sum to and what the model's W_O returned


MISSING, WRONG = "no queries and keys", "q.k does not give the weights that it should"
NOT_FOUND = "not found"


@cache
def outcomes() -> tuple[Outcome, ...]:
    return tuple(examine(model_type) for model_type in ARCHITECTURES)


@cache
def outcomes_in_half() -> dict[str, Outcome]:
    attending = [outcome.model_type for outcome in outcomes() if outcome.neurons]
    return {
        name: examine(name, torch.bfloat16)
        for name in (attending[place * len(attending) // IN_HALF] for place in range(IN_HALF))
    }


def examine(model_type: str, dtype: torch.dtype = torch.float32) -> Outcome:
    try:
        tiny = build(model_type)
    except CannotBuild as error:
        return Outcome(model_type, "not built", str(error))
    try:
        with headscope.open(tiny.model.to(dtype)) as lens:
            found = diagnose(lens, tiny.inputs)
            neurons = examine_neurons(lens, tiny.inputs) if dtype == torch.float32 else frozenset()
    except HeadscopeError as error:
        return Outcome(model_type, "no attention", str(error).partition(" has ")[2] or str(error))
    errors = [report.reconstruction_error for report in found.sites if report.reconstruction_error is not None]
    residual = frozenset(report.residual or NOT_FOUND for report in found.sites)
    return Outcome(model_type, found.verdict, _reason(found), neurons, residual, max(errors, default=None))


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
    notes = [
        f"`{report.site.module}`: {report.note}; use the measure `weight`"
        for report in found.sites
        if report.verdict != "ok"
    ]
    read = f"the other {len(found.sites)} attentions can be studied"
    return (notes + [f"{skipped}; {read}" for skipped in found.skipped])[0]


def page() -> str:
    """The table for the docs, made of what the doctor found."""
    count = {verdict: sum(outcome.verdict == verdict for outcome in outcomes()) for verdict in _MEANING}
    attending = [outcome for outcome in outcomes() if outcome.neurons]
    found = sum(MISSING not in outcome.neurons for outcome in attending)
    exact = sum(outcome.neurons == {"exact"} for outcome in attending)
    joined = sum(NOT_FOUND not in outcome.residual for outcome in attending)
    halves = outcomes_in_half().values()
    lines = [
        "# Architectures",
        "",
        f"Every one of the {len(outcomes())} text architectures in transformers {transformers.__version__}'s causal-LM,",
        "masked-LM and sequence-to-sequence mappings, as a tiny random model, through `headscope doctor`. This page",
        "is written by `python -m tests.architectures.test_architectures`, and a test checks that it is current.",
        "An architecture stands for the class in that mapping; [others of its classes](#classes-that-read-no-text) may read",
        f"no text, and are refused. A tower of {', '.join(OTHER_TOWERS)} that no text enters needs a package that is not",
        "here, and another stands in its place.",
        "",
        "| verdict | architectures | what it means |",
        "|---|---|---|",
        *[f"| {verdict} | {count[verdict]} | {meaning} |" for verdict, meaning in _MEANING.items()],
        "",
        f"In bfloat16, {sum(o.verdict == 'wrong' for o in halves)} of a sample of {IN_HALF} are read wrongly.",
        "",
        "## Every architecture",
        "",
        "- *float32*, *bfloat16*: the largest error of its sites, between what its heads' weighted vectors sum to and what",
        "  the model's own W_O returned, as a share of the largest number there, rounded up to a power of ten.",
        f"- *residual*: how the attention's output y joins the residual stream r; found everywhere in {joined} of the",
        f"  {len(attending)} architectures with attention. `block_norm` and `mixing` need it.",
        f"- *queries and keys*: what the neuron view shows. They are found in {found} of the {len(attending)}; in {exact}",
        "  of these, softmax(scaling * q.k) over the keys that a row sees gives the weights at every attention (*exact*).",
        "  Else it says what stands between the two.",
        "- *reason*: why the verdict is not *ok*; the first site's, where there are several.",
        "",
        "| architecture | verdict | float32 | bfloat16 | residual | queries and keys | reason |",
        "|---|---|---|---|---|---|---|",
        *map(_row, outcomes()),
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


def _row(outcome: Outcome) -> str:
    in_half = outcomes_in_half().get(outcome.model_type)
    cells = [
        outcome.model_type,
        outcome.verdict,
        _rounded_up(outcome.error),
        "" if in_half is None else _rounded_up(in_half.error),
        "; ".join(sorted(outcome.residual)),
        "; ".join(sorted(outcome.neurons)),
        outcome.reason.replace("|", "\\|"),
    ]
    return f"| {' | '.join(cells)} |"


def _rounded_up(error: float | None) -> str:
    return "" if error is None else "0" if error == 0 else f"1e{math.ceil(math.log10(error))}"


def classes_without_text(model_type: str) -> list[str]:
    """The classes of an architecture, in any of transformers' mappings, whose forward pass takes no input_ids."""
    named = [getattr(modeling_auto, mapping).get(model_type) for mapping in dir(modeling_auto) if _IS_MAPPING.match(mapping)]
    names = {name for some in named if some for name in ([some] if isinstance(some, str) else some)}
    return sorted(name for name in names if "input_ids" not in signature(getattr(transformers, name).forward).parameters)


_IS_MAPPING = re.compile("MODEL_.*MAPPING_NAMES")
_ERRORS = re.compile(r"\b1e-\d+\b")  # other processors round otherwise

_MEANING = {
    "ok": "weights and norms are read right at every attention",
    "in part": "what is read is read right, but some attention is of a form that is left out: `headscope doctor` names it",
    "weights only": "weights are read right; norms cannot be had, for the reason given: use the measure `weight`",
    "no attention": "there is no softmax attention over the text's tokens, so that there is nothing to read",
    "not built": "no tiny model can be built or run on text alone here",
    "not finite": "the model itself computes numbers that are none",
    "wrong": "read wrongly (a bug)",
}


@pytest.mark.parametrize("model_type", ARCHITECTURES)
def test_architecture_is_never_read_wrongly(model_type: str) -> None:
    outcome = next(outcome for outcome in outcomes() if outcome.model_type == model_type)
    assert outcome.verdict != "wrong", outcome.reason


def test_most_architectures_have_norms() -> None:
    assert sum(outcome.verdict == "ok" for outcome in outcomes()) >= NORMS


def test_none_of_a_sample_is_read_wrongly_in_half_precision() -> None:
    assert len(outcomes_in_half()) == IN_HALF
    assert {name: outcome.reason for name, outcome in outcomes_in_half().items() if outcome.verdict == "wrong"} == {}


@pytest.mark.parametrize("model_type", OUTSIDE_THE_INTERFACE)
def test_architectures_outside_the_interface_have_norms(model_type: str) -> None:
    assert next(outcome for outcome in outcomes() if outcome.model_type == model_type).verdict in ("ok", "in part")


@pytest.mark.parametrize("model_type", ARCHITECTURES)
def test_readable_weights_come_with_their_queries_and_keys(model_type: str) -> None:
    outcome = next(outcome for outcome in outcomes() if outcome.model_type == model_type)
    if outcome.verdict in ("ok", "in part", "weights only"):
        assert outcome.neurons
        assert WRONG not in outcome.neurons
        assert MISSING not in outcome.neurons or model_type in IN_PARTS


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
    written, now = (re.sub(_ERRORS, "", text) for text in (PAGE.read_text(encoding="utf-8"), page()))
    assert written == now, "run python -m tests.architectures.test_architectures"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(page())
