"""What was run, for people: the model, the corpus, the settings and the versions, out of a run's manifest."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from headscope.errors import InputError
from headscope.study.manifest import load_manifest

Facts = list[dict[str, str]]  # {"name": ..., "value": ...}


def finished_manifest(run: Path) -> dict[str, Any]:
    """The manifest of a run that is finished, or a sentence about what is missing."""
    manifest = load_manifest(run)
    if not manifest.get("finished"):
        raise InputError(f"{run} is not finished, so there is nothing to report yet: run the command that began it again.")
    return manifest


def run_facts(run: Path, manifest: dict[str, Any]) -> Facts:
    """One line a fact: {name, value}."""
    model = manifest["model"]
    facts = {
        "Model": model["name"] + _untrained(model),
        "Architecture": f"{model['architecture']}, {model['dtype']}",
    }
    if manifest["kind"] != "study":
        facts["Paper"] = manifest["kind"]
    corpora = [_corpus(study) for study in _studies(run, manifest)]
    if corpora:
        facts["Corpus"] = "; ".join(dict.fromkeys(corpora))
    if counts := manifest.get("counts"):
        facts["Counted"] = ", ".join(f"{count:,} {name}" for name, count in sorted(counts.items()) if count)
    facts["Settings"] = _settings(manifest.get("settings", {}))
    facts["Versions"] = ", ".join(f"{name} {version}" for name, version in sorted(manifest.get("versions", {}).items()))
    hashes = sorted(model["hashes"].items())
    facts["Hashes (SHA-256)"] = ", ".join(f"{file} {digest[:12]}" for file, digest in hashes)
    return [{"name": name, "value": value} for name, value in facts.items() if value]


def _untrained(model: dict[str, Any]) -> str:
    seed = model["random_init"]
    return "" if seed is None else f", randomly initialised (seed {seed})"


def _studies(run: Path, manifest: dict[str, Any]) -> list[dict[str, Any]]:
    """The manifests that name a corpus: the run's own, or for a paper's run those of its parts."""
    if "corpus" in manifest:
        return [manifest]
    parts = [load_manifest(file.parent) for file in sorted(run.glob("parts/*/manifest.json"))]
    return [part for part in parts if "corpus" in part]


def _corpus(manifest: dict[str, Any]) -> str:
    corpus = manifest["corpus"]
    count = f"{corpus['documents']:,} document{'s' if corpus['documents'] != 1 else ''}"
    files = [Path(path).name for path in corpus.get("paths", [])]
    if not files:
        return f"{count}, given from Python"
    named = ", ".join(files[:3]) + (f" and {len(files) - 3:,} more files" if len(files) > 3 else "")
    return f"{count} of {named}"


def _settings(settings: dict[str, Any]) -> str:
    """Those that are set; the list of statistics is what the tables show."""
    given = {name: value for name, value in settings.items() if name != "statistics" and value not in (None, False, [], {})}
    return ", ".join(f"{name.replace('_', ' ')} {_written(value)}" for name, value in sorted(given.items()))


def _written(value: Any) -> str:
    return "on" if value is True else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
