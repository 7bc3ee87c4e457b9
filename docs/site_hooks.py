"""Pages of the docs site from outside this folder: CONTRIBUTING.md, the tests, the tour, the Python reference. And scripts.

mkdocs calls the functions `on_…` of this file (`hooks` in mkdocs.yml).
"""

from __future__ import annotations

import json
import posixpath
import re
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "plugins"), str(ROOT / "docs")]
import make_api  # noqa: E402 - found by the path above
from site_scripts import IFRAME_WORKER, MERMAID, script_file  # noqa: E402

REFERENCE = "reference/python"  # where the pages of the Python reference are
_INDEX_OF_REFERENCE = "<!-- the site lists the modules here -->"
# A page of the site -> the file of the project that it is made of.
_ELSEWHERE = {
    "contributing/index.md": "CONTRIBUTING.md",
    "contributing/tests.md": "tests/README.md",
    "get-started/tour.md": "docs/get-started/tour.ipynb",
}
_PAGE_OF = {source: page for page, source in _ELSEWHERE.items()}
_LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)\s#]+)(#[^)\s]*)?\)")


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that are made of other files, the Python reference, and scripts."""
    for page, source in _ELSEWHERE.items():
        files.append(File.generated(config, page, content=_content(ROOT / source)))
    for script in (MERMAID, IFRAME_WORKER):
        files.append(File.generated(config, script.site_path, abs_src_path=str(script_file(script))))
    folder = Path(_reference().name)
    for path in sorted(folder.rglob("*.*")):
        name = path.relative_to(folder).as_posix()
        files.append(File.generated(config, f"{REFERENCE}/{name}", abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Lead links between files of the project to their pages of the site."""
    markdown = markdown.replace(_INDEX_OF_REFERENCE, "\n".join(_modules()))
    return site_links(markdown, page.file.src_uri)


def on_post_page(output: str, page: Any, **_: Any) -> str:
    """Load the site's own mermaid on pages with a diagram: the theme would load it from another server."""
    return with_mermaid(output, page.file.src_uri)


def with_mermaid(html: str, page: str) -> str:
    """The page, with the script before the end of its head if it has a diagram."""
    if 'class="mermaid"' not in html:
        return html
    source = posixpath.relpath(MERMAID.site_path, posixpath.dirname(page))
    return html.replace("</head>", f'<script src="{source}"></script></head>', 1)


def site_links(markdown: str, page: str) -> str:
    """The text of a page, with the links of the project as links of the site.

    A page that is made of a file elsewhere also links to files that have no page: these links become text. In the pages of
    this folder they stay, and mkdocs reports them.
    """
    folder = posixpath.dirname(_ELSEWHERE.get(page, f"docs/{page}"))

    def moved(match: re.Match[str]) -> str:
        text, link, anchor = match.groups("")
        target = posixpath.normpath(posixpath.join(folder, link))
        place = _PAGE_OF.get(target) or (target.removeprefix("docs/") if page in _ELSEWHERE else None)
        if ":" in link or place is None:
            return match[0]
        if place == target and (ROOT / target).exists():
            return text
        return f"[{text}]({posixpath.relpath(place, posixpath.dirname(page))}{anchor})"

    return _LINK.sub(moved, markdown)


def _content(source: Path) -> str:
    text = source.read_text()
    return "\n\n".join(notebook_cells(json.loads(text))) + "\n" if source.suffix == ".ipynb" else text


def notebook_cells(notebook: dict[str, Any]) -> Iterator[str]:
    """The cells of a notebook and what they show, as Markdown."""
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            yield source
            continue
        yield f"```python\n{source}\n```"
        for output in cell["outputs"]:
            page = output.get("data", {}).get("text/html")
            text = "".join(output.get("text") or output.get("data", {}).get("text/plain", ()))
            yield f"<div>{''.join(page)}</div>" if page else f"```text\n{text.rstrip()}\n```"


def _modules() -> Iterator[str]:
    for name in make_api.PAGES:
        yield f"- [`{name}`]({posixpath.basename(REFERENCE)}/{name.replace('.', '/')}.html)"


@cache
def _reference() -> tempfile.TemporaryDirectory[str]:
    """A folder with the pages of the Python reference, once a process."""
    folder = tempfile.TemporaryDirectory(prefix="hudi-docs-")
    make_api.build(Path(folder.name))
    return folder
