"""Peak memory and processor time of a process and all its children, from /proc."""

from __future__ import annotations

import os
import threading
from pathlib import Path


class PeakMemory:
    """Samples the anonymous memory of the process tree in a thread of its own; `bytes` is the greatest sum seen.

    Memory that forked Python workers share counts in each of them. An exact figure (`smaps_rollup`) takes a tenth of a processor,
    and the measured processes wait for it whenever they need memory.
    """

    def __init__(self, seconds: float = 0.25) -> None:
        self.bytes = 0
        self._seconds = seconds
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> PeakMemory:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stop.wait(self._seconds):
            self.bytes = max(self.bytes, sum(_anonymous(pid) for pid in _tree(os.getpid())))


def processor_seconds(prefix: str = "") -> float:
    """User and system time that this process and its children have taken so far, ended ones included.

    Programs count whose name begins with `prefix` (`java`); empty: all.
    """
    ticks = 0
    for pid in _tree(os.getpid()):
        try:
            name, _, fields = Path(f"/proc/{pid}/stat").read_text().partition("(")[2].rpartition(")")
        except OSError:  # it has ended
            continue
        ticks += sum(int(field) for field in fields.split()[11:15]) if name.startswith(prefix) else 0
    return ticks / os.sysconf("SC_CLK_TCK")


def _tree(root: int) -> list[int]:
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
            children.setdefault(parent, []).append(int(entry.name))
    processes, level = [root], [root]
    while level:
        level = [child for pid in level for child in children.get(pid, [])]
        processes.extend(level)
    return processes


def _anonymous(pid: int) -> int:
    try:
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("RssAnon:"):
                return int(line.split()[1]) * 1024
    except OSError:  # it has ended
        pass
    return 0
