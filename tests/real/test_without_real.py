"""Without heads of real models: what an independent computation found (issue 21)."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest
import torch

import headscope
from headscope.text import Document
from tests.places import DATA

pytestmark = [pytest.mark.real, pytest.mark.slow]

ZERO = {"1.3": (0.2883, 0.3107), "1.0": (0.2225, 0.3081), "0.6": (0.1684, 0.3289)}
MEAN = {"1.0": (0.2206, 0.2853), "0.0": (0.0921, 0.2078)}
LAYERS = {("zero", 1): (3.5585, 4.0068), ("zero", 0): (1.8415, 2.1938), ("mean", 0): (0.7747, 1.0445)}


def sentences(count: int) -> list[str]:
    file = DATA / "treebank" / "en_ewt-ud-dev.conllu"
    if not file.is_file():
        pytest.skip("../shared/data/treebank/en_ewt-ud-dev.conllu is not here")
    lines = file.read_text(encoding="utf-8").splitlines()
    texts = (line.removeprefix("# text = ") for line in lines if line.startswith("# text = "))
    return list(islice((text for text in texts if len(text.split(" ")) >= 10), count))


def test_smollm_loses_what_an_independent_computation_found(smollm: Path) -> None:
    """The heads of the first layers alone: all 270 are the benchmark's."""
    with headscope.open(smollm) as lens:
        means = lens.head_means(sentences(60))
        names = sorted({*ZERO, *MEAN})
        run = headscope.ablate(
            lens,
            sentences(18),
            how=["zero", "mean"],
            heads=[*names, "0", "1"],
            means=means,
            each=False,
        )
    assert run.manifest["clean"]["predicted"] == 515
    assert run.manifest["clean"]["loss"] == pytest.approx(4.5663, abs=1e-3)
    table = run["ablation_sets"]
    table["heads"] = [*names, "0", "1"] * 2
    found = table.set_index(["how", "heads"])
    expected = {("zero", name): effect for name, effect in ZERO.items()} | {
        ("mean", name): one for name, one in MEAN.items()
    }
    expected |= {(way, str(layer)): effect for (way, layer), effect in LAYERS.items()}
    for place, (loss, kl) in expected.items():
        assert found.loc[place, "loss"] == pytest.approx(loss, abs=1e-3), place
        assert found.loc[place, "kl"] == pytest.approx(kl, abs=1e-3), place


@pytest.mark.parametrize(
    ("text", "tokens", "clean", "changes"),
    [
        (
            "When John and Mary went to the shops, John gave the bag to",
            (" Mary", " John"),
            3.1214,
            {("23.3", None): -2.3209, ("23.3", -1): -2.1935},
        ),
        ("The keys to the cabinet", (" are", " is"), 3.4097, {("26.0", None): -3.0987, ("27.7", None): 0.0129}),
    ],
)
def test_a_difference_of_two_words_changes_as_was_found(
    smollm: Path, text: str, tokens: tuple[str, str], clean: float, changes: dict[tuple[str, int | None], float]
) -> None:
    with headscope.open(smollm) as lens, torch.no_grad():
        ids = lens.tokenizer(text, return_tensors="pt")
        one, other = (lens.tokenizer(token, add_special_tokens=False)["input_ids"][0] for token in tokens)

        def difference() -> float:
            logits = lens.model(**ids).logits[0, -1]
            return float(logits[one] - logits[other])

        before = difference()
        assert before == pytest.approx(clean, abs=1e-3)
        for (head, at), change in changes.items():
            with lens.without(head, how="zero", at=at):
                assert difference() - before == pytest.approx(change, abs=1e-3)
        assert difference() == before


def test_a_translator_is_led_through_its_target(opus: Path) -> None:
    file = DATA / "alignment" / "hansards" / "en-fr.txt"
    if not file.is_file():
        pytest.skip("no Hansards pairs in ../shared/data")
    pairs = [line.split("|||") for line in file.read_text(encoding="utf-8").splitlines()[:33]]
    documents = [Document(french.strip(), target=english.strip()) for english, french in pairs]
    names = {"decoder cross 5.3": 0.181, "decoder cross 4.4": 0.092, "encoder self 1.5": 0.142}
    with headscope.open(opus) as lens:
        run = headscope.ablate(lens, documents, how="zero", heads=list(names), each=False)
    assert run.manifest["clean"]["loss"] == pytest.approx(1.8189, abs=2e-3)
    assert run["ablation_sets"]["loss"].tolist() == pytest.approx(list(names.values()), abs=2e-3)
