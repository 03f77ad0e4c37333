"""Settings: where the server listens, who may ask, and how much."""

import ipaddress
import re
import socket
from dataclasses import dataclass

from headscope.errors import InputError

_TOKEN = re.compile(r"[A-Za-z0-9._~-]{8,200}")  # stands in an address, a header and a cookie as it is
_LOOPBACK_NAMES = ("127.0.0.1", "localhost", "[::1]")


@dataclass(frozen=True)
class Settings:
    """What a server allows. The defaults are for one person on one machine."""

    host: str = "127.0.0.1"
    port: int = 8765
    token: str | None = None  # needed wherever others can reach the server
    max_tokens: int = 512  # of one text of a request
    max_bytes: int = 256_000  # of a request's body
    max_waiting: int = 32  # requests in line for the model
    kept_bytes: int = 32_000_000  # of answers, so that going back to a text is immediate
    writing_seconds: float = 20.0  # that a model may write a translation; then it is shown as far as it is
    exemplar_documents: int = 200  # of a run's corpus that are read for a head's exemplars, where the run has none
    exemplar_tokens: int = 16_384  # likewise

    def __post_init__(self) -> None:
        if self.token is not None and not _TOKEN.fullmatch(self.token):
            raise InputError("A token has 8 to 200 letters, digits, and . _ ~ -: choose another with --token.")
        if self.token is None and not is_loopback(self.host):
            raise InputError(f"Others can reach a server at {self.host}, so it needs a token: give one with --token.")
        if self.max_tokens < 1:
            raise InputError(f"A server that reads {self.max_tokens} tokens reads nothing: give --max-tokens 1 or more.")

    @property
    def is_everywhere(self) -> bool:
        """Whether it listens at every address of the machine."""
        return _address(self.host) is not None and ipaddress.ip_address(self.host).is_unspecified

    @property
    def address(self) -> str:
        """What to type into a browser."""
        shown = socket.gethostname() if self.is_everywhere else self.host
        return f"http://{_in_address(shown)}{_port(self.port)}/" + (f"?token={self.token}" if self.token else "")

    def allows_host(self, given: str) -> bool:
        """Whether a request's Host header names this server.

        A page elsewhere can make its own name point at this machine (DNS rebinding), and then sends that name.
        """
        given = given.lower()
        names = {*_LOOPBACK_NAMES, _in_address(self.host).lower()}
        if self.is_everywhere:
            names.add(socket.gethostname().lower())
            name = given.removesuffix(_port(self.port))
            if name + _port(self.port) == given and _address(name.strip("[]")) is not None:
                return True  # a number is no name that could point elsewhere
        return given in {name + _port(self.port) for name in names}


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a server there.

    >>> is_loopback("localhost"), is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("0.0.0.0")
    (True, True, True, False)
    """
    address = _address(host)
    return host.lower() == "localhost" if address is None else address.is_loopback


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def _in_address(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _port(port: int) -> str:
    return "" if port == 80 else f":{port}"
