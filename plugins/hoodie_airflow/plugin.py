"""The plugin that Airflow loads of this project by itself."""

from typing import Any, ClassVar

from airflow.plugins_manager import AirflowPlugin

from hoodie_airflow import failure_notes as notes
from hoodie_airflow.pages.apps import EXTERNAL_VIEWS, FASTAPI_APPS, MIDDLEWARES, REACT_APPS


class HudiPlugin(AirflowPlugin):
    """Failures become notes; the tables have pages."""

    name = "hudi"
    listeners: ClassVar[list[Any]] = [notes]
    fastapi_apps: ClassVar[list[Any]] = FASTAPI_APPS
    fastapi_root_middlewares: ClassVar[list[Any]] = MIDDLEWARES
    external_views: ClassVar[list[Any]] = EXTERNAL_VIEWS
    react_apps: ClassVar[list[Any]] = REACT_APPS
