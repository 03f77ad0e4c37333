"""Several hosts on one machine: network namespaces with addresses of their own, a Ray node in each; gone afterwards."""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.engines.processes import kill

NET = "10.203.77"
PORT = 26379
TRIES = 3
# Ray gives its agents 15 seconds to come up, too few on a busy machine: they go first, and some ports are given.
AGENTS = ("dashboard-agent-grpc-port", "dashboard-agent-listen-port", "runtime-env-agent-port", "metrics-export-port")
RAY = Path(sys.executable).with_name("ray")


class Hosts:
    """The machine itself is the head, at NET.1; `add` makes a host beside it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.names: list[str] = []
        self.bridge = f"hs{os.getpid() % 100000}"

    @property
    def address(self) -> str:
        return f"{NET}.1:{PORT}"

    def __enter__(self) -> Hosts:
        if os.geteuid() != 0 or shutil.which("ip") is None:
            pytest.skip("network namespaces take root and iproute2")
        try:
            self._ip("link", "add", self.bridge, "type", "bridge")
        except subprocess.CalledProcessError:
            pytest.skip("network namespaces are not allowed here")
        self.before = {name: os.environ.get(name) for name in ("RAY_AUTH_MODE", "RAY_AUTH_TOKEN")}
        os.environ |= {
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN": secrets.token_hex(32),
        }  # the same for all, and for drivers
        try:
            self._ip("addr", "add", f"{NET}.1/24", "dev", self.bridge)
            self._ip("link", "set", self.bridge, "up")
            self._ray([], "--head", f"--port={PORT}", "--include-dashboard=false", node=1)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for name in list(self.names):
            self.lose(name)
        kill(self._pids(f"{NET}.1:{PORT}") + self._pids(f"address={NET}.1"))
        subprocess.run(["ip", "link", "del", self.bridge], check=False, capture_output=True)
        for name, value in self.before.items():
            del os.environ[name]
            if value is not None:
                os.environ[name] = value

    def add(self, **environment: str) -> str:
        """A host with one CPU that has joined; its name."""
        number = len(self.names) + 2
        name, inside, outside = f"{self.bridge}n{number}", f"{self.bridge}i{number}", f"{self.bridge}o{number}"
        self._ip("netns", "add", name)
        self.names.append(name)
        self._ip("link", "add", outside, "type", "veth", "peer", "name", inside)
        self._ip("link", "set", inside, "netns", name)
        self._ip("link", "set", outside, "master", self.bridge)
        self._ip("link", "set", outside, "up")
        for words in ("link set lo up", f"addr add {NET}.{number}/24 dev {inside}", f"link set {inside} up"):
            self._ip("netns", "exec", name, "ip", *words.split())
        self._ray(["ip", "netns", "exec", name], f"--address={self.address}", node=number, **environment)
        return name

    def lose(self, name: str) -> None:
        """The whole host, at once, with its address."""
        pids = subprocess.run(["ip", "netns", "pids", name], check=False, capture_output=True, text=True).stdout
        kill([int(pid) for pid in pids.split()])
        subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True)
        self.names.remove(name)

    def _ray(self, before: list[str], *more: str, node: int, **environment: str) -> None:
        limits = ["--num-cpus=1", f"--object-store-memory={100 * 2**20}", f"--temp-dir={self.folder}"]
        ports = [f"--{what}={PORT + number}" for number, what in enumerate(AGENTS, 1)]
        command = [
            *before,
            *("nice", "-n", "-10"),
            str(RAY),
            "start",
            f"--node-ip-address={NET}.{node}",
            *limits[: 3 if node == 1 else 2],
            *ports,
            *more,
        ]
        told = {**os.environ, "RAY_USAGE_STATS_ENABLED": "0", **environment}
        for _ in range(TRIES):  # and the whole node 30
            done = subprocess.run(command, check=False, capture_output=True, text=True, env=told, timeout=150)
            if done.returncode == 0:
                return
            kill(self._pids(f"address={NET}.{node}"))
        raise AssertionError(f"ray start: {done.stdout[-2000:]} {done.stderr[-2000:]}")

    def _ip(self, *words: str) -> None:
        subprocess.run(["ip", *words], check=True, capture_output=True, text=True)

    def _pids(self, address: str) -> list[int]:
        """Whoever of Ray was told of an address of ours."""
        found = []
        for entry in Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and int(entry.name) != os.getpid() and address in (entry / "cmdline").read_text():
                    found.append(int(entry.name))
            except OSError:
                continue
        return found
