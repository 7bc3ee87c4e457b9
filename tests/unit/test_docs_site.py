"""The docs site: it builds with all its pages, and a broken link or anchor fails the build."""

from __future__ import annotations

import io
import re
import subprocess
import sys
import tarfile
from dataclasses import replace
from pathlib import Path

import pytest
from mkdocs.commands.build import build
from mkdocs.config import load_config
from mkdocs.exceptions import Abort, PluginError

from tests.support.scripts import script

ROOT = Path(__file__).resolve().parents[2]
HOOKS = script("docs/site_hooks.py")
SCRIPTS = script("docs/site_scripts.py")
FAULTS = {
    "a page that is gone": "[a](gone.md)",
    "an anchor that is gone": "[a](index.md#gone)",
    "a file outside the pages": "[a](../Makefile)",
    "an absolute link": "[a](/index.md)",
}


@pytest.mark.deep("half a minute: small sites have each kind of fault, and other tests follow the links of the pages")
@pytest.mark.process
def test_the_site_builds_with_all_its_pages(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--site-dir", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    reference = tmp_path / HOOKS.REFERENCE
    assert "read_incremental" in (reference / "hoodie" / "table.html").read_text()
    for name in HOOKS.make_api.PAGES:
        assert (reference / Path(*name.split("."))).with_suffix(".html").exists()
    assert "python/hoodie/table.html" in (tmp_path / "reference" / "api.html").read_text()
    assert "HoodieTable" in (tmp_path / "get-started" / "tour.html").read_text()
    assert "architecture" in (tmp_path / "contributing" / "index.html").read_text()
    assert "clean.after_ingests" in (tmp_path / "search" / "search_index.json").read_text()
    assert_it_loads_nothing_from_elsewhere(tmp_path)


def assert_it_loads_nothing_from_elsewhere(site: Path) -> None:
    """The scripts of the pages are files of the site, mermaid on pages with a diagram."""
    pages = {page: page.read_text() for page in site.rglob("*.html") if page != site / "404.html"}
    scripts = {page: re.findall(r'<script src="([^"]+)"', text) for page, text in pages.items()}
    assert [
        source for page, sources in scripts.items() for source in sources if not (page.parent / source).is_file()
    ] == []
    with_mermaid = {
        page for page, sources in scripts.items() if any(source.endswith("mermaid.js") for source in sources)
    }
    assert with_mermaid == {page for page, text in pages.items() if 'class="mermaid"' in text}
    assert site / "concepts" / "overview.html" in with_mermaid


def make_site(folder: Path, text: str) -> None:
    """Build a site of one page with the settings of the project."""
    pages = folder / "docs"
    pages.mkdir()
    (pages / "index.md").write_text(f"# Home\n\n## A part\n\n[part](index.md#a-part)\n\n{text}\n")
    config = load_config(
        str(ROOT / "mkdocs.yml"),
        docs_dir=str(pages),
        site_dir=str(folder / "site"),
        hooks=[],
        nav=[{"Home": "index.md"}],
    )
    build(config)


@pytest.mark.process
def test_a_site_without_faults_builds(tmp_path: Path) -> None:
    make_site(tmp_path, "```mermaid\nflowchart LR\n```")
    assert '<pre class="mermaid">' in (tmp_path / "site" / "index.html").read_text()


@pytest.mark.process
@pytest.mark.parametrize("text", FAULTS.values(), ids=FAULTS)
def test_a_fault_fails_the_build(tmp_path: Path, text: str) -> None:
    with pytest.raises(Abort, match="1 warnings"):
        make_site(tmp_path, text)


def test_a_page_with_a_diagram_loads_mermaid_of_the_site() -> None:
    page = '<head></head><pre class="mermaid">'
    assert HOOKS.with_mermaid(page, "how-to/x.md").startswith(
        '<head><script src="../javascripts/mermaid.js"></script></head>'
    )
    assert HOOKS.with_mermaid("<head></head>", "how-to/x.md") == "<head></head>"


def test_a_script_comes_out_of_its_package_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stand-in for npm packs a file, and fails the second time."""
    packed = tmp_path / "p.tgz"
    with tarfile.open(packed, "w:gz") as package:
        info = tarfile.TarInfo("package/a.js")
        info.size = 3
        package.addfile(info, io.BytesIO(b"f()"))
    monkeypatch.setattr(SCRIPTS, "CACHE", tmp_path / "cache")
    with pytest.raises(PluginError, match="hash sha512-") as refused:
        SCRIPTS.checked_file(SCRIPTS.MERMAID, packed)
    integrity = re.findall(r"sha512-\S+", str(refused.value))[0]
    wanted = replace(SCRIPTS.MERMAID, integrity=integrity, file="package/a.js")
    npm(tmp_path, monkeypatch, f"cp {packed} . && rm {packed}")
    assert SCRIPTS.script_file(wanted).read_bytes() == b"f()"
    assert SCRIPTS.script_file(wanted).read_bytes() == b"f()"


def test_a_build_without_network_says_what_it_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SCRIPTS, "CACHE", tmp_path / "cache")
    npm(tmp_path, monkeypatch, "echo npm error code ENOTFOUND >&2; exit 1")
    with pytest.raises(
        PluginError, match=r"mermaid 11.*\nFound: npm ended with 1: .*ENOTFOUND\nTo do: run `make docs` once"
    ):
        SCRIPTS.script_file(SCRIPTS.MERMAID)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(PluginError, match="Found: no npm on the PATH\nTo do: install npm"):
        SCRIPTS.script_file(SCRIPTS.MERMAID)
    assert list((tmp_path / "cache").iterdir()) == []


def npm(folder: Path, monkeypatch: pytest.MonkeyPatch, commands: str) -> None:
    """A program `npm` that runs these commands of a shell."""
    program = folder / "npm"
    program.write_text(f"#!/bin/sh\n{commands}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")


def test_links_to_files_of_the_project_lead_to_their_pages() -> None:
    assert HOOKS.site_links("[a](docs/how-to/x.md#y)", "contributing/index.md") == "[a](../how-to/x.md#y)"
    assert HOOKS.site_links("[a](../../CONTRIBUTING.md)", "how-to/x.md") == "[a](../contributing/index.md)"
    assert HOOKS.site_links("[a](tour.ipynb)", "get-started/demo.md") == "[a](tour.md)"
    assert HOOKS.site_links("[a](../Makefile) [b](gone.md)", "contributing/tests.md") == "a [b](../tests/gone.md)"
    same = "[a](demo.md) [b](https://hudi.apache.org) [c](#part) [d](../Makefile)"
    assert HOOKS.site_links(same, "get-started/demo.md") == same


def test_a_notebook_becomes_a_page() -> None:
    outputs = [{"text": ["1\n", "2\n"]}, {"data": {"text/plain": ["x"], "text/html": ["<b>x</b>"]}}]
    cells = [
        {"cell_type": "markdown", "source": ["# T\n", "text"]},
        {"cell_type": "code", "source": ["f()"], "outputs": outputs},
    ]
    page = ["# T\ntext", "```python\nf()\n```", "```text\n1\n2\n```", "<div><b>x</b></div>"]
    assert list(HOOKS.notebook_cells({"cells": cells})) == page
