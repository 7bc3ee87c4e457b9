"""The README fits on two screens, pages are short, the index lists each of them, and links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path
from statistics import median

from tests.support.faults import assert_no_faults
from tests.words.markdown import passages as markdown_passages
from tests.words.prose import sentences, words

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
LINES = 100  # of the README
SHORT = ("concepts", "get-started", "how-to")  # folders
WORDS = 900  # of a page
MEDIAN = 16  # words of a sentence


def links(page: Path) -> set[str]:
    """Links inside the project, without those in code."""
    text = re.sub(r"^```.*?^```|`[^`\n]*`", "", page.read_text(), flags=re.M | re.S)
    return {link for link in re.findall(r"\]\(([^)\s]+)\)", text) if ":" not in link}


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, by GitHub's rule."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_the_readme_fits_on_two_screens() -> None:
    text = (ROOT / "README.md").read_text()
    assert len(text.splitlines()) <= LINES
    assert text.count("![") + text.count("```mermaid") == 1


def test_the_index_lists_every_page() -> None:
    pages = {file.relative_to(DOCS).as_posix() for file in DOCS.rglob("*.md")}
    pages = {page for page in pages if not page.startswith("contributing/decisions/0")} - {"index.md", "plan.md"}
    listed = {link.partition("#")[0] for link in links(DOCS / "index.md")}
    assert_no_faults(sorted(pages - listed))
    assert "docs/index.md" in links(ROOT / "README.md")


def test_pages_are_short() -> None:
    pages = [file for folder in SHORT for file in (DOCS / folder).rglob("*.md")]
    assert_no_faults(sorted(file.relative_to(ROOT).as_posix() for file in pages if is_long(file)))


def is_long(page: Path) -> bool:
    passages = list(markdown_passages(page.read_text()))
    lengths = [words(sentence.text) for passage in passages for sentence in sentences(passage)]
    return sum(words(passage.text) for passage in passages) > WORDS or median(lengths or [0]) > MEDIAN


def test_the_index_of_decisions_lists_each() -> None:
    decisions = DOCS / "contributing" / "decisions"
    index = (decisions / "index.md").read_text()
    titles = {file.name: file.read_text().partition("\n")[0].removeprefix("# ") for file in decisions.glob("0*.md")}
    assert_no_faults(f"{name}: {title}" for name, title in titles.items() if f"- [{title}]({name})\n" not in index)


def test_links_lead_somewhere() -> None:
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "tests" / "README.md", *DOCS.rglob("*.md")]
    assert_no_faults(
        f"{page.relative_to(ROOT)}: {link}" for page in pages for link in sorted(links(page)) if not leads(page, link)
    )


def leads(page: Path, link: str) -> bool:
    path, _, anchor = link.partition("#")
    target = page.parent / path if path else page
    return target.exists() and (not anchor or anchor in anchors(target))
