"""The README fits on two screens, the index lists each page of docs, and links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

from tests.support.faults import assert_no_faults

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
LINES = 100  # of the README


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
