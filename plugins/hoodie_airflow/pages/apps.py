"""The plugin's entries for the pages. Every process of Airflow imports this, and only the API server uses it."""

from __future__ import annotations

from functools import cache
from typing import Any

from hoodie_airflow.pages.form_check import FormCheck

PREFIX = "/hudi"


async def pages(scope: Any, receive: Any, send: Any) -> None:
    """The application, as ASGI wants it; imported with the first request."""
    await _app()(scope, receive, send)


@cache
def _app() -> Any:
    # Imported here: FastAPI and Airflow's API take seconds to load.
    from hoodie_airflow.pages.app import pages_app

    return pages_app()


async def card(scope: Any, receive: Any, send: Any) -> None:
    """The card's code alone. A user who may read no DAGs gets it, too: without it Airflow shows an error over the home
    page."""
    await _card()(scope, receive, send)


@cache
def _card() -> Any:
    from hoodie_airflow.pages.app import card_app

    return card_app()


FASTAPI_APPS = [
    {"app": pages, "url_prefix": PREFIX, "name": "Hudi tables"},
    {"app": card, "url_prefix": f"{PREFIX}-card", "name": "Hudi card"},
]
MIDDLEWARES = [{"middleware": FormCheck, "name": "Hudi forms"}]
REACT_APPS = [
    {"name": "Hudi tables", "bundle_url": "hudi-card/home.js", "destination": "dashboard", "url_route": "hudi-card"}
]
# Addresses without a leading slash: Airflow may itself be served below a path.
_OF_DAG = {"name": "Hudi table", "href": "hudi/#/dag/{DAG_ID}"}
_OF_RUN = {"name": "Hudi", "href": "hudi/#/run/{DAG_ID}/{RUN_ID}"}
EXTERNAL_VIEWS = [
    {**_OF_DAG, "destination": "dag", "url_route": "hudi-dag"},
    {**_OF_DAG, "destination": "task", "url_route": "hudi-task"},
    {**_OF_RUN, "destination": "dag_run", "url_route": "hudi-run"},
    {**_OF_RUN, "destination": "task_instance", "url_route": "hudi-task-run"},
    {
        "name": "Hudi",
        "href": "hudi/",
        "destination": "nav",
        "nav_top_level": True,
        "url_route": "hudi",
        "icon": "hudi/static/icon.svg",
        "icon_dark_mode": "hudi/static/icon-dark.svg",
    },
]
