"""The league's tables are what scipy makes of each other, runs resume to the same bytes, planted heads go last."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr
from tokenizers.processors import TemplateProcessing

import headscope
from headscope.ablation.work import AblationWork
from headscope.errors import InputError
from headscope.league.curves import SHARES, Orders, orders_table
from headscope.league.league import some_heads
from headscope.league.numbers import NUMBERS
from headscope.lens import Head
from headscope.lens.head import HEAD
from tests.lens.language_models import documents, lens_for
from tests.planted_heads import planted_model, planted_tokenizer
from tests.statistics.tester import lens_for as lens_without_words

EFFECTS = {"gpt2": {"kl", "loss"}, "llama": {"kl", "loss"}, "marian": {"kl", "loss"}, "bert": {"states", "pooled"}}


def lens_of(family: str) -> headscope.Lens:
    return lens_without_words("bert") if family == "bert" else lens_for(family)


@pytest.fixture(scope="module", params=EFFECTS)
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, headscope.Run]:
    family = request.param
    return family, headscope.league(
        lens_of(family), documents(family), out=tmp_path_factory.mktemp(family) / "run", orders=2
    )


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_a_text_that_predicts_nothing_is_no_warning(tmp_path: Path) -> None:
    """It may be a half of the texts by itself: there is no effect a token then, and such halves are left out."""
    tokenizer = planted_tokenizer()
    tokenizer.backend_tokenizer.post_processor = TemplateProcessing(single="$A", pair="$A $B", special_tokens=[])
    lens = headscope.open(planted_model(), tokenizer)
    assert len(lens.read("a").tokens) == 1
    texts = ["a", "a b c a b c a b", "b c d b c d b"]
    found = headscope.league(lens, texts, how="zero", curves=False, out=tmp_path / "run")
    assert found["league_heads"]["kl"].notna().all()
    assert found["league_reliability"]["halves"].notna().all()


def test_every_correlation_is_scipys_of_the_table_of_heads(run: tuple[str, headscope.Run]) -> None:
    family, found = run
    heads, league = found["league_heads"], found["league"]
    assert set(league["effect"]) == EFFECTS[family]
    assert set(league["how"]) == {"zero", "mean"}
    kinds = set(heads["stack"] + " " + heads["kind"])
    assert set(league["scope"]) == {"all"} | (kinds if len(kinds) > 1 else set())
    for row in league.to_dict("records"):
        some = heads[heads["how"] == row["how"]]
        some = some if row["scope"] == "all" else some[some["stack"] + " " + some["kind"] == row["scope"]]
        some = some[some[row["number"]].notna()]
        assert len(some) == row["heads"]
        expected = spearmanr(some[row["number"]], some[row["effect"]]).statistic
        assert row["rho"] == pytest.approx(expected, abs=1e-12, nan_ok=True)
        layers = [spearmanr(one[row["number"]], one[row["effect"]]).statistic for _, one in some.groupby(HEAD[:3])]
        layers = [rho for rho in layers if np.isfinite(rho)]
        assert row["within"] == pytest.approx(np.mean(layers) if layers else np.nan, abs=1e-12, nan_ok=True)
        ranks = some[["layer", row["number"], row["effect"]]].assign(
            at=some["stack"] + some["kind"] + some["layer"].astype(str)
        )
        left = [
            ranks[name].rank() - ranks[name].rank().groupby(ranks["at"]).transform("mean") for name in ranks.columns[1:3]
        ]
        if min(one.abs().max() for one in left) > 1e-6:
            assert row["partial"] == pytest.approx(np.corrcoef(*left)[0, 1], abs=1e-9)
        assert row["rho_low"] <= row["rho_high"] or np.isnan(row["rho_low"])


def test_numbers_and_effects_are_those_of_the_parts(run: tuple[str, headscope.Run]) -> None:
    """No second way of counting: what the study and the ablation say in their own tables."""
    family, found = run
    heads, study, effects = found["league_heads"], found.parts["numbers"], found.parts["effects"]["ablation"]
    merged = heads.merge(effects, on=[*HEAD, "how"], suffixes=("", "_of_ablation"))
    assert len(merged) == len(heads) == len(effects)
    for name in EFFECTS[family]:
        np.testing.assert_allclose(merged[name], merged[f"{name}_of_ablation"], rtol=1e-9)
    if family != "bert":
        np.testing.assert_allclose(merged["gradient"], merged["loss_estimate"], rtol=1e-9)
        np.testing.assert_allclose(merged["second_order"], merged["kl_estimate"], rtol=1e-9)
    one = heads[heads["how"] == "mean"].reset_index(drop=True)
    columns = {name: (name, name) for name in ("entropy", "first_token", "maximum")}
    columns |= {name: ("output_norm", name) for name in ("read", "output", "relative", "centred", "centred_relative")}
    columns |= {"value_norm": ("dispersion", "mean"), "collected": ("strength_norm", "strength")}
    columns |= {"projection": ("strength_projection", "strength")}
    for name, (table, column) in columns.items():
        own = one[HEAD].merge(study[table], on=HEAD, how="left")[column]
        np.testing.assert_allclose(one[name], own, rtol=1e-9)
    in_layer = one["output"] / one.groupby(HEAD[:3])["output"].transform("mean")
    np.testing.assert_allclose(one["output_in_layer"], in_layer, rtol=1e-9)
    assert {*NUMBERS} - {*found["league"]["number"]} <= ({"gradient", "gradient_size", "second_order", "copying"})


def test_a_run_again_and_one_that_was_killed_have_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings: dict[str, Any] = {"orders": 1, "curve_texts": 2, "shard_size": 2}
    lens, some = lens_for("gpt2"), documents("gpt2")
    whole = headscope.league(lens, some, out=tmp_path / "whole", **settings)
    count, calls = AblationWork.count, []

    def killed(self: AblationWork, lens: Any, shard: Any) -> Any:
        calls.append(shard.index)
        if len(calls) == 5:
            raise KeyboardInterrupt
        return count(self, lens, shard)

    monkeypatch.setattr(AblationWork, "count", killed)
    with pytest.raises(KeyboardInterrupt):
        headscope.league(lens, some, out=tmp_path / "killed", **settings)
    done = len(calls)
    again = headscope.league(lens, some, out=tmp_path / "killed", **settings)
    assert len(calls) < 2 * done + 5, "what was counted is not counted again"
    assert whole.tables == again.tables
    for file in [*sorted((tmp_path / "whole/tables").iterdir()), *sorted((tmp_path / "whole/figures").iterdir())]:
        assert (again.folder / file.relative_to(tmp_path / "whole")).read_bytes() == file.read_bytes(), file.name
    before = len(calls)
    headscope.league(lens, some, out=tmp_path / "killed", **settings)
    assert len(calls) == before
    with pytest.raises(InputError, match="another setting: orders was 1 and is 2"):
        headscope.league(lens, some, out=tmp_path / "killed", **{**settings, "orders": 2})
    with pytest.raises(InputError, match="another corpus"):
        headscope.league(lens, some[:3], out=tmp_path / "killed", **settings)


def test_planted_heads_go_last(tmp_path: Path) -> None:
    """Four of eight heads write nothing. By effect, these four go first and nothing is lost; then the others."""
    lens = headscope.open(planted_model(), planted_tokenizer())
    texts = ["a b c a b c a b", "b c d b c d b", "e a d e a d e a", "c e b c e b c"]
    run = headscope.league(lens, texts, how="zero", out=tmp_path / "run", orders=6)
    useful = {("decoder", "self", *place) for place in ((0, 0), (1, 0), (1, 1), (1, 2))}
    heads = run["league_heads"]
    assert {tuple(head) for head in heads.nlargest(4, "kl")[HEAD].to_numpy().tolist()} == useful
    assert heads.nsmallest(4, "kl")["kl"].max() == pytest.approx(0, abs=1e-6)
    curve = run["league_curves"]
    own = curve[curve["order"] == "effect kl"].set_index("gone")
    assert own.loc[4, "kl"] == pytest.approx(0, abs=1e-6)
    assert own.loc[5, "kl"] > 1e-3
    best = heads.nlargest(1, "kl").iloc[0]
    by_kl = Orders.of(some_heads(lens, None), {}, {"kl": heads["kl"].to_numpy()}, 0).by_name["effect kl"]
    assert by_kl[-1] == Head.of(best)
    output = curve[curve["order"] == "output"].set_index("gone")
    assert output.loc[4, "kl"] == pytest.approx(0, abs=1e-6), "heads that write nothing have no output"
    idle = run["league_idle"].iloc[0]
    assert (idle["stack"], idle["kind"], idle["layer"], idle["head"]) not in useful
    rho = run["league"].query("effect == 'kl' and number == 'output'")["rho"].iloc[0]
    assert rho > 0.8


def test_random_orders_stay_inside_their_band(tmp_path: Path) -> None:
    """The band of twenty orders has most of what twenty others give; a number's order need not be in it."""
    lens, some = lens_for("gpt2"), documents("gpt2")
    heads = some_heads(lens, None)
    curves = []
    for seed in (0, 1):
        orders = Orders.of(heads, {}, {}, 20, seed)
        assert all(sorted(order) == sorted(heads) for order in orders.by_name.values())
        found = headscope.ablate(lens, some, how="zero", heads=orders.sets(), each=False, out=tmp_path / str(seed))
        curves.append(orders.table(found))
    band = curves[0].groupby("share")["kl"].agg(["min", "max"])
    others = curves[1].join(band, on="share")
    inside = (others["kl"] >= others["min"] - 1e-6) & (others["kl"] <= others["max"] + 1e-6)
    assert inside.mean() > 0.85
    first = curves[0][curves[0]["order"] == "random 1"]
    assert (first["gone"].diff().dropna() > 0).all()
    assert first["share"].iloc[-1] == SHARES[-1]


