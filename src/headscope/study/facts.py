"""What was run, for people: the model, the corpus, the settings and the versions, out of a run's manifest."""

import json
from collections.abc import Sequence
from typing import Any

from headscope.study.groups import explain
from headscope.text.as_read import as_read

# A paper's run is called by the paper's name.
KINDS = {"align": "word alignments", "ablate": "without its heads", "league": "the league of numbers"}


def title_of(manifest: dict[str, Any]) -> str:
    """What a run is called: its model, and what was made of it if that is more than a study."""
    name, kind = str(manifest["model"]["name"]), manifest["kind"]
    return name if kind == "study" else f"{name}, {KINDS.get(kind, kind)}"


def facts_of(manifest: dict[str, Any], corpora: Sequence[dict[str, Any]]) -> dict[str, str]:
    """One line a fact, out of a run's manifest and what the manifests of its studies say of their corpora."""
    model = manifest["model"]
    seed = model["random_init"]
    untrained = "" if seed is None else f", randomly initialised (seed {seed})"
    facts = {"Model": model["name"] + untrained, "Architecture": f"{model['architecture']}, {model['dtype']}"}
    if manifest["kind"] not in ("study", *KINDS):
        facts["Paper"] = manifest["kind"]
    facts["Corpus"] = "; ".join(dict.fromkeys(map(as_read, corpora)))
    if counts := manifest.get("counts"):
        facts["Counted"] = ", ".join(f"{count:,} {name}" for name, count in sorted(counts.items()) if count)
    if about := manifest.get("intervals"):
        facts["Intervals"] = explain(about)
    facts["Settings"] = _settings(manifest.get("settings", {}))
    facts["Versions"] = ", ".join(f"{name} {version}" for name, version in sorted(manifest.get("versions", {}).items()))
    hashes = sorted(model["hashes"].items())
    facts["Hashes (SHA-256)"] = ", ".join(f"{file} {digest[:12]}" for file, digest in hashes)
    return {name: value for name, value in facts.items() if value}


def _settings(settings: dict[str, Any]) -> str:
    """Those that are set; the list of statistics is what the tables show."""
    given = {name: value for name, value in settings.items() if name != "statistics" and value not in (None, False, [], {})}
    return ", ".join(f"{name.replace('_', ' ')} {_written(value)}" for name, value in sorted(given.items()))


def _written(value: Any) -> str:
    return "on" if value is True else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
