"""For an Airflow whose folder of plugins this is."""

from hoodie_airflow.plugin import HudiPlugin

__all__ = ["HudiPlugin"]
