"""Files of links: what each format says, round trips, and errors that name the line and the flag."""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headscope.alignment.link_files import read_links, write_links
from headscope.errors import InputError
from headscope.text.links import Links
from headscope.text.parallel import parallel_documents, sentence_lengths
from tests.conftest import SHARED

SIZE = (5, 7)  # words of the source and the target in the random sentences
pairs = st.frozensets(st.tuples(st.integers(0, SIZE[0] - 1), st.integers(0, SIZE[1] - 1)), max_size=6)
sentences = st.lists(st.builds(Links, pairs, pairs), max_size=5)


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    def write_file(content: str | bytes) -> Path:
        path = tmp_path / "gold"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write_file


def error(path: Path, *args: object, **settings: object) -> str:
    with pytest.raises(InputError) as caught:
        list(read_links(path, *args, **settings))
    message = str(caught.value)
    assert str(path) in message
    return message.replace(str(path), "gold")


def test_pharaoh_by_hand(write: Callable[..., Path]) -> None:
    first, second, third, fourth = read_links(write("0-1 2p0 1?1\n\n 3-4:0.75\t4-4/1e-3 \r\n0-0 0p0"))
    assert first == Links(frozenset({(0, 1)}), frozenset({(2, 0), (1, 1)}))
    assert second == Links()
    assert third == Links.of([(3, 4), (4, 4)])
    assert fourth == Links.of([(0, 0)]), "sure once is sure"


def test_naacl_by_hand(write: Callable[..., Path]) -> None:
    text = "0001 1 2 S\n0001 3 1 P 0.4\n0003 1 1\n\n0003 2 2 0.9\n0004 1 1 S\n"
    expected = [
        Links(frozenset({(0, 1)}), frozenset({(2, 0)})),
        Links(),
        Links.of([(0, 0), (1, 1)]),
        Links.of([(0, 0)]),
    ]
    assert list(read_links(write(text))) == expected
    assert list(read_links(write(text), [(3, 3)] * 6)) == [*expected, Links(), Links()], "those at the end have none either"


def test_naacl_may_begin_anywhere(write: Callable[..., Path]) -> None:
    assert list(read_links(write("3 1 1\n"))) == [Links(), Links(), Links.of([(0, 0)])]
    assert list(read_links(write("0 1 1\n2 2 2\n"))) == [Links.of([(0, 0)]), Links(), Links.of([(1, 1)])]


def test_base_and_order(write: Callable[..., Path]) -> None:
    path = write("1-2")
    found = {
        (base, first): next(iter(read_links(path, base=base, first=first)))
        for base, first in product((0, 1), ("source", "target"))
    }
    assert found == {
        (0, "source"): Links.of([(1, 2)]),
        (1, "source"): Links.of([(0, 1)]),
        (0, "target"): Links.of([(2, 1)]),
        (1, "target"): Links.of([(1, 0)]),
    }


def test_packed_files_are_read(write: Callable[..., Path]) -> None:
    assert list(read_links(write(gzip.compress(b"0-0\n1-1\n")))) == [Links.of([(0, 0)]), Links.of([(1, 1)])]


def test_streaming(write: Callable[..., Path]) -> None:
    """No line is read before it is asked for: the second is bad, and the first one comes all the same."""
    found = read_links(write("0-0\nbad\n"), iter([(1, 1), (1, 1)]))
    assert next(found) == Links.of([(0, 0)])
    with pytest.raises(InputError, match="line 2"):
        next(found)


@pytest.mark.parametrize("format", ["pharaoh", "naacl"])
@pytest.mark.parametrize("base", [None, 0, 1])
@pytest.mark.parametrize("first", ["source", "target"])
@given(links=sentences)
def test_round_trip(
    tmp_path_factory: pytest.TempPathFactory, format: str, base: int | None, first: str, links: list[Links]
) -> None:
    path = tmp_path_factory.mktemp("round") / "trip"
    settings = {"format": format, "base": base, "first": first}
    write_links(path, iter(links), **settings)
    assert list(read_links(path, [SIZE] * len(links), **settings)) == links
    if any(sentence.possible for sentence in links):
        again = list(read_links(path, [SIZE] * len(links), base=base, first=first))
        assert again == links, "the format is recognised"


def test_written_by_hand(tmp_path: Path) -> None:
    links = [Links(frozenset({(1, 0)}), frozenset({(0, 2)})), Links(), Links.of([(10, 9)])]
    write_links(tmp_path / "a", links)
    assert (tmp_path / "a").read_bytes() == b"0p2 1-0\n\n10-9\n"
    write_links(tmp_path / "b", links, format="naacl", first="target")
    assert (tmp_path / "b").read_bytes() == b"0001 3 1 P\n0001 1 2 S\n0003 10 11 S\n"


