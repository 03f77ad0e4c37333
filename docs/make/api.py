"""Writes docs/api/ from the public names, their signatures and their docstrings: `python docs/make/api.py`.

What is public is what `headscope` and its rooms name in `__all__`; each name stands on the page of its room. A test
checks that the pages are current.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Iterator
from functools import cached_property
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import headscope
from headscope.statistics import STATISTICS, Statistic

DOCS = Path(__file__).resolve().parents[1]
ROOMS = {
    "lens": "Open a model, read a text",
    "measures": "What is read off a block of attention",
    "statistics": "What is counted over a corpus",
    "study": "Count over a corpus, and what comes of it",
    "text": "Documents, corpora and their formats",
    "views": "Pictures of a reading",
    "report": "A run as a page",
    "heads": "What is said of heads, out of a run",
    "writing": "What heads write",
    "ablation": "What happens without each head",
    "league": "Which number predicts what happens without a head",
    "alignment": "Word alignments",
    "probes": "Classifiers on attention",
    "papers": "The papers",
    "engines": "Who counts elsewhere",
}
WIDTH = 100  # of a signature that stands in one line


def room_of(name: str, value: Any) -> str:
    """The room that a name of `headscope` lives in: that of its module."""
    module = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", type(value).__module__)
    special = {"MEASURES": "measures", "measure": "measures", "STATISTICS": "statistics"}
    home = special.get(name) or [*module.split("."), ""][1]
    return home if home in ROOMS else ""


def names_of(room: str) -> dict[str, Any]:
    """Public names that live in a room: first what `headscope` itself has, then the rest."""
    module = import_module(f"headscope.{room}")
    flat = {name: getattr(headscope, name) for name in headscope.__all__}
    found = {
        f"headscope.{name}": value for name, value in flat.items() if room_of(name, value) == room and value is not module
    }
    known = [id(value) for value in found.values()]
    own = {name: getattr(module, name) for name in getattr(module, "__all__", ())}
    return found | {f"headscope.{room}.{name}": value for name, value in own.items() if id(value) not in known}


def plain(text: str) -> str:
    """A docstring as Markdown: examples become blocks, and angle brackets stay what they are."""
    lines, said, inside = inspect.cleandoc(text).splitlines(), [], False
    for line in lines:
        if line.startswith(">>>") and not inside:
            said += ["", "```pycon"] if said and said[-1] else ["```pycon"]
            inside = True
        elif inside and not line.strip():
            said.append("```")
            inside = False
        said.append(line if inside or line.startswith("    ") else line.replace("<", "&lt;"))
    return "\n".join([*said, "```"] if inside else said)


def shown(annotation: Any) -> str:
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    return re.sub(r"\b(?:\w+\.)+(?=[A-Za-z_])", "", text)


def signature_of(name: str, value: Any) -> str:
    """As it is written; an argument a line where that would be too long."""
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return ""
    arguments, kinds = [], inspect.Parameter
    starred = False
    for one in signature.parameters.values():
        if one.name == "self":
            continue
        if one.kind is kinds.KEYWORD_ONLY and not starred:
            arguments.append("*")
        starred = starred or one.kind in (kinds.KEYWORD_ONLY, kinds.VAR_POSITIONAL)
        stars = {kinds.VAR_POSITIONAL: "*", kinds.VAR_KEYWORD: "**"}.get(one.kind, "")
        typed = f": {shown(one.annotation)}" if one.annotation is not kinds.empty else ""
        usual = "" if one.default is kinds.empty else f" = {default_of(one.default)}"
        arguments.append(f"{stars}{one.name}{typed}{usual}")
    returned = signature.return_annotation
    arrow = "" if inspect.isclass(value) or returned in (inspect.Signature.empty, "None", None) else f" -> {shown(returned)}"
    whole = f"{name}({', '.join(arguments)}){arrow}"
    if len(whole) <= WIDTH:
        return whole
    return "\n".join([f"{name}(", *(f"    {argument}," for argument in arguments), f"){arrow}"])


def default_of(value: Any) -> str:
    said = repr(value)
    if said.startswith("<") or len(said) > 40:
        return "..."
    return said


def members_of(cls: type) -> Iterator[tuple[str, str, str]]:
    """Public methods and properties that have a docstring: name, signature, docstring. Of statistics, the base's alone."""
    if issubclass(cls, Statistic) and cls is not Statistic:
        return
    for name, value in vars(cls).items():
        found = value.__func__ if isinstance(value, classmethod | staticmethod) else value
        if name.startswith("_") or not getattr(found, "__doc__", None):
            continue
        if isinstance(found, property | cached_property):
            yield name, "", found.__doc__ or ""
        elif inspect.isfunction(found):
            bound = getattr(cls, name) if found is not value else found
            yield name, signature_of(name, bound), found.__doc__ or ""


