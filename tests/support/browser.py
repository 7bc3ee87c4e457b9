"""Chromium, and pages of it that are signed in to an Airflow of the project."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

from playwright.sync_api import Browser, BrowserContext, Page, Route, expect, sync_playwright

from hudi_services.local_airflow.home import AirflowHome

_OFF = (
    # Those of Playwright, whose option this one takes the place of.
    "AvoidUnnecessaryBeforeUnloadCheckSync,DestroyProfileOnBrowserClose,HttpsUpgrades,HttpsFirstBalancedModeAutoEnable,LensOverlay,"
    "MediaRouter,PaintHolding,ThirdPartyStoragePartitioning,AvoidCorsURLLoaderRestartOnRedirect,TcpPortRandomizationWin,"
    "OptimizationHints,NetworkTimeServiceQuerying,AimEnabled,PreconnectToSearch,"
    # A process for the proposals of the address bar, of each window: more than half of the time of an empty page.
    "WebUIOmniboxPopup,WebUIOmniboxAimPopup"
)
"""Features of Chromium that no test needs."""

expect.set_options(timeout=120_000)  # ms until a page has what a test expects of it

_contexts: dict[tuple[str, str], BrowserContext] = {}
"""The contexts of signed-in users, by address and user."""


@contextmanager
def chromium() -> Iterator[Browser]:
    """Debian's. Raises RuntimeError where it is missing."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        raise RuntimeError("Chromium is missing: install the package chromium")
    with sync_playwright() as browsers:
        arguments = ["--no-sandbox", "--disable-gpu", f"--disable-features={_OFF}"]
        browser = browsers.chromium.launch(executable_path=program, args=arguments)
        yield browser
        browser.close()


@contextmanager
def signed_in(
    browser: Browser, home: AirflowHome, user: str | None, scheme: Literal["dark", "light"] = "light"
) -> Iterator[Page]:
    """An empty page for a test, 1,400 by 900 pixels; errors that it throws fail the test. Signed out if the user is None."""
    context = browser.new_context() if user is None else _context(browser, home, user)
    page = context.new_page()
    page.set_default_timeout(120_000)
    page.set_viewport_size({"width": 1400, "height": 900})
    page.emulate_media(color_scheme=scheme)
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    yield page
    page.close()
    assert errors == []


def _context(browser: Browser, home: AirflowHome, user: str) -> BrowserContext:
    """A user signs in once: the context keeps the session, and Airflow's scripts of 6 MB."""
    key = (home.address, user)
    if _contexts.get(key) not in browser.contexts:
        context = browser.new_context()
        sign_in(context.new_page(), home, user)
        context.pages[0].close()
        _contexts[key] = context
    return _contexts[key]


def sign_in(page: Page, home: AirflowHome, user: str) -> None:
    """Through Airflow's form, as people do."""
    page.goto(home.address)
    page.fill("input[name=username]", user)
    page.fill("input[name=password]", home.passwords()[user])
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(lambda url: "/login" not in url)  # else the next page and the redirect abort each other


def started_runs(page: Page, *dags: str) -> list[dict[str, Any]]:
    """Let runs of these DAGs begin on this page without a scheduler. The list gets the conf of each."""
    confs: list[dict[str, Any]] = []

    def start(route: Route) -> None:
        if route.request.post_data:
            confs.append(json.loads(route.request.post_data)["conf"])
        route.fulfill(content_type="application/json", body='{"is_paused": false, "dag_run_id": "manual__2"}')

    for dag in dags:
        page.route(f"**/api/v2/dags/{dag}**", start)
        page.route(f"**/api/v2/dags/{dag}/dagRuns", start)
    return confs
