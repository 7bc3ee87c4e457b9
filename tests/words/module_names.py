"""Names of modules: built of the words in nouns.txt."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

FOLDERS = ("benchmarks", "dags", "hudi_services", "plugins", "spark_apps")
NOUNS = Path(__file__).with_name("nouns.txt")
_OWN = {"hoodie"}  # this project


@cache
def nouns() -> dict[str, str]:
    """Word -> its meaning. Raises ValueError for a line without a meaning."""
    found = dict[str, str]()
    for line in NOUNS.read_text().splitlines():
        if line and not line.startswith("#"):
            word, _, meaning = (part.strip() for part in line.partition(":"))
            if not word or not meaning:
                raise ValueError(f"{NOUNS.name}: {line!r} has no meaning: write `word: meaning`")
            found[word] = meaning
    return found


def foreign_words(name: str) -> Iterator[str]:
    """The words of a module's path that are in no list. A package is judged by its folder's name."""
    path = Path(name)
    if name.startswith(tuple(f"{folder}/" for folder in FOLDERS)) and path.suffix == ".py":
        module = path.parent.name if path.stem in ("__init__", "__main__") else path.stem
        for word in module.split("_"):
            if word and word not in nouns() and word not in _OWN and module not in FOLDERS:
                yield word
