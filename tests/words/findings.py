"""Findings: the lines of the project that break a rule."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.words import commits
from tests.words.baseline import Counts
from tests.words.bound_names import empty_names
from tests.words.literals import html_passages, javascript_passages, python_passages
from tests.words.markdown import passages as markdown_passages
from tests.words.module_names import foreign_words
from tests.words.prose import Passage, Place
from tests.words.rules import Hit, address, hits, semicolons

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("benchmarks", "dags", "docs", "hudi_services", "plugins", "spark_apps", "tests")
PAGES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "CODE_OF_CONDUCT.md", "SECURITY.md")
# By `make cli-docs`, from help texts, which are checked.
GENERATED = {"docs/reference/cli.md", "docs/reference/procedures.md"}
# Pages that say "you": what to do, step by step.
HOW_TO = ("README.md", "CONTRIBUTING.md", "docs/get-started/", "docs/how-to/")
DATA = {"tests/unit/test_plain_english.py"}  # its sentences are examples of what is found

READERS: dict[str, Callable[[str], Iterator[Passage]]] = {
    ".py": python_passages,
    ".js": javascript_passages,
    ".html": html_passages,
    ".md": markdown_passages,
}


@dataclass(frozen=True)
class Finding:
    """A line that breaks a rule."""

    path: str
    line: int
    rule: str
    place: Place
    text: str
    advice: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.rule}: {self.advice}\n    {self.text}"


def files(root: Path = ROOT) -> list[str]:
    """Paths of everything that is checked."""
    found = [path for folder in FOLDERS for path in (root / folder).rglob("*") if path.suffix in READERS]
    names = [*PAGES, *(path.relative_to(root).as_posix() for path in found)]
    return sorted(name for name in names if is_checked(name) and (root / name).is_file())


def is_checked(name: str) -> bool:
    """Says whether a path is one of those that are checked."""
    in_folder = name.startswith(tuple(f"{folder}/" for folder in FOLDERS)) and Path(name).suffix in READERS
    return (in_folder or name in PAGES) and name not in GENERATED | DATA


def findings(name: str, root: Path = ROOT) -> list[Finding]:
    """The findings of a file."""
    source = (root / name).read_text()
    passages = list(READERS[Path(name).suffix](source))
    if name.startswith("tests/"):  # the literals of tests are data
        passages = [passage for passage in passages if passage.place is not Place.MESSAGE]
    lines = source.splitlines()
    return [
        *_name_findings(name),
        *_bound_name_findings(name, source, lines),
        *(_finding(name, lines, source, hit) for hit in _hits(name, passages)),
    ]


def _name_findings(name: str) -> Iterator[Finding]:
    for word in foreign_words(name):
        advice = f'"{word}" is in no list: use a noun of tests/words/nouns.txt, or add one there with its meaning'
        yield Finding(name, 1, "module_name", Place.NAME, Path(name).stem, advice)


def _bound_name_findings(path: str, source: str, lines: Sequence[str]) -> Iterator[Finding]:
    for line, name in empty_names(path, source):
        advice = f'"{name}" is any value: name what it holds, such as base_files, result, requested'
        yield Finding(path, line, "bound_name", Place.NAME, lines[line - 1].strip(), advice)


def commit_findings(root: Path = ROOT) -> list[Finding] | None:
    """Commits whose subjects break a rule; None where there is no history to look at."""
    subjects = commits.subjects(root)
    if subjects is None:
        return None
    return [
        Finding(f"commit {name}", 1, "subject", Place.COMMIT, subject, fault)
        for name, subject in subjects.items()
        for fault in commits.faults(subject)
    ]


def counts(found: Sequence[Finding]) -> Counts:
    """The number of findings by path and rule; commits are counted together."""
    return Counter((_key(finding), finding.rule) for finding in found)


def _key(finding: Finding) -> str:
    return "commits" if finding.place is Place.COMMIT else finding.path


def _hits(name: str, passages: Sequence[Passage]) -> Iterator[Hit]:
    yield from hits(passages)
    if name.endswith(".md"):
        yield from semicolons(passages)
    if name.startswith(HOW_TO) and name.endswith(".md"):
        yield from address(passages)


def _finding(name: str, lines: list[str], source: str, hit: Hit) -> Finding:
    line = source.count("\n", 0, hit.offset) + 1
    return Finding(name, line, hit.rule, hit.place, lines[line - 1].strip(), hit.advice)
