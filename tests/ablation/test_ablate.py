"""Effects are those of the hand-written model with a slice replaced, one text and one head at a time; runs resume."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from accelerate import cpu_offload
from scipy.stats import spearmanr
from torch import Tensor
from transformers import Gemma2ForCausalLM, GraniteForCausalLM

import headscope
from headscope.ablation.effects import CleanReadWords, CleanStates, CleanWords
from headscope.ablation.exact import Ablation, reader_of, run
from headscope.ablation.predicted import task
from headscope.ablation.removals import curve, removable
from headscope.ablation.work import AblationWork
from headscope.errors import InputError
from headscope.lens import Head, HeadMeans, watching
from headscope.lens.head import heads_named, heads_of
from headscope.lens.tokens.batch import Batch
from headscope.lens.without import zeros
from headscope.study.engine import LocalEngine
from headscope.text import Document
from tests.architectures.tiny_models import build
from tests.lens.language_models import documents, language_model, lens_for, tokenizer_for
from tests.lens.textbook_forward import FORWARD
from tests.tiny import tiny
from tests.tiny_tokenizers import tiny_tokenizer


def by_hand(lens: headscope.Lens, family: str, document: Document, heads: list[Head], new, at: object) -> tuple[float, ...]:
    """Sums over one text's predicted tokens: the loss, KL, and how many they are; log_softmax in float64."""
    inputs = lens.encoder.batch([document]).inputs
    side = "decoder_" if family == "marian" else ""
    ids = inputs[f"{side}input_ids"][0].tolist()

    def change(stack: str, kind: str, layer: int, z: Tensor) -> Tensor:
        z = z.clone()
        for head in (head for head in heads if head[:3] == (stack, kind, layer)):
            rows = list(range(z.shape[1]))[at] if isinstance(at, slice) else [at]
            z[0, rows, head.head] = new(head)
        return z

    with torch.no_grad():
        clean = FORWARD[family](lens.model, inputs, lambda *given: given[-1])[0].double().log_softmax(-1)
        other = FORWARD[family](lens.model, inputs, change)[0].double().log_softmax(-1)
    following = ids[1:] + ([lens.tokenizer.eos_token_id] if family == "marian" and ends(lens) else [])
    rows = torch.arange(len(following))
    loss = (clean - other)[rows, torch.tensor(following)].sum()
    kl = (clean.exp() * (clean - other))[rows].sum()
    return float(loss), float(kl), float(len(following)), float(-clean[rows, torch.tensor(following)].sum())


def ends(lens: headscope.Lens) -> bool:
    return lens.tokenizer(text_target="a")["input_ids"][-1] == lens.tokenizer.eos_token_id


@pytest.mark.parametrize("at", ["all", "first", "rest"])
@pytest.mark.parametrize("family", ["gpt2", "llama", "marian"])
def test_every_head_has_the_effect_of_the_hand_written_model(family: str, at: str, tmp_path: Path) -> None:
    lens, some = lens_for(family), documents(family)
    run = headscope.ablate(
        lens, some, how=["zero", "mean"], at=at, layers=True, estimate=False, out=tmp_path / "run", batch_size=3
    )
    means = HeadMeans.load(tmp_path / "run")
    rows = {"all": slice(None), "first": 0, "rest": slice(1, None)}[at]
    for name, sets in (
        ("ablation", [(head,) for site in lens.sites for head in heads_of(site)]),
        ("ablation_layers", [heads_of(site) for site in lens.sites]),
    ):
        table = run[name]
        assert len(table) == 2 * len(sets)
        for row, (way, heads) in zip(
            table.to_dict("records"), [(way, heads) for way in ("zero", "mean") for heads in sets], strict=True
        ):
            assert (row["how"], row["stack"], row["kind"], row["layer"]) == (way, *heads[0][:3])

            def new(head, way=way):
                site = next(site for site in lens.sites if (site.stack, site.kind, site.layer) == head[:3])
                return 0 if way == "zero" else torch.from_numpy(means.of(site)[head.head]).float()

            found = np.array([by_hand(lens, family, document, list(heads), new, rows) for document in some]).sum(0)
            assert row["loss"] == pytest.approx(found[0] / found[2], abs=2e-5)
            assert row["kl"] == pytest.approx(found[1] / found[2], abs=2e-5)
            assert row["kl_low"] <= row["kl"] <= row["kl_high"]
    assert run.manifest["clean"]["loss"] == pytest.approx(found[3] / found[2], abs=1e-5)
    assert run["ablation"]["kl"].max() > 1e-3


