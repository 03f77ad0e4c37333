"""Corpora and runs elsewhere: in memory, and in a real object store on this machine; the same bytes as on the disk."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fsspec
import pytest

import headscope
from headscope.errors import InputError, MissingExtra
from headscope.files import CannotWrite, write_text, write_whole
from headscope.lens import ModelSource
from headscope.remote import AT_ONCE, as_path
from headscope.text import Corpus
from tests.engines.clusters import files_of, small_ray
from tests.papers.kobayashi2020.test_alignment import LINES
from tests.papers.samples import run_command, save_tiny

TEXTS = [f"the {'cat ' * (1 + n % 9)}sat on the mat , and the dog" for n in range(30)]
COUNTED = ["entropy", "exemplars"]


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> ModelSource:
    return ModelSource(str(save_tiny(tmp_path_factory.mktemp("models") / "small")))


@pytest.fixture(scope="module")
def store() -> Iterator[str]:
    """An object store that speaks S3, with a bucket."""
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        patch.setenv("AWS_ACCESS_KEY_ID", "test")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "test")
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        patch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        fsspec.filesystem("s3").mkdir("texts")
        yield "s3://texts"
    server.stop()


@pytest.fixture
def memory() -> Iterator[str]:
    yield "memory://texts"
    fsspec.filesystem("memory").store.clear()


@pytest.fixture(params=["memory", "store"])
def place(request: pytest.FixtureRequest) -> str:
    return request.getfixturevalue(request.param)


def put(url: str, text: str) -> str:
    with fsspec.open(url, "wb") as file:
        file.write(text.encode())
    return url


def there(run: str) -> dict[str, bytes]:
    """The files of a run elsewhere."""
    folder: Any = as_path(run)
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def counted(files: dict[str, bytes]) -> dict[str, bytes]:
    """Without the manifest, which has the paths of the corpus in it."""
    return {name: content for name, content in files.items() if name != "manifest.json"}


def test_a_corpus_and_a_run_elsewhere(place: str, source: ModelSource, tmp_path: Path) -> None:
    texts = "\n".join(TEXTS)
    (tmp_path / "corpus.txt").write_text(texts)
    headscope.study(source, tmp_path / "corpus.txt", COUNTED, out=tmp_path / "here", shard_size=4)
    run = headscope.study(source, put(f"{place}/one/corpus.txt", texts), COUNTED, out=f"{place}/run", shard_size=4)
    here, found = files_of(tmp_path / "here"), there(f"{place}/run")
    assert counted(here) == counted(found)
    assert json.loads(here["manifest.json"])["corpus"]["fingerprint"] == run.manifest["corpus"]["fingerprint"]
    # It resumes: what is lost is counted again, and nothing else.
    lost: Any = as_path(f"{place}/run/shards/000003.safetensors")
    lost.unlink()
    heard: list[int] = []

    class Counted(headscope.progress.Silent):
        def begin(self, documents: int, done: int) -> None:
            heard.append(done)

    headscope.study(source, f"{place}/one/corpus.txt", COUNTED, out=f"{place}/run", shard_size=4, progress=Counted())
    assert heard == [28]
    assert there(f"{place}/run") == found
    opened = headscope.load_run(f"{place}/run")
    assert opened["entropy"].equals(headscope.load_run(tmp_path / "here")["entropy"])
    assert [document.text for document in opened.corpus()] == TEXTS
    assert f"{place}/run" in repr(opened)


def test_files_folders_and_globs(place: str) -> None:
    for name, text in (("b.txt", "two\n"), ("a.txt", "one\n"), ("deep/c.txt", "three\n"), (".hidden", "four\n")):
        put(f"{place}/many/{name}", text)
    assert [document.text for document in Corpus.of(f"{place}/many")] == ["one", "two", "three"]
    assert [document.text for document in Corpus.of(f"{place}/many/*.txt")] == ["one", "two"]
    assert [document.text for document in Corpus.from_files(f"{place}/many/b.txt", f"{place}/many/a.txt")] == ["two", "one"]
    with pytest.raises(InputError, match=r"There is no file or folder '.*/none.txt': check the address\."):
        Corpus.of(f"{place}/none.txt")
    with pytest.raises(InputError, match=r"No file matches .*/\*\.csv"):
        Corpus.of(f"{place}/many/*.csv")


def test_a_shard_is_read_from_its_place_on(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 8 MB before it, nothing is fetched but the file's beginning, by which its form is known."""
    from s3fs.core import S3File

    line = f"{'the cat sat on the mat . ' * 3}\n"
    url = put(f"{store}/large.txt", line * (8 * 2**20 // len(line)))
    cut = Corpus.of(url).cut(256)
    piece = cut.piece(len(cut.places) - 2)
    fetched: list[tuple[int, int]] = []
    really = S3File._fetch_range
    monkeypatch.setattr(S3File, "_fetch_range", lambda self, a, b: (fetched.append((a, b)), really(self, a, b))[1])
    assert piece is not None
    assert len(list(piece)) == 256
    assert sum(end - start for start, end in fetched) < 3 * AT_ONCE
    assert max(start for start, _ in fetched) > 7.9 * 2**20 * 256 * (len(cut.places) - 2) / cut.documents


def test_a_file_is_written_whole_or_not_at_all(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path: Any = as_path(f"{place}/written/one.txt")
    write_text(path, "before")

    def broken(made: Path) -> None:
        made.write_text("half")
        raise ValueError("no more")

    with pytest.raises(CannotWrite, match=r"one\.txt cannot be reached \(no more\)"):
        write_whole(path, broken)

    def away(self: object, *_: object, **__: object) -> None:
        raise ConnectionError("the line is cut")

    monkeypatch.setattr(type(path.fs), "mv", away)
    with pytest.raises(CannotWrite, match=r"the line is cut.*run the same command again, nothing that was finished is lost"):
        write_text(path, "after")
    assert {str(file.name): file.read_text() for file in path.parent.iterdir()} == {"one.txt": "before"}


def test_what_is_missing_is_said(tmp_path: Path, monkeypatch, capsys) -> None:
    code, _, said = run_command(monkeypatch, capsys, "table", "gs://bucket/run", "entropy")
    assert (code, said.strip()) == (2, "headscope: gs:// needs an optional package: run pip install 'headscope[gs]'.")
    with pytest.raises(InputError, match=r"nowhere://x is no address .*check what stands before"):
        as_path("nowhere://x")
    monkeypatch.setitem(sys.modules, "upath", None)
    for scheme, extra in (("s3", "s3"), ("memory", "remote")):
        with pytest.raises(MissingExtra, match=rf"{scheme}:// needs .* pip install 'headscope\[{extra}\]'"):
            as_path(f"{scheme}://bucket/run")
    assert as_path(f"file://{tmp_path}/a%20b") == tmp_path / "a b"


def test_an_address_that_does_not_answer_is_said(monkeypatch, capsys, source: ModelSource, store: str) -> None:
    study = ("study", source.model, "s3://no-such-bucket/corpus.txt", "-o", "run")
    code, _, said = run_command(monkeypatch, capsys, *study)
    assert (code, "'s3://no-such-bucket/corpus.txt': check the address" in said) == (2, True), said
    assert len(said.strip().splitlines()) == 1


def test_commands_take_addresses(store: str, source: ModelSource, tmp_path: Path, monkeypatch, capsys) -> None:
    put(f"{store}/cli/corpus.txt", "\n".join(TEXTS))
    study = ("study", source.model, f"{store}/cli/corpus.txt", "-s", "entropy", "-o", f"{store}/cli/run")
    code, out, said = run_command(monkeypatch, capsys, *study)
    assert code == 0, said
    assert f"headscope table {store}/cli/run entropy" in out
    for command in (("table", f"{store}/cli/run", "entropy"), ("report", f"{store}/cli/run")):
        code, out, said = run_command(monkeypatch, capsys, *command)
        assert code == 0, said
    assert as_path(f"{store}/cli/run/report.html").is_file()
    put(f"{store}/cli/pairs.txt", "".join(f"{line}\n" for line in LINES))
    marian = save_tiny(tmp_path / "marian", "marian")
    code, out, said = run_command(
        monkeypatch, capsys, "align", marian, f"{store}/cli/pairs.txt", "-o", f"{store}/cli/aligned"
    )
    assert code == 0, said
    assert as_path(f"{store}/cli/aligned/links.txt").is_file()
    code, _, said = run_command(
        monkeypatch, capsys, "paper", "vig2019", source.model, "--treebank", tmp_path, "-o", f"{store}/x"
    )
    assert code == 2


@pytest.mark.slow
@pytest.mark.xdist_group("ray")
def test_workers_read_from_the_store(store: str, source: ModelSource, tmp_path: Path) -> None:
    (tmp_path / "corpus.txt").write_text("\n".join(TEXTS))
    headscope.study(source, tmp_path / "corpus.txt", COUNTED, out=tmp_path / "here", shard_size=4)
    put(f"{store}/ray/corpus.txt", "\n".join(TEXTS))
    with small_ray() as engine:
        headscope.study(source, f"{store}/ray/corpus.txt", COUNTED, out=f"{store}/ray/run", shard_size=4, engine=engine)
    assert counted(files_of(tmp_path / "here")) == counted(there(f"{store}/ray/run"))