def entry(name: str, value: Any) -> str:
    """The section of one name."""
    short = name.rpartition(".")[2]
    parts = [f"## {name} {{ #{name} }}"]  # capitals tell `Statistic` and `statistic` apart
    if isinstance(value, ModuleType):
        return "\n\n".join([*parts, plain(value.__doc__ or "")])
    if not (inspect.isclass(value) or inspect.isroutine(value)):
        return "\n\n".join([*parts, constant(value)])
    written = signature_of(short, value)
    if written:
        parts.append(f"```text\n{written}\n```")
    if value.__doc__ and not value.__doc__.startswith(f"{short}("):  # a dataclass without words of its own
        parts.append(plain(value.__doc__))
    if inspect.isclass(value):
        if issubclass(value, Statistic) and value.__dict__.get("name") in STATISTICS:
            parts.append(f"Formula, example, picture: [`{value.name}`](../statistics/{family_of(value.name)}#{value.name}).")
        for member, how, said in members_of(value):
            parts += [f"### {short}.{member}", *([f"```text\n{how}\n```"] if how else []), plain(said)]
    return "\n\n".join(parts)


def constant(value: Any) -> str:
    """A dictionary or a list by what it has; anything else by what its class says of itself."""
    if isinstance(value, dict) and value is not headscope.MEASURES and value is not STATISTICS:
        return "By name: " + ", ".join(f"`{name}`" for name in value) + "."
    if isinstance(value, dict):
        where = "../measures.md" if value is headscope.MEASURES else "../statistics/index.md"
        return f"All of them [by name]({where}); `{type(value).__name__}` is a dictionary that explains a missing key."
    if isinstance(value, list | tuple):
        return "They are " + ", ".join(f"`{getattr(one, 'name', one)}`" for one in value) + "."
    return plain(type(value).__doc__ or "")


def family_of(statistic: str) -> str:
    """The page that has a statistic's section."""
    for page in sorted((DOCS / "statistics").glob("*.md")):
        if f"## `{statistic}`" in page.read_text(encoding="utf-8"):
            return page.name
    raise SystemExit(f"No page of docs/statistics has a section `{statistic}`: write it first.")


def room_page(room: str) -> str:
    module = import_module(f"headscope.{room}")
    entries = [entry(name, value) for name, value in names_of(room).items()]
    head = f"# API: headscope.{room}\n\n{ROOMS[room]}. {plain(module.__doc__ or '')}"
    return "\n\n".join([head, *entries]) + "\n"


def first_sentence(value: Any) -> str:
    if not (inspect.isclass(value) or inspect.isroutine(value) or isinstance(value, ModuleType)):
        return "All of them, by name."
    paragraph = " ".join(plain(value.__doc__ or "").split("\n\n")[0].split())
    return re.split(r"(?<=\.)\s", paragraph)[0].replace("|", "\\|")


def index_page() -> str:
    intro = """\
    # API reference

    `import headscope` has these names; what else is public is in its rooms. The pages are made of signatures and
    docstrings by `python docs/make/api.py`.
    Whatever is named here stays: a change of a name, or of what it takes, is in the changelog.

    | name | what it is |
    |---|---|"""
    rows = []
    for name in sorted(headscope.__all__, key=str.lower):
        value = getattr(headscope, name)
        room = room_of(name, value)
        if name == "__version__":
            rows.append("| `headscope.__version__` | The version, as a string. |")
        elif name == "HeadscopeError":
            rows.append(f"| [`headscope.{name}`](../errors.md#headscopeerror) | {first_sentence(value)} |")
        elif name in ROOMS and isinstance(value, ModuleType):
            rows.append(f"| [`headscope.{name}`]({name}.md) | {first_sentence(value)} |")
        else:
            rows.append(f"| [`headscope.{name}`]({room}.md#headscope.{name}) | {first_sentence(value)} |")
    rooms = ["", "## Rooms", "", "| | |", "|---|---|"]
    rooms += [f"| [`headscope.{room}`]({room}.md) | {about}. |" for room, about in ROOMS.items()]
    return textwrap.dedent(intro) + "\n" + "\n".join([*rows, *rooms]) + "\n"


def pages() -> dict[Path, str]:
    return {DOCS / "api" / "index.md": index_page()} | {DOCS / "api" / f"{room}.md": room_page(room) for room in ROOMS}


if __name__ == "__main__":
    for file, said in pages().items():
        file.parent.mkdir(exist_ok=True)
        file.write_text(said, encoding="utf-8")
        print(file.relative_to(DOCS.parent))
