r"""What --help says: text for 80 columns, and examples that can be pasted as they stand."""

import inspect
import re
from collections.abc import Iterable

WIDTH = 76  # columns of an example: what is left of 80 behind its indentation
_AS_IT_IS = "\b"  # typer wraps no paragraph that begins with it
_TEXT = r'(?:"[^"]*"|\S)+'  # what stands in quotes is one
_PARTS = re.compile(rf"-{_TEXT} (?!-){_TEXT}|{_TEXT}")  # of a command: a flag stays with its value


def help_of(docstring: str | None) -> str:
    r"""A command's docstring for --help: paragraphs are wrapped there, examples are not.

    >>> print(help_of("Read.\n\nExamples:\n\n  headscope read\n\n  headscope read -h").replace(chr(8), "as it is:"))
    Read.
    <BLANKLINE>
    as it is:
    Examples:
      headscope read
      headscope read -h
    """
    paragraphs = re.split(r"\n\s*\n", inspect.cleandoc(docstring or ""))
    examples = [paragraph for paragraph in paragraphs if paragraph.strip().startswith("headscope ")]
    said = [" ".join(paragraph.split()) for paragraph in paragraphs if paragraph not in examples]
    if not examples:
        return "\n\n".join(said)
    return "\n\n".join([*said[:-1], "\n".join([_AS_IT_IS, said[-1], *(f"  {line}" for line in _lines(examples))])])


def _lines(commands: Iterable[str]) -> Iterable[str]:
    for command in commands:
        yield from continued(command)


def continued(command: str, width: int = WIDTH) -> list[str]:
    r"""A command in lines that a shell reads as one.

    >>> continued('headscope read gpt2 "The keys are here." -m norm', 38)
    ['headscope read gpt2 \\', '  "The keys are here." -m norm']
    """
    command = " ".join(command.split())
    if len(command) <= width:
        return [command]
    lines = [""]
    for part in _PARTS.findall(command):
        if lines[-1].strip() and len(lines[-1]) + 1 + len(part) > width - 2:  # room for the backslash
            lines.append("  ")
        lines[-1] += part if not lines[-1].strip() else f" {part}"
    return [*(f"{line} \\" for line in lines[:-1]), lines[-1]]
