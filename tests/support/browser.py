"""Chromium, and pages of it that are signed in to an Airflow of the project."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

from playwright.sync_api import Browser, Page, sync_playwright

from hudi_services.embedded.home import AirflowHome


@contextmanager
def chromium() -> Iterator[Browser]:
    """Debian's. Raises RuntimeError where it is missing."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        raise RuntimeError("Chromium is missing: install the package chromium")
    with sync_playwright() as browsers:
        browser = browsers.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()


@contextmanager
def signed_in(
    browser: Browser, home: AirflowHome, user: str | None, scheme: Literal["dark", "light"] = "light"
) -> Iterator[Page]:
    """A page for a test, 1,400 by 900 pixels; errors that it throws fail the test. As nobody with None."""
    page = browser.new_page(viewport={"width": 1400, "height": 900}, color_scheme=scheme)
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    if user is not None:
        sign_in(page, home, user)
    yield page
    page.close()
    assert errors == []


def sign_in(page: Page, home: AirflowHome, user: str) -> None:
    """Through Airflow's form, as people do."""
    page.goto(home.address)
    page.fill("input[name=username]", user)
    page.fill("input[name=password]", home.passwords()[user])
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(lambda url: "/login" not in url)  # else the next page and the redirect abort each other
