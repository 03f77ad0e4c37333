"""The league's part of a report: what is chosen from, what was found, and every head's numbers as statistics of the page.

Standings, curves and tokens are tables of the run, which the page has as all others.
"""

from __future__ import annotations

from headscope.ablation.tables import PER
from headscope.later import pd
from headscope.league.columns import EFFECTS_TABLE, NUMBERS_TABLE
from headscope.league.drawings import AXES
from headscope.league.numbers import BY_WAY, NUMBERS
from headscope.lens.head import HEAD
from headscope.report import schema
from headscope.report.heads.effects import INSTEAD
from headscope.study.run import Run

STANDINGS, OF_HEADS, IDLE = "league", "league_heads", "league_idle"
OPENS = "part=league"  # what the page of such a run opens with


def league_of(run: Run) -> schema.League | None:
    """None for a run that is no league."""
    table = run.get(STANDINGS)
    if table is None or run.manifest["kind"] != "league":
        return None
    there = {column: list(dict.fromkeys(table[column])) for column in ("how", "effect", "number")}
    found = run.manifest["findings"]
    models = run.manifest.get("models") or [str(run.manifest["model"]["name"])]
    by_model = found if isinstance(found, dict) else {models[0]: found}
    return {
        "ways": [_option(way, INSTEAD.get(way, way)) for way in there["how"]],
        "effects": [_option(effect, AXES[effect]) for effect in there["effect"]],
        "numbers": [
            {**_option(name, number.title), "idle": number.idle}
            for name, number in NUMBERS.items()
            if name in there["number"]
        ],
        "way": run.manifest.get("way", "mean" if "mean" in there["how"] else there["how"][0]),
        "effect": run.manifest.get("effect", there["effect"][0]),
        "said": [{"model": model, "sentences": by_model[model]} for model in models],
    }


def with_statistics(run: Run) -> tuple[Run, dict[str, str]]:
    """A league's run with tables of one row a head, for the page's statistics: numbers, and by way effects and estimates.

    With the tables' titles. Any other run is given back as it is.
    """
    heads = run.get(OF_HEADS)
    if heads is None:
        return run, {}
    by_way = [*PER, *BY_WAY]
    tables = {NUMBERS_TABLE: heads.drop_duplicates(HEAD).drop(columns=["how", *by_way], errors="ignore")}
    titles = {NUMBERS_TABLE: "Numbers of the league"}
    for way, some in heads.groupby("how", sort=False):
        name = f"{EFFECTS_TABLE}_{way}"
        tables[name] = some[[*HEAD, *(column for column in by_way if column in some)]]
        titles[name] = f"Without it ({INSTEAD.get(str(way), way)})"
    own: dict[str, pd.DataFrame] = {name: run[name] for name in run if name not in (OF_HEADS, IDLE)}
    return Run.of({**own, **tables}, run.manifest), titles


def _option(name: str, title: str) -> schema.LeagueOption:
    return {"name": name, "title": title}