def test_a_curve_by_hand() -> None:
    curves = pd.DataFrame(
        {"order": ["a", "a", "random 1", "random 1"], "gone": [1, 2, 1, 2], "share": [0.5, 1, 0.5, 1], "loss": [0, 1, 1, 1]}
    )
    table = orders_table(curves, 0.5).set_index("order")
    assert table.loc["a", "area"] == pytest.approx(0.25)
    assert table.loc["random", "area"] == pytest.approx(0.75)
    assert table.loc["a", "against_random"] == pytest.approx(1 / 3)
    assert (table.loc["a", "within"], table.loc["random", "within"]) == pytest.approx((0.75, 0.25))


def test_some_heads_only_are_drawn_from_every_layer(tmp_path: Path) -> None:
    lens = lens_for("gpt2")
    run = headscope.league(lens, documents("gpt2"), exact=9, how="zero", curves=False, out=tmp_path / "run")
    whole = headscope.league(lens, documents("gpt2"), how="zero", curves=False, out=tmp_path / "whole")
    assert run["league_heads"].groupby("layer").size().tolist() == [3, 3, 3]
    both = run["league_heads"].merge(whole["league_heads"], on=[*HEAD, "how"], suffixes=("", "_whole"))
    assert len(both) == 9
    for name in ("kl", "loss", "entropy", "output", "gradient", "second_order", "copying"):
        np.testing.assert_allclose(both[name], both[f"{name}_whole"], rtol=1e-4, atol=1e-7, err_msg=name)


