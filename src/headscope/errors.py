"""Errors that a user can act on: one sentence that says what is wrong, where, and what to do."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches


class HeadscopeError(Exception):
    """Anything wrong with what the user gave. The command line prints it and exits with code 2."""


class ModelError(HeadscopeError):
    """A model cannot be found, must not be loaded, or has no attention to read."""


class InputError(HeadscopeError):
    """A text is empty, too long, or does not fit the model."""


class TooLong(InputError):
    """A text has more tokens than a model reads."""

    def __init__(self, length: int, max_tokens: int) -> None:
        super().__init__(
            f"The text has {length} tokens, but this model reads at most {max_tokens}; "
            "shorten it, or cut it off with --truncate (truncate=True in Python)."
        )
        self.length, self.max_tokens = length, max_tokens

    def __reduce__(self) -> tuple[type[TooLong], tuple[int, int]]:
        return type(self), (self.length, self.max_tokens)  # survives the way from one process to another


class ReadingError(InputError):
    """Something that is no document: where it stands, and why."""

    def __init__(self, place: str, reason: str) -> None:
        self.place = place
        self.reason = reason
        super().__init__(self.said('on_error="skip"'))

    def said(self, skipping: str | None) -> str:
        """In a sentence. `skipping` is how to go on without it, where one can: a command says it otherwise than Python."""
        otherwise = f", or go on without it with {skipping}" if skipping else ""
        return f"{self.place}: {self.reason}; correct it{otherwise}."

    def __reduce__(self) -> tuple[type[ReadingError], tuple[str, str]]:
        return type(self), (self.place, self.reason)  # so that it comes back whole from another process

    @classmethod
    def at(cls, place: str, error: InputError) -> ReadingError:
        """The same error, with its place."""
        if isinstance(error, ReadingError):
            return error
        message = str(error).removesuffix(".")
        return cls(place, message[:1].lower() + message[1:])


class NormsUnavailable(HeadscopeError):
    """A measure needs f(x), but at this site only the weights can be had."""


class MissingExtra(HeadscopeError):
    """An optional package is not installed."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs an optional package: run pip install 'headscope[{extra}]'.")
        self.what, self.extra = what, extra

    def __reduce__(self) -> tuple[type[MissingExtra], tuple[str, str]]:
        return type(self), (self.what, self.extra)  # survives the way from one process to another


def no_such(what: str, name: str, known: Sequence[str], where: str) -> InputError:
    """A name that is not there, with those that are, and the nearest of them.

    >>> print(no_such("column", "entrpy", ["layer", "entropy"], "The table"))
    The table has no column 'entrpy' (did you mean entropy?): it has layer, entropy.
    """
    near = get_close_matches(name, known, n=3)
    meant = f" (did you mean {' or '.join(near)}?)" if near else ""
    return InputError(f"{where} has no {what} {name!r}{meant}: it has {', '.join(known)}.")
