"""What Airflow loads of this project by itself."""

from typing import Any, ClassVar

from airflow.plugins_manager import AirflowPlugin

from hoodie_airflow import notes


class HudiPlugin(AirflowPlugin):
    """Failures become notes."""

    name = "hudi"
    listeners: ClassVar[list[Any]] = [notes]
