"""Writes src/schema.ts: what Python and the pages say to each other, as TypeScript, from Python's own types.

python web/make_schema.py [FILE]
"""

from __future__ import annotations

import inspect
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from types import ModuleType, NoneType, UnionType
from typing import Any, Literal, NotRequired, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel
from typing_extensions import is_typeddict

from headscope import colours
from headscope.lens import predicted
from headscope.report import schema as report
from headscope.server import schemas
from headscope.views import schema, state

MODULES = (schema, state, report, predicted, schemas)
PLAIN: dict[Any, str] = {
    str: "string", int: "number", float: "number", bool: "boolean", NoneType: "null", Any: "unknown",
}  # fmt: skip
PALETTES = ("HEADS", "HEADS_DARK", "SCORES", "BELOW", "ABOVE")  # of colours.py
View = Literal[tuple(state.VIEWS)]  # type: ignore[valid-type]
Names = dict[Any, str]


def main(path: Path) -> None:
    """Write the file anew."""
    names: Names = {View: "View"}
    for module in MODULES:
        names |= {value: name for name, value in vars(module).items() if _is_alias(name, value)}
    parts = [f"// Made from Python by web/{Path(__file__).name}: change the types there, and run make web."]
    parts += [f"export const {name} = {json.dumps(getattr(colours, name))};" for name in PALETTES]
    parts += [_alias(name, value) for value, name in names.items()]
    classes = {one.__name__: one for module in MODULES for one in _classes(module)}
    if len(classes) < sum(1 for module in MODULES for _ in _classes(module)):
        raise SystemExit("Two types have one name, and TypeScript would make one of them: give one another name.")
    parts += [_interface(one, names) for one in classes.values()]
    defaults = {field.name: field.default for field in fields(state.State)}
    parts.append(f"export const USUAL: State = {json.dumps(defaults)};")
    path.write_text("\n\n".join(parts) + "\n", "utf-8")


def _is_alias(name: str, value: Any) -> bool:
    return not name.startswith("_") and get_origin(value) in (Literal, Union, UnionType)


def _classes(module: ModuleType) -> Iterator[type]:
    for name, one in vars(module).items():
        kind = isinstance(one, type) and (is_typeddict(one) or is_dataclass(one) or issubclass(one, BaseModel))
        if kind and one.__module__ == module.__name__ and not name.startswith("_"):
            yield one


def _interface(one: type, names: Names) -> str:
    bases = [base for base in getattr(one, "__orig_bases__", one.__bases__) if is_typeddict(base) or _is_request(base)]
    extends = f" extends {', '.join(base.__name__ for base in bases)}" if bases else ""
    lines = [f"/** {(one.__doc__ or '').strip().splitlines()[0]} */", f"export interface {one.__name__}{extends} {{"]
    hints, about = get_type_hints(one), _comments(one)
    for name in one.__annotations__:
        if any(name in base.__annotations__ for base in bases):
            continue
        hint = View if (one, name) == (state.State, "view") else hints[name]
        optional = "?" if _is_optional(one, name) else ""
        lines.append(f"  {name}{optional}: {_written(hint, names)};{about.get(name, '')}")
    return "\n".join([*lines, "}"])


def _is_request(base: Any) -> bool:
    return isinstance(base, type) and issubclass(base, BaseModel) and base is not BaseModel


def _alias(name: str, value: Any) -> str:
    """The name of a union; choices between words are also there to be counted through."""
    if get_origin(value) is not Literal:
        return f"export type {name} = {_written(value, {})};"
    return f"export const {name} = {json.dumps(get_args(value))} as const;\nexport type {name} = (typeof {name})[number];"


def _written(hint: Any, names: Names) -> str:
    """A type of Python as one of TypeScript."""
    if hint in names:
        return names[hint]
    if hint in PLAIN:
        return PLAIN[hint]
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Literal:
        return " | ".join(json.dumps(part) for part in parts)
    if origin in (Union, UnionType):
        return " | ".join(dict.fromkeys(_written(part, names) for part in parts))
    if origin in (list, tuple):
        item = _written(parts[0], names)
        return f"({item})[]" if " | " in item else f"{item}[]"
    if origin is dict:
        return f"Record<string, {_written(parts[1], names)}>"
    return hint.__name__


def _is_optional(one: type, name: str) -> bool:
    """Whether a key may be missing: one of a request that has a default, or one that is said to be."""
    if issubclass(one, BaseModel):
        return not one.model_fields[name].is_required()
    return get_origin(get_type_hints(one, include_extras=True)[name]) is NotRequired


def _comments(one: type) -> dict[str, str]:
    """What stands behind each field, in the source or as pydantic's description."""
    found = dict(re.findall(r"^    (\w+): [^#\n]*  # ([^\n]*)$", inspect.getsource(one), re.M))
    if issubclass(one, BaseModel):
        found |= {name: field.description for name, field in one.model_fields.items() if field.description}
    return {name: f" // {text}" for name, text in found.items()}


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "src" / "schema.ts")