def test_written_whole_or_not_at_all(tmp_path: Path) -> None:
    def broken() -> object:
        yield Links.of([(0, 0)])
        raise InputError("the model failed")

    path = tmp_path / "links"
    path.write_text("before")
    with pytest.raises(InputError, match="the model failed"):
        write_links(path, broken())
    assert [file.read_text() for file in tmp_path.iterdir()] == ["before"]


@pytest.mark.parametrize(
    ("text", "lengths", "settings", "advice"),
    [
        ("\n1-1 2-2\n", [(1, 1), (2, 2)], {}, "give --gold-base 1."),
        (
            "\n0-1 1-0\n",
            [(1, 1), (2, 2)],
            {"base": 1},
            "give --gold-base 0, or leave the link out if 0 stands for no word.",
        ),
        (
            "\n0-2 1-0\n",
            [(1, 1), (3, 2)],
            {},
            "look exchanged. If the model translates from the language of the source, the links",
        ),
        (
            "\n0-2 1-0\n",
            [(1, 1), (2, 3)],
            {"first": "target"},
            "give --gold-first source. If not, the texts are the wrong way round: give the texts the other way round.",
        ),
        ("\n1-2 1-1\n", [(1, 1), (3, 2)], {}, "give --gold-base 1."),
        (
            "\n1-3 2-1\n",
            [(1, 1), (3, 2)],
            {},
            "give --gold-base 1 --gold-first target. If not, the texts are the wrong way round: give --gold-base 1 and the",
        ),
        ("\n0-0 1-3\n", [(1, 1), (2, 2)], {}, "check that the file belongs to these texts."),
        ("\n0-0 2-1 1-1\n", [(1, 1), (2, 2)], {}, "check that the file belongs to these texts."),  # 0-0 rules base 1 out
        (
            "1 1 1\n2 3 1 S\n2 1 1 P\n",
            [(1, 1), (2, 3)],
            {},
            "look exchanged. If the model translates from the language of the source, the links",
        ),
        ("\n2 0 1 S\n", [(1, 1), (2, 3)], {}, "give --gold-base 0, or leave the link out if 0 stands for no word."),
        ("1 1 1\n2 0 3 S\n", [(1, 1), (2, 3)], {}, "check that the file belongs to these texts, or leave the link out"),
    ],
)
def test_a_link_out_of_range(
    write: Callable[..., Path], text: str, lengths: list[tuple[int, int]], settings: dict[str, object], advice: str
) -> None:
    message = error(write(text), lengths, **settings)
    assert message.startswith("gold, line 2: the link ")
    assert f"of {lengths[1][0]} source and {lengths[1][1]} target words" in message
    assert advice in message


def test_flags_are_advised_only_if_all_sentences_fit_with_them(write: Callable[..., Path]) -> None:
    """The first sentence that does not fit would with another base, or with the sides exchanged; a later one would not."""
    assert "check that the file belongs to these texts" in error(write("2-1\n0-0 1-1\n"), [(2, 2), (1, 2)])
    assert "check that the file belongs to these texts" in error(write("0-2\n2-0\n"), [(3, 1), (3, 1)])
    assert "source and target look exchanged" in error(write("0-2\n0-2\n"), [(3, 1), (3, 1)])


def test_the_line_named_is_that_of_the_link(write: Callable[..., Path]) -> None:
    assert "line 3: the link 9-1 is" in error(write("1 1 1\n1 2 2\n1 9 1\n"), [(2, 2)])


def test_without_lengths_a_wrong_base_may_still_show(write: Callable[..., Path]) -> None:
    message = error(write("1-1\n0-4\n"), base=1)
    assert message.startswith("gold, line 2: the link 0-4 is outside its sentence, counting from 1 with the source first")
    assert "give --gold-base 0, or" in message


@given(links=st.builds(Links, pairs), data=st.data())
def test_the_advice_is_right(tmp_path_factory: pytest.TempPathFactory, links: Links, data: st.DataObject) -> None:
    """A sentence read with any flags: if it does not fit, it does with each of those advised."""
    path = tmp_path_factory.mktemp("advice") / "gold"
    choices = st.tuples(st.sampled_from((0, 1)), st.sampled_from(("source", "target")))
    (base, first), (wrong_base, wrong_first) = data.draw(choices), data.draw(choices)
    write_links(path, [links], base=base, first=first)
    try:
        list(read_links(path, [SIZE], base=wrong_base, first=wrong_first))
    except InputError as caught:
        ways = re.findall(r"give (.*?)[.,](?: |$)", str(caught))
        assert ways, "the flags it was written with would fit"
        for way in ways:
            new_base = int(found[1]) if (found := re.search(r"--gold-base (\d)", way)) else wrong_base
            new_first = found[1] if (found := re.search(r"--gold-first (\w+)", way)) else wrong_first
            size = SIZE[::-1] if "the other way round" in way else SIZE
            assert len(list(read_links(path, [size], base=new_base, first=new_first))) == 1


