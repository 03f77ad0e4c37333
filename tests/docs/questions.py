"""Ten questions that users ask, each answered by doing what one page of the docs says."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import headscope
from headscope.demo import open_model

SENTENCE = "The keys to the cabinet are on the table."
TEXTS = [SENTENCE, "Ann sat down, because she was tired.", "Nobody had asked her to mend the clock."]
QUESTIONS: dict[str, tuple[str, Callable[[], Any]]] = {}


def question(asked: str, page: str) -> Callable[[Callable[[], Any]], Callable[[], Any]]:
    """What a user asks, and the page that answers it."""

    def register(answer: Callable[[], Any]) -> Callable[[], Any]:
        QUESTIONS[asked] = page, answer
        return answer

    return register


@question("What does every head look at in my sentence?", "how-to/read-a-text.md")
def looks() -> tuple[int, ...]:
    with open_model() as lens:
        return tuple(lens.read(SENTENCE).scores("weight").shape)


@question("How much of the attention to [CLS] is real?", "measures.md")
def real_share() -> tuple[float, float]:
    with open_model() as lens:
        reading = lens.read(SENTENCE)
        weight, norm = (reading.scores(name)[4, 7] for name in ("weight", "norm"))
        return float(weight[:, 0].sum() / weight.sum()), float(norm[:, 0].sum() / norm.sum())


@question("Which head looks at the next token, over a corpus?", "statistics/where-it-looks.md")
def next_token_head() -> tuple[int, int]:
    with open_model() as lens:
        table = headscope.study(lens, TEXTS, ["offsets"])["offsets"]
    best = table.loc[table["next"].idxmax()]
    return int(best["layer"]), int(best["head"])


@question("Is my model read right?", "how-to/doctor.md")
def proven() -> str:
    from typer.testing import CliRunner

    from headscope.cli.main import app
    from headscope.demo.model import packaged_folder

    return CliRunner().invoke(app, ["doctor", str(packaged_folder())]).output


@question("What happens without a head?", "how-to/without-a-head.md")
def without_a_head() -> float:
    with open_model() as lens:
        inputs = lens.tokenizer(SENTENCE, return_tensors="pt")
        whole = lens.model(**inputs).last_hidden_state
        lens.head_means(TEXTS)
        with lens.without("4.7"):
            changed = lens.model(**inputs).last_hidden_state
        again = lens.model(**inputs).last_hidden_state
    assert bool((again == whole).all())
    return float((changed - whole).detach().norm())


@question("How do I save a figure for a paper?", "how-to/figure-for-a-paper.md")
def figure() -> bytes:
    with open_model() as lens:
        drawn = headscope.attention_map(lens.read(SENTENCE), layer=4, head=7, words=["are"], measure="norm")
    drawn.savefig("head.pdf")
    return Path("head.pdf").read_bytes()


@question("What has training changed?", "how-to/compare-checkpoints.md")
def changed_by_training() -> list[str]:
    with open_model() as lens, lens.twin(seed=0) as other:
        after, before = (headscope.study(one, TEXTS, ["entropy"]) for one in (lens, other))
    return list(before.compare(after, "entropy").columns)


@question("Which words make two texts alike?", "how-to/ignored-sentence.md")
def alike() -> str:
    with open_model() as lens:
        tokens = headscope.similarity(
            lens, "Where is the key?", "The house is old. The key is under the mat."
        ).other.by_token()
    return str(tokens.loc[(tokens["heads"] + tokens["itself"]).idxmax(), "token"])


@question("How do I count something of my own?", "how-to/study.md")
def own_statistic() -> list[str]:
    from tests.docs import pages

    code = pages.blocks("how-to/study.md", "python")[1]
    try:
        exec(code, {})
        with open_model() as lens:
            return list(headscope.study(lens, TEXTS, ["self_most"]).tables)
    finally:
        headscope.STATISTICS.pop("self_most", None)


@question("My text is too long: what now?", "errors.md")
def too_long() -> tuple[str, int]:
    with open_model() as lens:
        text = "word " * 600
        try:
            lens.read(text)
        except headscope.HeadscopeError as error:
            return str(error), len(lens.read(text, truncate=True, layers=[0]).tokens)
    raise AssertionError("600 words were read")
