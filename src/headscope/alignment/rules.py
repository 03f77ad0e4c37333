"""What `headscope align` is asked for, and whether it makes sense: said before a model is opened or anything is counted."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headscope.alignment.eflomal import find_program
from headscope.alignment.joining import PRODUCT
from headscope.alignment.symmetrise import SYMMETRISATIONS
from headscope.alignment.tables import MEASURES
from headscope.alignment.tuned_heads import TunedHeads
from headscope.alignment.tuning import check_tuned
from headscope.errors import InputError
from headscope.files import sha256_of
from headscope.remote import as_path
from headscope.statistics.alignment.sides import AWI, SETTINGS
from headscope.text import Corpus

RULES = ("agreement", "norm", "aer", "states")
JOININGS = (*SYMMETRISATIONS, PRODUCT)


@dataclass(frozen=True)
class Asked:
    """What `align` was called with, as far as it says which links are made."""

    layer: int | None
    head: int | None
    measure: str
    setting: str | None
    by: str
    by_head: bool
    symmetrise: str
    prompt: str | None
    gradient: int
    eflomal: bool
    tune: Corpus | None  # pairs with gold links
    weights: str | Path | None

    @property
    def heads_together(self) -> bool:
        """Whether agreement is counted: heads are chosen by it, or tuned heads are compared with those that it chooses."""
        return self.layer is None and self.by == "agreement" and self.weights is None

    @property
    def one_setting(self) -> str:
        """Of one layer or head."""
        return self.setting or AWI

    def described(self, reverse: str | None) -> dict[str, Any]:
        """What a manifest says of it; what is rarely asked for is left out where it is not."""
        setting = self.setting if self.heads_together or self.weights is not None else self.one_setting
        about = {"layer": self.layer, "head": self.head, "measure": self.measure, "setting": setting, "by": self.by}
        about |= {"by_head": self.by_head, "reverse": reverse, "symmetrise": self.symmetrise, "prompt": self.prompt}
        about |= {"gradient": self.gradient, "eflomal": self.eflomal}
        about |= {} if self.tune is None else {"tune": self.tune.fingerprint()}
        return about | ({} if self.weights is None else {"weights": sha256_of(as_path(self.weights))})

    def check(self, *, gold: bool, reverse: bool) -> None:
        """Names that are known, and settings that go together."""
        for name, known in (("by", RULES), ("symmetrise", JOININGS), ("measure", MEASURES), ("setting", (*SETTINGS, None))):
            if getattr(self, name) not in known:
                raise InputError(f"{name} is one of {', '.join(filter(None, known))}, not {getattr(self, name)!r}.")
        self._check_weights(reverse)
        if self.by == "states":
            self._check_states(reverse)
        elif self.layer is None and self.tune is None and self.weights is None:
            self._check_choosing(gold)
        if self.prompt is not None and reverse:
            raise InputError("A decoder that reads a prompt has no reverse model: leave out --prompt, or --reverse.")
        if self.eflomal:
            find_program()

    def _check_choosing(self, gold: bool) -> None:
        if self.head is not None:
            raise InputError(f"Head {self.head} of which layer? Give --layer too.")
        if self.prompt is not None and self.by == "norm":
            raise InputError(
                "In a prompt norms do not tell which heads align: leave --by out, give --layer, or --by aer with --gold."
            )
        if self.by == "aer" and not gold:
            raise InputError("The best layer by AER cannot be told without gold links: give --gold, or choose --by norm.")

    def _check_weights(self, reverse: bool) -> None:
        if self.tune is None and self.weights is None:
            return
        if self.tune is not None and self.weights is not None:
            raise InputError("Weights are tuned on gold links or read from a file: give --tune or --weights, not both.")
        if self.by != "agreement" or self.layer is not None or self.head is not None or self.by_head:
            flag = "--weights" if self.tune is None else "--tune"
            raise InputError(f"{flag} weighs all heads: leave out --by, --by-head, --layer and --head.")
        if self.weights is not None and reverse:
            raise InputError("--weights are those of one model: leave out --reverse, or tune both models with --tune.")
        if self.tune is not None:
            check_tuned(list(self.tune))
        if self.weights is not None:
            TunedHeads.load(self.weights)

    def _check_states(self, reverse: bool) -> None:
        given = {"--head": self.head is not None, "--by-head": self.by_head, "--prompt": self.prompt is not None}
        given |= {"--reverse": reverse, "--gradient": bool(self.gradient)}
        if wrong := [flag for flag, is_given in given.items() if is_given]:
            raise InputError(f"An encoder's states have no heads and no direction: leave out {', '.join(wrong)}.")
