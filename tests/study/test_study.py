"""A study's tables: the same for any interruption, from Python and from files, and refused when something changed."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import headscope
from headscope.errors import InputError
from headscope.lens.head import HEAD
from headscope.progress import Progress
from headscope.statistics import Distance, Entropy, Offsets
from headscope.study import compare
from headscope.study.count import BatchSettings, batches_of, encode_all
from headscope.study.engine import LocalEngine
from headscope.study.shards import Shard, shard_file
from headscope.study.state import load_state
from headscope.study.work import ShardCounts, Work
from tests.tiny import tiny
from tests.tiny_tokenizers import tiny_tokenizer

TEXTS = [
    f"{a} {b} sat on the {c} ." for a in ("the", "a", "two") for b in ("cat", "dogs") for c in ("mat", "end", "dog , cat")
]


@pytest.fixture(scope="module")
def lens() -> headscope.Lens:
    return headscope.open(
        tiny("bert"),
        tiny_tokenizer("wordpiece"),
    )


def bytes_of(run: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in sorted((run / "tables").glob("*"))}


def test_tables_equal_a_plain_loop(lens: headscope.Lens, tmp_path: Path) -> None:
    run = headscope.study(lens, TEXTS, ["entropy", Entropy(measure="norm"), Distance()], out=tmp_path / "r", shard_size=4)
    assert run.tables == ["distance", "entropy", "entropy_norm"]
    rows = []
    for text in TEXTS:
        weights = lens.read(text).scores("weight").double()
        rows.append(-(weights * weights.log()).sum(-1))
    expected = np.concatenate([row.numpy() for row in rows], axis=2).mean(-1).ravel()
    np.testing.assert_allclose(run["entropy"]["entropy"], expected, rtol=1e-4)
    table = run["entropy"]
    assert (table["entropy_low"] <= table["entropy"]).all()
    assert (table["entropy"] <= table["entropy_high"]).all()
    assert list(table["layer"]) == [layer for layer in range(3) for _ in range(4)]


def test_interrupted_run_has_the_same_bytes(lens: headscope.Lens, tmp_path: Path) -> None:
    headscope.study(lens, TEXTS, out=tmp_path / "whole", shard_size=5)

    class Interrupted(LocalEngine):
        def run(self, work: Work, shards: Iterable[Shard], progress: Progress) -> Iterator[ShardCounts]:
            for done in super().run(work, shards, progress):
                yield done
                if done.index == 1:
                    raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        headscope.study(lens, TEXTS, out=tmp_path / "cut", shard_size=5, engine=Interrupted(lens))
    assert not (tmp_path / "cut" / "tables").exists()
    before = shard_file(tmp_path / "cut", 0).stat().st_mtime_ns
    headscope.study(lens, TEXTS, out=tmp_path / "cut", shard_size=5)
    assert shard_file(tmp_path / "cut", 0).stat().st_mtime_ns == before, "a finished shard is not computed again"
    assert bytes_of(tmp_path / "whole") == bytes_of(tmp_path / "cut")
    assert (tmp_path / "whole" / "manifest.json").read_bytes() == (tmp_path / "cut" / "manifest.json").read_bytes()


@pytest.mark.parametrize("damage", ["truncate", "flip", "empty", "garbage"])
def test_damaged_shard_is_noticed_and_computed_again(lens: headscope.Lens, tmp_path: Path, damage: str) -> None:
    run = headscope.study(lens, TEXTS, ["entropy"], out=tmp_path / "r", shard_size=5)
    before = bytes_of(run.folder)
    file = shard_file(run.folder, 2)
    whole = file.read_bytes()
    damaged = {
        "truncate": whole[:-20],
        "flip": whole[:-9] + bytes([whole[-9] ^ 1]) + whole[-8:],
        "empty": b"",
        "garbage": b"\xff" * 300,
    }
    file.write_bytes(damaged[damage])
    assert load_state(file) is None
    shutil.rmtree(run.folder / "tables")
    headscope.study(lens, TEXTS, ["entropy"], out=tmp_path / "r", shard_size=5)
    assert file.read_bytes() == whole
    assert bytes_of(run.folder) == before


def test_what_changed_is_said(lens: headscope.Lens, tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("\n".join(TEXTS))
    out = tmp_path / "r"
    headscope.study(lens, corpus, ["entropy"], out=out)
    with pytest.raises(InputError, match=r"another setting: batch_size was 16 and is 3"):
        headscope.study(lens, corpus, ["entropy"], out=out, batch_size=3)
    with pytest.raises(InputError, match=r"another setting: statistics.distance was null"):
        headscope.study(lens, corpus, ["entropy", "distance"], out=out)
    with (
        headscope.open(tiny("gpt2"), tiny_tokenizer("wordpiece")) as other,
        pytest.raises(InputError, match="another model"),
    ):
        headscope.study(other, corpus, ["entropy"], out=out)
    corpus.write_text("\n".join([*TEXTS, "one more"]))
    with pytest.raises(InputError, match="another corpus"):
        headscope.study(lens, corpus, ["entropy"], out=out)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.tex").write_text("precious")
    with pytest.raises(InputError, match="not empty and is not a run"):
        headscope.study(lens, corpus, ["entropy"], out=tmp_path / "full")


def test_shards_do_not_change_the_tables_beyond_rounding(lens: headscope.Lens, tmp_path: Path) -> None:
    tables = [
        headscope.study(lens, TEXTS, [Offsets(offsets=[-1, 2])], out=tmp_path / str(size), shard_size=size)["offsets"]
        for size in (1, 3, 100)
    ]
    for table in tables[1:]:
        np.testing.assert_allclose(table["previous"], tables[0]["previous"], rtol=1e-5)
        np.testing.assert_allclose(table["offset_+2"], tables[0]["offset_+2"], rtol=1e-5)
        np.testing.assert_allclose(table["previous_low"], tables[0]["previous_low"], rtol=1e-5)


def test_documents_that_do_not_fit(lens: headscope.Lens, tmp_path: Path) -> None:
    texts = ["the cat", "the cat " * 80, "a dog"]
    with pytest.raises(InputError, match=r"item 2: The text has 162 tokens.*--truncate"):
        headscope.study(lens, texts, ["entropy"], out=tmp_path / "stop")
    run = headscope.study(lens, texts, ["entropy"], out=tmp_path / "skip", on_error="skip")
    assert run.manifest["counts"] == {"documents": 2, "tokens": 8, "skipped": 1}
    run = headscope.study(lens, texts, ["entropy"], out=tmp_path / "cut", truncate=True, max_tokens=10)
    assert run.manifest["counts"]["tokens"] == 4 + 10 + 4


def test_manifest_says_what_was_run(lens: headscope.Lens, tmp_path: Path) -> None:
    run = headscope.study(lens, TEXTS, ["entropy"], out=tmp_path / "r")
    manifest = json.loads((run.folder / "manifest.json").read_text())
    assert manifest["finished"] is True
    settings = {"level": "token", "measure": "weight", "without_first": False, "means": "rows"}
    assert manifest["settings"]["statistics"] == {"entropy": settings}
    assert manifest["counts"]["documents"] == len(TEXTS)
    assert len(manifest["model"]["hashes"]["parameters"]) == 64


def test_comparing_with_the_random_twin(tmp_path: Path) -> None:
    tokenizer = tiny_tokenizer("wordpiece")
    for name, seed in (("trained", None), ("random", 0), ("again", 0)):
        with headscope.open(tiny("bert"), tokenizer, random_init=seed) as lens:
            headscope.study(lens, TEXTS, ["entropy"], out=tmp_path / name)
    difference = compare(tmp_path / "trained", tmp_path / "random", "entropy")
    assert list(difference.columns[:7]) == [*HEAD, "entropy_a", "entropy_b", "entropy_difference"]
    assert (difference["entropy_difference"].abs() > 1e-3).any()
    assert bytes_of(tmp_path / "random") == bytes_of(tmp_path / "again")


def test_nothing_to_count(lens: headscope.Lens, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no documents"):
        headscope.study(lens, [], ["entropy"], out=tmp_path / "r")
    with pytest.raises(InputError, match="No statistic"):
        headscope.study(lens, TEXTS, [], out=tmp_path / "r")
    with pytest.raises(InputError, match="There is no statistic 'entropie'; choose one of"):
        headscope.study(lens, TEXTS, ["entropie"], out=tmp_path / "r")
    with pytest.raises(InputError, match="asked for twice"):
        headscope.study(lens, TEXTS, ["entropy", Entropy()], out=tmp_path / "r")


def test_batches_hold_texts_of_similar_length(lens: headscope.Lens) -> None:
    documents = [headscope.Document("cat " * (1 + n % 7)) for n in range(20)]
    encoded, _ = encode_all(lens.encoder, documents, BatchSettings(), {})
    lengths = [[len(s) for s in batch.sources] for batch in batches_of(lens.encoder, encoded, 4)]
    assert all(max(some) - min(some) <= 1 for some in lengths)
    assert sum(map(len, lengths)) == 20


def test_tables_are_data_frames(lens: headscope.Lens, tmp_path: Path) -> None:
    run = headscope.study(lens, TEXTS, ["entropy"], out=tmp_path / "r")
    assert isinstance(run["entropy"], pd.DataFrame)
    with pytest.raises(InputError, match="has no table 'distance': it has entropy"):
        run["distance"]
    with pytest.raises(InputError, match="not a run directory"):
        headscope.load_run(tmp_path / "nowhere")


def test_a_run_of_before_is_refused_in_a_sentence(lens: headscope.Lens, tmp_path: Path) -> None:
    file = headscope.study(lens, TEXTS, ["entropy"], out=tmp_path / "r").folder / "manifest.json"
    manifest = json.loads(file.read_text())
    assert (manifest["format"], manifest["kind"]) == (2, "study")
    del manifest["format"]
    file.write_text(json.dumps(manifest))
    for use in (
        lambda: headscope.load_run(tmp_path / "r"),
        lambda: headscope.study(lens, TEXTS, out=file.parent),
    ):
        with pytest.raises(InputError, match=r"made by an earlier version of headscope.*: count it again"):
            use()
