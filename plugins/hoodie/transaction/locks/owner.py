"""Owner of a lock, and proof that the process has certainly ended."""

from __future__ import annotations

import getpass
import json
import os
import re
import socket
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Self

_TOKEN = re.compile(r"[0-9A-Za-z-]{1,64}")  # it becomes part of a file name

_own_tokens: set[str] = set()  # tokens of the locks that this process holds now


@dataclass(frozen=True)
class LockOwner:
    """A process that takes a lock. `boot` and `started` distinguish it from a later one with the same number, `namespace` from
    those of other containers, in which numbers mean other processes, `machine` a restart from another machine of the same
    name."""

    host: str
    machine: str
    boot: str
    namespace: str
    pid: int
    started: str
    token: str
    purpose: str

    @classmethod
    def of_this_process(cls, token: str, purpose: str) -> Self:
        pid = os.getpid()
        return cls(
            socket.gethostname(), _machine_id(), _boot_id(), _namespace(), pid, _started_here(pid), token, purpose
        )

    @classmethod
    def parse(cls, content: bytes) -> Self | None:
        """The owner that a lock names; None for the lock of another program, of whose owner nothing is known."""
        try:
            entry = json.loads(content)
            owner = cls(**{name: entry[name] for name in cls.__dataclass_fields__})
        except (ValueError, KeyError, TypeError, RecursionError):
            return None
        texts = (owner.host, owner.machine, owner.boot, owner.namespace, owner.started, owner.token, owner.purpose)
        numbered = isinstance(owner.pid, int) and 0 < owner.pid < 1 << 31
        if not numbered or not all(isinstance(text, str) for text in texts) or not _TOKEN.fullmatch(owner.token):
            return None
        return owner

    def hold(self) -> None:
        _own_tokens.add(self.token)

    def release(self) -> None:
        _own_tokens.discard(self.token)

    @property
    def is_held_here(self) -> bool:
        """Return whether this process holds the lock."""
        return self.token in _own_tokens

    def is_dead(self) -> bool:
        """Return whether the owner has certainly ended. An unknown one (another machine or container) is not dead."""
        if self.host != socket.gethostname():
            return False
        if self.boot != _boot_id():  # the same machine, started again, or another one
            return "" not in (self.machine, self.boot, _boot_id()) and self.machine == _machine_id()
        if self.namespace != _namespace():
            return False
        if self.pid == os.getpid() and self.started == _started_here(self.pid):
            return self.token not in _own_tokens
        return not _exists(self.pid) or _started(self.pid) not in ("", self.started)

    def is_seen(self) -> bool:
        """Return whether the owner certainly runs: a process that this one can see."""
        own_machine = (socket.gethostname(), _boot_id(), _namespace())
        if (self.host, self.boot, self.namespace) != own_machine or "" in (self.boot, self.started):
            return False
        return _exists(self.pid) and _started(self.pid) == self.started


def user_name() -> str:
    """User of this process: the name, or the number of a user that has none (containers)."""
    try:
        return getpass.getuser()
    except (ImportError, KeyError, OSError):
        return str(os.getuid())


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # another user's
        return True
    return True


@cache
def _boot_id() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""


@cache
def _machine_id() -> str:
    try:
        return Path("/etc/machine-id").read_text().strip()
    except OSError:
        return ""


@cache
def _namespace() -> str:
    try:
        return str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        return ""


@cache
def _started_here(pid: int) -> str:
    """Start of this process, which does not change."""
    return _started(pid)


os.register_at_fork(after_in_child=_started_here.cache_clear)


def _started(pid: int) -> str:
    """When the process was started, in the kernel's ticks; empty when that cannot be seen."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except OSError:
        return ""