def test_ranks_and_others_are_those_of_the_layer() -> None:
    run = headscope.ablate(lens_for("llama"), documents("llama"), how="zero", estimate=False)
    table = run["ablation"]
    best = table.sort_values("kl", ascending=False)
    assert best["rank"].tolist() == list(range(1, len(table) + 1))
    first = table.iloc[5]
    rest = table[(table["layer"] == first["layer"]) & (table["head"] != first["head"])]
    assert first["kl_others"] == pytest.approx(rest["kl"].mean())
    assert first["loss_others_deviation"] == pytest.approx(rest["loss"].std(ddof=0))
    assert table["largest_text"].between(0.2, 1).all()


def test_sets_and_curves_take_heads_away_together() -> None:
    lens, some = lens_for("gpt2"), documents("gpt2")
    run = headscope.ablate(lens, some, how="zero", estimate=False, heads=["0.0, 2.2", "1"], layers=True, curve="ablation.kl")
    sets, layers, steps = run["ablation_sets"], run["ablation_layers"], run["ablation_curve"]
    assert sets["heads"][0] == "decoder self 0.0, decoder self 2.2"
    assert sets["kl"][1] == pytest.approx(layers["kl"][1], rel=1e-6)
    found = np.array(
        [by_hand(lens, "gpt2", one, heads_named(["0.0", "2.2"], lens.sites), lambda _: 0, slice(None)) for one in some]
    ).sum(0)
    assert sets["kl"][0] == pytest.approx(found[1] / found[2], abs=2e-5)
    best = run["ablation"].sort_values("kl", ascending=False).iloc[0]
    assert (steps["layer"][0], steps["head"][0], steps["gone"][0]) == (best["layer"], best["head"], 1)
    assert steps["kl"][0] == pytest.approx(best["kl"], rel=1e-5)
    assert steps["gone"].iloc[-1] == 12
    assert [len(step) for step in curve(range(9))] == [1, 2, 3, 4, 5, 6, 7, 8, 9]


