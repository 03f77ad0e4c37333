"""Several items at a time, each in a copy of this process, with all that is open in it (Linux's fork).

PyTorch divides every operation among the cores and waits for the slowest at its end, and what stands between two operations
runs on one core. Copies wait for nobody, and share the memory of the model, which none of them writes to. They use one core
each, so that what they come to does not depend on how many there are.
"""

from __future__ import annotations

import pickle
import signal
import sys
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from typing import TYPE_CHECKING, Any, TypeVar

from headscope import kernels
from headscope.children import end_with_parent
from headscope.errors import HeadscopeError
from headscope.later import torch

if TYPE_CHECKING:
    from multiprocessing.context import ForkProcess

    from headscope.lens.lens import Lens

MOST = 8  # copies: each has the memory of a batch on its way
TURNS = 2  # items that each has at least: while the last one is made, other cores have nothing to do
LARGEST = 400_000_000  # parameters: operations of a larger model are long, and divided well

Item = TypeVar("Item")
Made = TypeVar("Made")


@dataclass(frozen=True)
class _Failed:
    error: Exception


def copies_for(lens: Lens, items: int) -> int:
    """How many copies are to work on so many items with a lens; 1 where it is better done here, with all cores for each.

    So it is where items are few, on other systems (Windows has no fork, and Apple's libraries do not survive one), with a
    model on another device, with a large one, and where more than half of the cores would be left without work.
    """
    cores = torch.get_num_threads()
    copies = min(MOST, cores)
    suits = sys.platform == "linux" and lens.device.type == "cpu" and lens.model.num_parameters() <= LARGEST
    return copies if suits and cores <= 2 * MOST and items >= TURNS * copies else 1


def side_by_side(make: Callable[[Item], Made], items: Iterable[Item], copies: int) -> Iterator[Made]:
    """make(item) of every item, each as soon as it is there. After an error nothing new is begun; what is begun is finished.

    Items and what is made of them go through a pipe. `make` does not: it is there in every copy.

    >>> sorted(side_by_side(str.upper, ["a", "b", "c"], copies=2))
    ['A', 'B', 'C']
    """
    kernels.load()
    given, more, errors = iter(items), True, list[Exception]()
    free: list[Connection] = []
    busy: set[Any] = set()
    started: list[ForkProcess] = []
    try:
        for _ in range(copies):
            started.append(_start(make, free))
        while more or busy:
            if more and free:
                try:
                    item = next(given)
                except StopIteration:
                    more = False
                except Exception as error:
                    more, errors = False, [*errors, error]
                else:
                    free[-1].send(item)
                    busy.add(free.pop())
                continue
            ready: list[Any] = wait(busy)
            for one in ready:
                busy.discard(one)
                answer = _answer_of(one)
                free.append(one)
                if isinstance(answer, _Failed):
                    more, errors = False, [*errors, answer.error]
                else:
                    yield answer
        if errors:
            raise errors[0]
    finally:
        for process in started:
            process.kill()
            process.join()


def _start(make: Callable[[Item], Made], ours: list[Connection]) -> ForkProcess:
    """A copy; our end of its pipe comes to those that are there."""
    context = get_context("fork")
    here, there = context.Pipe()
    ours.append(here)
    process = context.Process(target=_work, args=(make, there, list(ours)), daemon=True)
    with warnings.catch_warnings():  # from Python 3.12 on, of what other threads may hold: a copy asks for none of it
        warnings.simplefilter("ignore", DeprecationWarning)
        process.start()
    there.close()
    return process


def _answer_of(copy: Connection) -> Any:
    try:
        return copy.recv()
    except (EOFError, OSError):
        raise HeadscopeError(
            "A process that counted some of the texts was ended by the system, most likely because no memory was left: give "
            "a smaller --batch-size, or fewer tokens a text (--max-tokens), in another run directory."
        ) from None


def _work(make: Callable[[Any], Any], pipe: Connection, others: list[Connection]) -> None:
    """What a copy does, until nobody sends anything any more."""
    end_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for who has started it, and ends it then
    for other in others:  # or a pipe would stay open as long as any copy has its other end
        other.close()
    torch.set_num_threads(1)
    while True:
        try:
            item = pipe.recv()
        except EOFError:
            return
        try:
            answer = make(item)
        except Exception as error:
            if not isinstance(error, HeadscopeError):  # a mistake of ours: where it was made is known here alone
                error.add_note(traceback.format_exc())
            answer = _Failed(_sendable(error))
        pipe.send(answer)


def _sendable(error: Exception) -> Exception:
    """The error, or its words where it cannot be sent."""
    try:
        return error if isinstance(pickle.loads(pickle.dumps(error)), type(error)) else RuntimeError(str(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
