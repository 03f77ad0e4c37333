"""The league: exact effects of all heads, every number that is said of them, and how well each predicts what happens.

An `ablate` run, a study, and for the curves one more `ablate` run of sets of heads, in RUN/parts: each resumes by itself.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np

from headscope.ablation import ablate
from headscope.ablation.asked import Asked
from headscope.ablation.removals import removable
from headscope.ablation.work import can_estimate
from headscope.errors import InputError
from headscope.later import pd
from headscope.league import drawings, sentences, side_by_side
from headscope.league.correlations import FEWEST
from headscope.league.cost import cost_of
from headscope.league.counted import Counted
from headscope.league.curves import BEARABLE, Orders, counts_of, idle_table, orders_table
from headscope.league.numbers import NUMBERS, statistics_for
from headscope.league.standings import (
    ALL,
    heads_table,
    known_effects,
    known_numbers,
    reliability,
    stability,
    standings,
)
from headscope.league.tokens import token_pairs, tokens_table
from headscope.lens.head import Head, heads_of
from headscope.lens.lens import Lens
from headscope.lens.source import ModelSource
from headscope.progress import Progress, Silent
from headscope.remote import as_path
from headscope.study.count import BatchSettings
from headscope.study.engine import Engine
from headscope.study.manifest import check_corpora, check_run, save_manifest
from headscope.study.results.result import Result
from headscope.study.results.workspace import Workspace
from headscope.study.run import Run
from headscope.study.tables import save_table
from headscope.text import Corpus
from headscope.text.as_read import what_of
from headscope.text.corpus import OnError

KIND = "league"
PARTS = ("numbers",)  # whose texts its figures show
SHARD = 32  # documents: each costs a pass a head, and a kill loses at most one shard
DRAWS = 8  # of labels a text, for the estimate of KL


def league(
    model: Lens | ModelSource | Sequence[Lens | ModelSource],
    corpus: Corpus | Iterable[Any],
    *,
    how: str | Sequence[str] = ("zero", "mean"),
    texts: int | None = None,
    exact: int | None = None,
    curves: bool = True,
    curve_texts: int = 32,
    orders: int = 10,
    bearable: float | None = None,
    tokens: int = 0,
    out: str | Path | None = None,
    batch_size: int = 16,
    max_tokens: int | None = None,
    truncate: bool = False,
    on_error: OnError = "stop",
    shard_size: int = SHARD,
    engine: Engine | None = None,
    progress: Progress | None = None,
) -> Run:
    """Which number of a head predicts what happens without it, as a run; run it again to go on after an interruption.

    `how` is what takes a head's place. `texts` takes the first so many, `exact` only so many heads, drawn by lot and as many
    of each layer as can be: for large models. `curves` takes heads away one after the other by each number and by `orders`
    random orders, over the first `curve_texts` texts; `bearable` is the loss up to which heads may go (0.1 nats a token, or
    0.01 of 1 - cos). `tokens` rows of each attention, drawn by lot from these texts, lose one token's vector after another:
    how well weights and norms rank the tokens of a row. Several models have a run each in RUN/models, and one table.
    """
    ways = (how,) if isinstance(how, str) else tuple(dict.fromkeys(how))
    Asked(ways, "all", (), False, None, True, None, None, DRAWS, False)  # refuses what cannot take a head's place
    for name, number, least in (
        ("texts", texts, 2),
        ("exact", exact, FEWEST),
        ("orders", orders, 0),
        ("curve_texts", curve_texts, 1),
        ("tokens", tokens, 0),
    ):
        if number is not None and number < least:
            raise InputError(f"The league takes {name}={least} or more, not {number}.")
    read = corpus if isinstance(corpus, Corpus) else Corpus.of(corpus, on_error=on_error)
    taken = read.take(texts)
    folder = as_path(out) if out is not None else Path(tempfile.mkdtemp(prefix="headscope-"))
    batches = BatchSettings(batch_size, max_tokens, truncate, on_error)
    settings = {
        **batches.describe(), "shard_size": shard_size, "how": list(ways), "texts": texts, "exact": exact, "curves": curves,
        "curve_texts": curve_texts, "orders": orders, "bearable": bearable, "tokens": tokens,
    }  # fmt: skip
    feed = {
        "batch_size": batch_size, "max_tokens": max_tokens, "truncate": truncate, "on_error": on_error,
        "shard_size": shard_size,
    }  # fmt: skip

    def one(model: Lens | ModelSource, folder: Path) -> Run:
        source = model if isinstance(model, ModelSource) else model.source
        check_run(folder, KIND, source, settings)
        corpora = check_corpora(folder, {"corpus": taken.fingerprint()})
        with model.open() if isinstance(model, ModelSource) else nullcontext(model) as lens:
            workspace = Workspace(KIND, folder, lens, settings, progress or Silent(), corpora, engine)
            return _League(workspace, taken, settings, feed).run()

    models = [model] if isinstance(model, (Lens, ModelSource)) else list(model)
    return one(models[0], folder) if len(models) == 1 else side_by_side.of_models(models, folder, settings, one)


class _League:
    """One model."""

    def __init__(self, workspace: Workspace, corpus: Corpus, settings: dict[str, Any], feed: dict[str, Any]) -> None:
        self.workspace, self.lens, self.corpus = workspace, workspace.lens, corpus
        self.settings, self.feed = settings, feed
        self.ways: list[str] = settings["how"]
        self.way = "mean" if "mean" in self.ways else self.ways[0]  # of the curves, and of what is printed
        self.documents = list(corpus)
        if len(self.documents) < 2:
            there = "no documents" if not self.documents else "one document"
            raise InputError(f"The corpus has {there}: the league compares texts with each other, give at least two.")
        self.heads = some_heads(self.lens, settings["exact"])
        if len(self.heads) < FEWEST:
            raise InputError(
                f"{self.lens.name} has {len(self.heads)} heads that can be taken away: a ranking takes at least {FEWEST}."
            )

    def run(self) -> Run:
        self.workspace.begin()
        self.workspace.progress.say(str(self._cost()))
        counted = self._counted()
        numbers, effects = known_numbers(counted)[self.way], known_effects(counted)[self.way]
        main = counted.effect_names[0]
        table, reliable = standings(counted), reliability(counted)
        add = self.workspace.add
        shown = in_short(table, self.way, main)
        add(Result("league", f"How well each number ranks heads by {main} ({self.way})", table, shown))
        add(Result("league_reliability", "How alike halves of the texts rank heads", reliable))
        add(Result("league_stability", "How alike two sets of texts rank heads, by their size", stability(counted)))
        heads = heads_table(counted)
        figure = drawings.scatter(heads[heads["how"] == self.way], shown["number"].tolist(), main)
        add(Result("league_heads", f"Each number against {main}, a point a head ({self.way})", heads, figure=figure), PARTS)
        idle = idle_table(counted.heads, numbers, effects[main], main)
        add(Result("league_idle", "Heads that numbers call idle: the fifth at their lower end", idle, idle.head(12)))
        orders = self._curves(counted, numbers, effects) if self.settings["curves"] else None
        if self.settings["tokens"]:
            self._tokens()
        said = sentences.findings(self.lens.name, len(self.documents), self.way, main, table, reliable, orders)
        self._leave_out(table)
        run = self.workspace.finish("The league: which number predicts what happens without a head", said)
        run.manifest |= {"findings": said, "way": self.way, "effect": main, "texts": len(self.documents)}
        save_manifest(run.folder, run.manifest)
        return run

    def _cost(self) -> Any:
        sets = 0
        if self.settings["curves"]:
            sets = (len(NUMBERS) + 2 + self.settings["orders"]) * (len(counts_of(len(self.heads))) - 1) + 1
        return cost_of(
            self.lens, self.documents, self.heads, ways=len(self.ways), draws=DRAWS, sets=sets,
            curve_texts=self.settings["curve_texts"], rows=self.settings["tokens"],
        )  # fmt: skip

    def _ablate(self, part: str, corpus: Corpus, **asked: Any) -> Run:
        workspace = self.workspace
        return ablate(
            self.lens, corpus, draws=DRAWS, out=workspace.folder / "parts" / part, engine=workspace.engine,
            progress=workspace.progress.part(part), **asked, **self.feed,
        )  # fmt: skip

    def _counted(self) -> Counted:
        estimates: Run | None
        if self.settings["exact"] is None:
            effects = estimates = self._ablate("effects", self.corpus, how=self.ways)
        else:
            estimates = None
            if can_estimate(self.lens):
                estimates = self._ablate("estimates", self.corpus, how=self.ways, estimate=True)
            names = [head.name for head in self.heads]
            effects = self._ablate("effects", self.corpus, how=self.ways, heads=names, each=False)
        statistics = statistics_for(self.lens)
        study = self.workspace.study("numbers", self.corpus, statistics, **self.feed)
        self.workspace.copy_tables(study)  # what cards of heads say is read off them
        return Counted.of(self.lens, effects, estimates, study, statistics, self.heads, self.ways)

    def _curves(self, counted: Counted, numbers: Any, effects: Any) -> pd.DataFrame:
        orders = Orders.of(counted.heads, numbers, effects, self.settings["orders"])
        some = self.corpus.take(self.settings["curve_texts"])
        means = self.workspace.folder / "parts" / "effects" if self.way == "mean" else None
        run = self._ablate("curves", some, how=self.way, heads=orders.sets(), each=False, means=means)
        curves = orders.table(run)
        self.workspace.texts["curves"] = what_of(run.manifest["corpus"])
        bearable = self.settings["bearable"]
        main = "loss" if "loss" in curves else "states"
        found = orders_table(curves, BEARABLE[main] if bearable is None else bearable)
        title = f"Heads taken away one after the other, those first that a number calls idle ({self.way})"
        self.workspace.add(Result("league_curves", title, curves, figure=drawings.curves(curves, found)), ("curves",))
        self.workspace.add(Result("league_orders", "The area under each curve, and the share that can go", found))
        return found

    def _tokens(self) -> None:
        some = self.documents[: self.settings["curve_texts"]]
        progress = self.workspace.progress.part("tokens")
        truncate = self.settings["truncate"]
        kept = self.workspace.folder / "parts" / "tokens"
        pairs = token_pairs(self.lens, some, self.settings["tokens"], truncate=truncate, progress=progress, kept=kept)
        if not len(pairs):
            self.workspace.left_out.append("Tokens: no row of these texts sees three tokens.")
            return
        table = tokens_table(pairs)
        save_table(self.workspace.folder, "league_token_pairs", pairs)
        shown = table[table["layer"].isna()].drop(columns="layer")
        self.workspace.add(Result("league_tokens", "How well each score ranks the tokens of a row", table, shown))

    def _leave_out(self, table: pd.DataFrame) -> None:
        there = set(table["number"])
        for name in [name for name in NUMBERS if name not in there]:
            self.workspace.left_out.append(f"{NUMBERS[name].title}: this model has no such number.")


def some_heads(lens: Lens, exact: int | None) -> list[Head]:
    """All heads that can be taken away; or so many, by lot, and as many of each attention as can be."""
    sites = removable(lens)
    every = [head for site in sites for head in heads_of(site)]
    if exact is None or exact >= len(every):
        return every
    random = np.random.default_rng(0)
    drawn = [(turn, site.index, int(head)) for site in sites for turn, head in enumerate(random.permutation(site.heads))]
    by_index = {site.index: site for site in sites}
    chosen = {heads_of(by_index[site])[head] for _, site, head in sorted(drawn)[:exact]}
    return [head for head in every if head in chosen]


def in_short(table: pd.DataFrame, way: str, effect: str) -> pd.DataFrame:
    """What is printed of the table `league`: over all heads, one way and effect, the best number first."""
    some = table[(table["scope"] == ALL) & (table["how"] == way) & (table["effect"] == effect)]
    names = ["number", "rho", "rho_low", "rho_high", "within", "partial", "other_texts"]
    return some.sort_values("rho", ascending=False, key=abs, kind="stable")[names].reset_index(drop=True)