def test_sets_alone_cost_what_they_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    """And are what they are beside every head; no head is taken away by itself, and nothing is estimated."""
    lens, some = lens_for("gpt2"), documents("gpt2")
    asked: list[int] = []
    sums = Ablation.sums

    def counted(self: Ablation, removals: Any, *rest: Any) -> Any:
        asked.append(len(removals))
        return sums(self, removals, *rest)

    monkeypatch.setattr(Ablation, "sums", counted)
    whole = headscope.ablate(lens, some, how="zero", heads=["0.0, 2.2", "1.1"], estimate=False)
    settings = {"how": "zero", "heads": ["0.0, 2.2", "1.1"], "each": False}
    asked.clear()
    alone = headscope.ablate(lens, some, **settings)
    assert set(asked) == {2}
    assert alone.tables == ["ablation_sets"]
    assert alone.manifest["clean"] == pytest.approx(whole.manifest["clean"], rel=1e-6)
    assert np.allclose(alone["ablation_sets"]["kl"], whole["ablation_sets"]["kl"], rtol=1e-5)
    assert headscope.ablate(lens, some, how="zero", layers=True, each=False).tables == ["ablation_layers"]
    steps = headscope.ablate(lens, some, how="zero", each=False, curve="ablation.kl", curve_run=whole)
    assert steps.tables == ["ablation_curve"]
    assert steps.manifest["clean"] == pytest.approx(whole.manifest["clean"], rel=1e-6)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"each": False}, "nothing to take away: give heads, layers or a curve"),
        ({"each": False, "layers": True, "estimate": True}, "Estimates are of every head by itself"),
        ({"each": False, "curve": "ablation.kl"}, "name another run that has the column"),
        ({"curve": "ablation.lk"}, "has no column 'ablation.lk' .did you mean ablation.kl"),
        ({"curve": "-entropy.entropy"}, "has no column 'entropy.entropy'"),
        ({"curve": "ablation.kl", "estimate": True}, "it has ablation.loss_estimate, ablation.kl_estimate"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_opened(settings: dict[str, Any], says: str, tmp_path: Path) -> None:
    nothing = headscope.ModelSource("nowhere/at-all")
    with pytest.raises(InputError, match=says):
        headscope.ablate(nothing, ["a text"], how="zero", out=tmp_path / "run", **settings)
    assert not (tmp_path / "run").exists()


def test_a_curve_by_words_is_refused_before_counting_where_there_are_none(tmp_path: Path) -> None:
    with headscope.open(tiny("bert"), tiny_tokenizer("wordpiece")) as lens:
        with pytest.raises(InputError, match=r"no column 'ablation.kl'.*ablation.states"):
            headscope.ablate(lens, documents("bert"), how="zero", curve="ablation.kl", out=tmp_path / "run")
        assert not list((tmp_path / "run").rglob("*.parquet"))
        run = headscope.ablate(lens, documents("bert"), how="zero", curve="ablation.states")
        assert run["ablation_curve"]["gone"].iloc[-1] == len(run["ablation"])


def test_estimates_are_the_derivatives_of_the_effects() -> None:
    """Heads that are moved a little towards their replacement: the first order of the loss, the second of KL."""
    lens, some = lens_for("llama"), documents("llama")[:3]
    exact = headscope.ablate(lens, some, how="zero", estimate=True, draws=400)["ablation"]
    step = 0.02
    for row in exact.to_dict("records")[:6]:
        found = np.zeros(4)
        for document in some:
            inputs = lens.encoder.batch([document]).inputs

            def change(stack, kind, layer, z, row=row):
                z = z.clone()
                if layer == row["layer"]:
                    z[:, :, row["head"]] *= 1 - step
                return z

            ids = inputs["input_ids"][0]
            with torch.no_grad():
                clean = FORWARD["llama"](lens.model, inputs, lambda *given: given[-1])[0].double().log_softmax(-1)
                other = FORWARD["llama"](lens.model, inputs, change)[0].double().log_softmax(-1)
            places = torch.arange(len(ids) - 1)
            found += [
                float((clean - other)[places, ids[1:]].sum()),
                float((clean.exp() * (clean - other))[places].sum()),
                len(places),
                0,
            ]
        assert row["loss_estimate"] == pytest.approx(found[0] / step / found[2], rel=0.1, abs=2e-3)
        assert row["kl_estimate"] == pytest.approx(found[1] / step**2 / found[2], rel=0.25, abs=1e-4)
    assert "kl" not in exact


def test_the_largest_estimates_are_made_exact() -> None:
    lens, some = lens_for("llama"), documents("llama")
    whole = headscope.ablate(lens, some, how="zero")["ablation"]
    table = headscope.ablate(lens, some, how="zero", estimate=True, exact=3)["ablation"]
    known = table[table["kl"].notna()]
    assert set(known.index) == set(table.nlargest(3, "kl_estimate").index)
    assert np.allclose(known["kl"], whole.loc[known.index, "kl"], atol=1e-6)
    assert np.allclose(table["kl_estimate"], whole["kl_estimate"], rtol=1e-4)
    assert spearmanr(whole["kl"], whole["kl_estimate"]).statistic > 0.8


def test_an_encoder_without_words_has_its_states_compared() -> None:
    with headscope.open(tiny("bert"), tiny_tokenizer("wordpiece")) as lens:
        some = documents("bert")
        table = headscope.ablate(lens, some, how="zero", batch_size=2)["ablation"]
        turned, pooled, tokens = [], [], 0
        for document in some:
            inputs = lens.encoder.batch([document]).inputs

            def change(stack, kind, layer, z):
                z = z.clone()
                if layer == 1:
                    z[:, :, 2] = 0
                return z

            with torch.no_grad():
                clean, other = (FORWARD["bert"](lens.model, inputs, one)[0].double() for one in (lambda *g: g[-1], change))
            cosine = torch.nn.functional.cosine_similarity
            turned.append(float((1 - cosine(clean, other)).sum()))
            pooled.append(float(1 - cosine(clean.mean(0), other.mean(0), dim=0)))
            tokens += len(clean)
        row = table[(table["layer"] == 1) & (table["head"] == 2)].iloc[0]
        assert row["states"] == pytest.approx(sum(turned) / tokens, abs=1e-6)
        assert row["pooled"] == pytest.approx(np.mean(pooled), abs=1e-6)
        assert not {"loss", "kl", "loss_estimate"} & set(table.columns)
        with pytest.raises(InputError, match="predicts no words"):
            headscope.ablate(lens, some, how="zero", estimate=True)


def test_a_masked_model_is_asked_for_masked_words() -> None:
    table = headscope.ablate(lens_for("bert"), documents("bert"), how="zero")["ablation"]
    assert (table["kl"] > 0).all()
    assert table["loss"].abs().max() > 0


@pytest.mark.parametrize("family", ["llama", "marian"])
def test_another_texts_heads_are_the_next_ones(family: str) -> None:
    """With two texts, each has the other's: as `without` has it with `others`."""
    lens, some = lens_for(family), documents(family)[:2]
    table = headscope.ablate(lens, some, how="resample", estimate=False)["ablation"]
    head = Head.of(table.iloc[5])
    kl, count = 0.0, 0
    for text, other in ((some[0], some[1]), (some[1], some[0])):
        inputs = lens.encoder.batch([text]).inputs
        with torch.no_grad():
            clean = lens.model(**inputs).logits[0].double().log_softmax(-1)
            with lens.without(head, how="resample", others=[other]):
                changed = lens.model(**inputs).logits[0].double().log_softmax(-1)
        rows = slice(None) if family == "marian" and ends(lens) else slice(-1)
        kl += float((clean.exp() * (clean - changed))[rows].sum())
        count += len(clean[rows])
    assert table["kl"][5] == pytest.approx(kl / count, abs=2e-5)


# The same bytes


def test_it_goes_on_where_it_was_and_shards_do_not_matter(tmp_path: Path) -> None:
    lens, some = lens_for("llama"), documents("llama")
    settings = {"how": ["zero", "mean"], "layers": True, "shard_size": 2}
    whole = headscope.ablate(lens, some, out=tmp_path / "whole", **settings)

    class Dies(LocalEngine):
        left = 4

        def run(self, job, shards, progress):
            for done in super().run(job, shards, progress):
                if Dies.left == 0:
                    raise KeyboardInterrupt
                Dies.left -= 1
                yield done

    for _ in range(6):
        Dies.left = 2
        try:
            resumed = headscope.ablate(lens, some, out=tmp_path / "killed", engine=Dies(lens), **settings)
            break
        except KeyboardInterrupt:
            continue
    for name in whole.tables:
        assert (tmp_path / "whole" / "tables" / f"{name}.parquet").read_bytes() == (
            tmp_path / "killed" / "tables" / f"{name}.parquet"
        ).read_bytes()
    assert resumed.tables == whole.tables == ["ablation", "ablation_layers"]
    other = headscope.ablate(lens, some, how=["zero", "mean"], layers=True)
    assert np.allclose(whole["ablation"]["kl"], other["ablation"]["kl"], atol=1e-6)
    with pytest.raises(InputError, match="another setting: how"):
        headscope.ablate(lens, some, out=tmp_path / "whole", **{**settings, "how": "zero"})


@pytest.mark.parametrize(
    "model_type",
    [
        "albert",
        "t5",
        "gptj",
        "bloom",
        "qwen3_next",
        "gpt_neox",
        "bart",
        "deberta-v2",
        "gemma3_text",
        "zamba2",
        "gemma3n_text",
    ],
)
def test_starting_in_the_middle_is_starting_at_the_beginning(model_type: str) -> None:
    """Where a model cannot be resumed it is not, and nobody notices but by the clock."""
    made = build(model_type)
    with headscope.open(made.model) as lens, torch.no_grad():
        layers = watching.Layers(lens.model, lens.trace.sites)

        def states(inputs: dict[str, Tensor] = made.inputs) -> Tensor:
            return lens.forward(inputs)[0]  # T5's own pass has logits

        with layers.keep(len(made.inputs["input_ids"])):
            clean = states()
        resumes = layers.resumes(states, clean)
        assert resumes == (model_type not in ("albert", "gemma3n_text"))
        start = layers.start_of(lens.sites[-1].index)
        with layers.resumed(start, 3):
            again = states(watching.repeated_inputs(made.inputs, 3))
        assert torch.allclose(again, clean.repeat(3, 1, 1), atol=1e-4)
        assert not any("forward" in vars(module) for module in lens.model.modules())


def test_work_is_data() -> None:
    import pickle

    lens = lens_for("llama")
    with pytest.raises(InputError, match="exact= takes the largest"):
        headscope.ablate(lens, documents("llama"), how="zero", exact=2)
    with pytest.raises(InputError, match="zero, mean, resample, not by 'median'"):
        headscope.ablate(lens, documents("llama"), how="median")
    job = AblationWork(lens.source, None, None, 1, removals=[(Head("decoder", "self", 0, 0),)])
    assert pickle.loads(pickle.dumps(job)) == job


# Formulas on numbers


def test_kl_and_loss_are_the_textbooks() -> None:
    torch.manual_seed(0)
    clean, other, targets = torch.randn(5, 11) * 4, torch.randn(2, 5, 11) * 4 + 30, torch.randint(0, 11, (5,))
    loss, kl = CleanWords(clean, targets).effects(other)
    p, q = clean.double().softmax(-1), other.double().softmax(-1)
    assert torch.allclose(kl.double(), (p * (p / q).log()).sum(-1), atol=1e-5)
    expected = p[range(5), targets].log() - q[:, range(5), targets].log()
    assert torch.allclose(loss.double(), expected, atol=1e-5)
    near = clean + 1e-3 * torch.randn(1, 5, 11)
    q = near.double().softmax(-1)
    tiny_kl = CleanWords(clean, targets).effects(near)[1].double()
    assert torch.allclose(tiny_kl, (p * (p / q).log()).sum(-1), atol=3e-7), "a small effect is not lost in rounding"


def test_what_w_u_reads_says_as_much_as_logits() -> None:
    """A constant beside W_U h changes nothing; a vocabulary in several parts; changes too large for e^d in float32."""
    torch.manual_seed(0)
    unembedding, states, bias = torch.randn(1500, 6), torch.randn(4, 6), torch.randn(1500)
    targets = torch.randint(0, 1500, (4,))
    clean = CleanReadWords(states @ unembedding.T + bias, targets, states, unembedding)
    for size in (1e-3, 1.0, 60.0):
        other = states + size * torch.randn(700, 4, 6)
        loss, kl = clean.effects(other)
        p = (states @ unembedding.T + bias).double().log_softmax(-1)
        q = (other.double() @ unembedding.T.double() + bias).log_softmax(-1)
        wanted = (p.exp() * (p - q)).sum(-1)
        assert torch.allclose(kl.double(), wanted, rtol=1e-4, atol=1e-8 if size < 1 else 1e-4), size
        rows = range(4)
        assert torch.allclose(loss.double(), p[rows, targets] - q[:, rows, targets], rtol=1e-5, atol=1e-6), size
    assert kl.max() > 100, "where e^d is too large"


@pytest.mark.parametrize("family", ["gpt2", "marian", "bert"])
def test_logits_of_a_batch_are_never_whole(family: str) -> None:
    """Where W_U makes the logits it reads states, and effects are those of whole logits."""
    lens, some = lens_for(family), documents(family)
    batch = lens.encoder.batch(some)
    removals = [(head,) for site in removable(lens)[-2:] for head in heads_of(site)]
    found = []
    for whole in (False, True):
        layers = watching.Layers(lens.model, lens.trace.sites)
        with torch.no_grad():
            ablation = Ablation(lens, batch, layers)
            assert isinstance(ablation.clean, CleanReadWords)
            if whole:
                asked = task(lens, batch)
                logits = run(lens, asked.inputs, words=True)
                ablation.reader = None
                ablation.clean = CleanWords(logits[ablation.real], asked.targets[ablation.real])
            found.append(ablation.sums(removals, dict.fromkeys(lens.sites, zeros), None).effects)
    for name in ("loss", "kl"):
        assert np.allclose(found[0][name], found[1][name], rtol=1e-3, atol=2e-5)


@pytest.mark.parametrize("model_type", ["gemma2", "granite"])
def test_logits_that_are_more_than_a_product_are_read_whole(model_type: str) -> None:
    """Gemma's soft cap, Granite's divisor."""
    made = build(model_type)
    kind = {"gemma2": Gemma2ForCausalLM, "granite": GraniteForCausalLM}[model_type]
    settings = {"gemma2": {"final_logit_softcapping": 2.0}, "granite": {"logits_scaling": 4.0}}[model_type]
    tokenizer = tiny_tokenizer("bpe")
    config = type(made.model.config)(**{**made.model.config.to_dict(), **settings, "vocab_size": len(tokenizer)})
    with headscope.open(kind(config).eval(), tokenizer) as lens, torch.no_grad():
        batch = lens.encoder.batch(["the cat sat on the mat"])
        ablation = Ablation(lens, batch, watching.Layers(lens.model, lens.trace.sites))
        assert ablation.reader is None
        assert type(ablation.clean) is CleanWords


def test_a_w_u_that_is_kept_elsewhere_makes_its_logits_itself() -> None:
    """As accelerate leaves it: its weights come when it runs."""
    model = copy.deepcopy(language_model("gpt2"))
    found = []
    for away in (False, True):
        if away:
            cpu_offload(model.lm_head, execution_device="cpu")
        with headscope.open(model, tokenizer_for("gpt2")) as lens, torch.no_grad():
            assert (reader_of(lens) is None) == away
            ablation = Ablation(lens, lens.encoder.batch(documents("gpt2")), watching.Layers(lens.model, lens.trace.sites))
            found.append(ablation.sums([(Head("decoder", "self", 1, 2),)], dict.fromkeys(lens.sites, zeros), None).effects)
    assert np.allclose(found[0]["kl"], found[1]["kl"], atol=2e-5)


def test_half_a_turn_is_one() -> None:
    states, real = torch.tensor([[[1.0, 0.0], [0.0, 1.0]]]), torch.tensor([[True, False]])
    turned, pooled = CleanStates(states, real).effects(torch.tensor([[[[0.0, 2.0], [5.0, 5.0]]]]))
    assert turned[0, 0, 0] == pooled[0, 0] == 1


def test_a_text_of_one_token_predicts_nothing_and_hurts_nobody() -> None:
    """Such a text is often a batch of its own, and the first of its shard, on which resuming is tried."""
    lens = lens_for("gpt2")
    batch = Batch({"input_ids": torch.tensor([[5]]), "attention_mask": torch.tensor([[1]])})
    sites = removable(lens)
    with torch.no_grad():
        ablation = Ablation(lens, batch, watching.Layers(lens.model, lens.trace.sites), check=True)
        found = ablation.sums([(heads_of(sites[0])[1],)], dict.fromkeys(sites, zeros), None)
    assert found.clean["tokens"].tolist() == [0]
    assert found.effects["kl"].tolist() == found.effects["loss"].tolist() == [[0]]