@pytest.mark.parametrize(
    ("text", "lengths", "expected"),
    [
        ("0-0\n0-0\n0-0\n", 2, "gold, line 3: there are links for more sentences than the 2 of the texts"),
        ("0-0\n0-0\n\n", 2, "gold, line 3: there are links for more sentences than the 2 of the texts"),
        ("0-0\n0-0\n", 3, "gold ends after line 2, but the texts have more sentences"),
        ("", 1, "gold ends after line 0, but the texts have more sentences"),
        ("1 1 1\n999999999 1 1\n", 2, "gold, line 2: there are links for more sentences than the 2 of the texts"),
    ],
)
def test_another_number_of_sentences(write: Callable[..., Path], text: str, lengths: int, expected: str) -> None:
    assert error(write(text), [(1, 1)] * lengths).startswith(expected)


@pytest.mark.parametrize(
    ("text", "settings", "expected"),
    [
        ("0-0\n0-0 1,2\n", {}, "gold, line 2: '1,2' is no link such as 3-4"),
        (
            "0-0\n1 1 1 S\n",
            {},
            "gold, line 2: '1' is no link such as 3-4 (sure) or 3p4 (possible): correct it, or give --gold-",
        ),
        ("1 1 1 S\n0-0\n", {}, "gold, line 2: '0-0' is no row such as `0001 3 4 S`"),
        ("1 1 1 Q\n", {"format": "naacl"}, "gold, line 1: '1 1 1 Q' is no row"),
        ("0-0-0\n", {}, "gold, line 1: '0-0-0' is no link"),
        ("-1-0\n", {}, "gold, line 1: '-1-0' is no link"),
        ("\u0661-0\n", {}, "gold, line 1: '\u0661-0' is no link"),
        (f"0-{'9' * 5000}\n", {}, "gold, line 1: '0-9"),
        ("1 1 1\n3 1 1\n2 1 1\n", {}, "gold, line 3: sentence 2 comes after sentence 3: sort the file by its first column."),
        (b"0-0\n\xe9\n", {}, "gold, line 2: the line is not UTF-8"),
    ],
)
def test_what_is_no_link(write: Callable[..., Path], text: str | bytes, settings: dict[str, object], expected: str) -> None:
    assert error(write(text), **settings).startswith(expected)


def test_settings_are_checked_at_once(tmp_path: Path) -> None:
    for settings, flag in (({"format": "giza"}, "format"), ({"base": 2}, "base"), ({"first": "left"}, "first")):
        with pytest.raises(InputError, match=f"--gold-{flag} "):
            read_links(tmp_path / "gold", **settings)
        with pytest.raises(InputError, match=f"--gold-{flag} "):
            write_links(tmp_path / "gold", [], **settings)
    assert "cannot be read" in error(tmp_path / "nowhere")


@given(st.binary(max_size=40) | st.text("0123-p? SP.\n", max_size=40).map(str.encode))
def test_anything_is_links_or_an_error(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.mktemp("any") / "gold"
    path.write_bytes(content)
    try:
        found = list(read_links(path, [(3, 3)] * 4))
    except InputError:
        return
    assert len(found) == 4
    assert all(0 <= number < 3 for links in found for pair in links.possible for number in pair)


@pytest.mark.real
def test_hansards(tmp_path: Path) -> None:
    """English first, counted from 1; French is the source. Each flag that is missing is asked for."""
    folder = SHARED / "data" / "alignment" / "hansards"
    if not folder.is_dir():
        pytest.skip("../shared/data/alignment/hansards is not here")
    lengths = list(sentence_lengths(parallel_documents(folder / "en-fr.txt", first="target")))
    gold = folder / "en-fr.gold"
    with pytest.raises(InputError, match=r"en-fr.gold, line 1: .*: give --gold-base 1 --gold-first target\."):
        list(read_links(gold, lengths))
    with pytest.raises(InputError, match=r"en-fr.gold, line \d+: .*: give --gold-first target\."):
        list(read_links(gold, lengths, base=1))
    links = list(read_links(gold, lengths, base=1, first="target"))
    text = gold.read_text()
    assert len(links) == 200
    assert sum(len(sentence.sure) for sentence in links) == len(re.findall(r"\d-\d", text))
    assert sum(len(sentence.possible) for sentence in links) == len(re.findall(r"\d[-p]\d", text))
    write_links(tmp_path / "again", links, base=1, first="target")
    assert [set(line.split()) for line in (tmp_path / "again").read_text().splitlines()] == [
        set(line.split()) for line in text.splitlines()
    ]
    write_links(tmp_path / "rows", links, format="naacl")
    assert list(read_links(tmp_path / "rows", lengths)) == links
