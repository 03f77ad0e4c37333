"""Several models: a league each, in RUN/models, and their tables as one, with a column that says of which model a row is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from headscope.errors import InputError
from headscope.files import write_text
from headscope.later import pd
from headscope.lens.lens import Lens
from headscope.lens.source import ModelSource
from headscope.study.manifest import is_begun, load_manifest, save_manifest, versions
from headscope.study.results.printing import markdown
from headscope.study.run import Run
from headscope.study.tables import save_table

TABLES = ("league", "league_reliability", "league_stability", "league_orders")
MODELS = "league_models"


def of_models(
    models: Sequence[Lens | ModelSource],
    folder: Path,
    settings: dict[str, Any],
    one: Callable[[Lens | ModelSource, Path], Run],
) -> Run:
    """`one` makes a model's own league in a folder."""
    names = [str(model.name) for model in models]
    if not names or len(set(names)) < len(names):
        twice = next((name for name in names if names.count(name) > 1), "")
        raise InputError(f"The model {twice} is there twice." if names else "No model is named: give at least one.")
    if is_begun(folder):
        before = load_manifest(folder)
        if before["kind"] != "league" or before.get("models") != names:
            raise InputError(f"{folder} is the run of something else than these models: choose another folder with -o.")
    begun = {"kind": "league", "models": names, "settings": settings, "versions": versions(), "finished": False}
    save_manifest(folder, begun)
    runs = {name: one(model, folder / "models" / name.replace("/", "--")) for name, model in zip(names, models, strict=True)}
    return _joined(runs, folder, begun)


def _joined(runs: dict[str, Run], folder: Path, begun: dict[str, Any]) -> Run:
    tables = {}
    for table in TABLES:
        frames = [run[table].assign(model=name) for name, run in runs.items() if table in run]
        if frames:
            whole = pd.concat(frames, ignore_index=True)
            tables[table] = whole[["model", *(column for column in whole if column != "model")]]
    tables[MODELS] = models_table(tables["league"])
    for name, table in tables.items():
        save_table(folder, name, table)
    said = {name: run.manifest.get("findings", []) for name, run in runs.items()}
    lines = [f"## {name}\n\n{' '.join(some)}\n" for name, some in said.items()]
    page = ["# The league: which number predicts what happens without a head\n", markdown(tables[MODELS]) + "\n", *lines]
    write_text(folder / "league.md", "\n".join(page))
    described = [run.manifest["model"] for run in runs.values()]
    hashes = {
        f"{name}/{file}": found for name, run in runs.items() for file, found in run.manifest["model"]["hashes"].items()
    }
    model = {
        **described[0],
        "name": ", ".join(runs),
        "architecture": ", ".join(dict.fromkeys(one["architecture"] for one in described)),
        "hashes": hashes,
    }
    manifest = {**begun, "model": model, "finished": True, "page": "league.md", "findings": said}
    save_manifest(folder, manifest)
    return Run(folder, manifest)


def models_table(league: pd.DataFrame) -> pd.DataFrame:
    """A row a number, way and kind of effect, a column a model: rho over all heads, and within layers."""
    first = league["effect"].isin(["kl", "states"])  # what heads are ranked by: each model has one of them
    some = league[(league["scope"] == "all") & first]
    parts = []
    for kind in ("rho", "within"):
        wide = some.pivot_table(index=["how", "number"], columns="model", values=kind, sort=False)
        parts.append(wide[list(dict.fromkeys(league["model"]))].add_suffix("" if kind == "rho" else ", within layers"))
    found: pd.DataFrame = pd.concat(parts, axis=1).reset_index()
    found.columns.name = None
    return found
