"""Hudi's own lock providers in a process of their own."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.interop import peer_env
from tests.interop.hive_services import START_FAST


def compiled(folder: Path) -> str:
    """The class path of Hudi's bundle, with the class that asks its lock providers, and a metastore that has locks."""
    peer_env.ensure()
    (jars,) = (peer_env.PEER / "venv").glob("lib/python*/site-packages/pyspark/jars")
    libraries = f"{peer_env.BUNDLES['1.2.0']}:{jars}/*"
    sources = [str(Path(__file__).with_name(name)) for name in ("LockPeer.java", "LockingMetastore.java")]
    subprocess.run(
        ["javac", "-J-XX:TieredStopAtLevel=1", "-nowarn", "-cp", libraries, "-d", str(folder), *sources], check=True
    )
    return f"{folder}:{libraries}"


@contextmanager
def hudis_lock(classes: str, which: str, options: Mapping[str, object]) -> Iterator[Callable[[str], str]]:
    """Ask Hudi's provider: `ask("lock 500")`, `ask("unlock")`, `ask("kill")`; `ask("log")` is what it has logged."""
    log: list[str] = []
    pairs = [f"{key}={value}" for key, value in options.items()]
    main = "org.apache.hudi.client.transaction.lock.LockPeer"
    command = ["java", "-Xmx128m", *START_FAST, "-cp", classes, main, which, *pairs]
    with subprocess.Popen(
        command, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        asked, answers = process.stdin, process.stdout
        assert asked is not None
        assert answers is not None

        def answer() -> str:
            while (line := answers.readline()) and not line.startswith("> "):
                log.append(line)
            return line.removeprefix("> ").strip()

        def ask(what: str) -> str:
            if what == "log":
                return "".join(log)
            asked.write(f"{what}\n")
            asked.flush()
            return answer()

        assert answer() == "ready", "".join(log)
        try:
            yield ask
        finally:
            process.kill()
