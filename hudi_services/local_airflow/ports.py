"""Ports of this machine."""

from __future__ import annotations

import contextlib
import socket


def free_ports() -> tuple[int, int, int, int]:
    """Four ports that are free now."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(4)]
        for listener in sockets:
            listener.bind(("127.0.0.1", 0))
        first, second, third, fourth = (listener.getsockname()[1] for listener in sockets)
    return first, second, third, fourth


def is_free(port: int) -> bool:
    """Return true if the port is free now."""
    with socket.socket() as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
