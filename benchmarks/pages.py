"""How long the page of all tables takes in Chromium, from the request until its rows are painted; served by Airflow's API server.

`python -m benchmarks.pages --tables 1000` prints milliseconds of several visits, the server's part, and a search. Needs Chromium.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from statistics import median

from playwright.sync_api import Page

from tests.support.browser import chromium, sign_in
from tests.support.page_server import fill_store, page_server

PAINTED = """() => new Promise(done => {
    const look = () => {
        const mark = performance.getEntriesByName("painted")[0];
        return mark ? done(mark.startTime) : setTimeout(look, 20);
    };
    look();
})"""
"""Evaluates to the milliseconds from the request of a page until its data is painted."""
_FIRST = "performance.getEntriesByName('first-contentful-paint')[0].startTime"
_FLEET_REQUEST = "performance.getEntriesByType('resource').find(each => each.name.endsWith('api/fleet')).duration"


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=1000)
    parser.add_argument("--visits", type=int, default=5)
    args = parser.parse_args(arguments)
    names = [f"t{number:05}" for number in range(args.tables)]
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        registry = Path(folder, "tables.yaml")
        lines = [f"  - {{name: {name}, base_path: /lake/{name}, clean: {{schedule: 0 4 * * *}}}}\n" for name in names]
        registry.write_text("tables:\n" + "".join(lines))
        fill_store(registry, names)
        with page_server(Path(folder), registry, names) as home:
            page = browser.new_page(viewport={"width": 1400, "height": 900})
            sign_in(page, home, "viewer")
            visits = [_visit(page, f"{home.address}/hudi/") for _ in range(args.visits)]
            searched = _search(page)
    first, painted, served = zip(*visits, strict=True)
    print(f"{args.tables} tables, {args.visits} visits")
    print(f"first paint: first visit {first[0]:.0f} ms, median {median(first):.0f} ms")
    print(f"rows painted: first visit {painted[0]:.0f} ms, median {median(painted):.0f} ms")
    print(f"of these the API's answer: first {served[0]:.0f} ms, median {median(served):.0f} ms")
    print(f"a search: {searched:.0f} ms")


def _visit(page: Page, address: str) -> tuple[float, float, float]:
    """Milliseconds until anything is painted, until rows are, and those of the answer with the data."""
    page.goto("about:blank")
    page.goto(address)
    painted = float(page.evaluate(PAINTED))
    assert page.locator("tbody tr").count(), "no tables are shown"
    return float(page.evaluate(_FIRST)), painted, float(page.evaluate(_FLEET_REQUEST))


def _search(page: Page) -> float:
    """Milliseconds from a change of the text until the next frame."""
    script = """() => new Promise(done => {
        const search = document.querySelector("input[type=search]"), begun = performance.now();
        search.value = "t0012";
        search.dispatchEvent(new Event("input"));
        requestAnimationFrame(() => setTimeout(() => done(performance.now() - begun)));
    })"""
    return float(page.evaluate(script))


if __name__ == "__main__":
    main()