def test_reliability_is_that_of_halves(run: tuple[str, headscope.Run]) -> None:
    table = run[1]["league_reliability"]
    assert (table["texts"] == 5).all()
    up = table["halves"] > 0
    expected = 2 * table["halves"] / (1 + table["halves"])
    np.testing.assert_allclose(table["reliability"][up], expected[up])
    np.testing.assert_allclose(table["ceiling"] ** 2, table["reliability"])
    assert table["halves"].between(-1, 1).all()
    assert run[1]["league_stability"]["texts"].tolist()[0] == 1


def test_models_side_by_side(tmp_path: Path) -> None:
    lenses = [lens_for("gpt2"), lens_for("llama")]
    run = headscope.league(lenses, documents("gpt2"), how="zero", curves=False, out=tmp_path / "run")
    table = run["league_models"].set_index("number")
    for lens in lenses:
        own = headscope.load_run(tmp_path / "run/models" / lens.name)["league"].query("effect == 'kl'").set_index("number")
        assert table[lens.name].to_dict() == pytest.approx(own["rho"].to_dict())
    assert set(run["league"]["model"]) == {lens.name for lens in lenses}
    assert "league.md" in {file.name for file in (tmp_path / "run").iterdir()}
    assert headscope.load_run(tmp_path / "run").facts["Model"] == ", ".join(lens.name for lens in lenses)
    with pytest.raises(InputError, match="there twice"):
        headscope.league([lenses[0], lenses[0]], documents("gpt2"), out=tmp_path / "twice")


@pytest.mark.parametrize(
    ("texts", "given", "says"),
    [
        (["one text"], {}, "has one document"),
        ([], {}, "has no documents"),
        (["one", "two"], {"how": "median"}, "not by 'median'"),
        (["one", "two"], {"exact": 2}, "exact=3 or more"),
    ],
)
def test_what_cannot_be_is_one_sentence(texts: list[str], given: dict[str, Any], says: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=says):
        headscope.league(lens_for("gpt2"), texts, out=tmp_path / "run", **given)


def test_what_it_says_is_of_this_model_and_texts(run: tuple[str, headscope.Run]) -> None:
    said = run[1].manifest["findings"]
    assert said[0].startswith(f"In {lens_of(run[0]).name} and these 5 texts")
    best = run[1]["league"].query("scope == 'all' and how == 'mean'")
    best = best[best["effect"] == run[1].manifest["effect"]].nlargest(1, "rho").iloc[0]
    assert f"({best['number']}): ρ = {best['rho']:+.2f}" in said[0]
    assert headscope.load_run(run[1].folder).manifest["findings"] == said
    page = (run[1].folder / "league.md").read_text(encoding="utf-8")
    assert said[0] in page
    assert Head.of(run[1]["league_idle"].iloc[0])
