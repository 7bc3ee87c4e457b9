"""Pictures for the README, of the Airflow that `make demo` left in .demo. Needs Chromium: python docs/make_screenshots.py"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from hudi_services.demo.home import DemoHome
from hudi_services.embedded.process import running
from hudi_services.folders import PROJECT

IMAGES = Path(__file__).parent / "images"
INGEST = "hudi_ingest__flights"


def main() -> None:
    home = DemoHome(PROJECT / ".demo")
    if not home.lake.exists():
        sys.exit("run `make demo` first")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        sys.exit("Chromium is missing: install the package chromium")
    IMAGES.mkdir(exist_ok=True)
    with running(home), sync_playwright() as browsers:
        browser = browsers.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 1280, "height": 720}, color_scheme="light")
        sign_in(page, home, "admin")
        for name, path in (("dags", "/dags"), ("runs", f"/dags/{INGEST}/runs")):
            page.goto(home.address + path, wait_until="networkidle")
            shoot(page, name)
        page.get_by_role("button", name="Trigger").first.click()
        shoot(page, "form")
        browser.close()


def shoot(page: Page, name: str) -> None:
    page.mouse.move(0, 0)  # else it draws a tooltip
    page.wait_for_timeout(2000)  # the grid is drawn after its data has come
    page.screenshot(path=IMAGES / f"{name}.png")


def sign_in(page: Page, home: DemoHome, user: str) -> None:
    """Through the form, as people do."""
    page.goto(home.address)
    page.fill("input[name=username]", user)
    page.fill("input[name=password]", home.passwords()[user])
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(f"{home.address}/**")


if __name__ == "__main__":
    main()
