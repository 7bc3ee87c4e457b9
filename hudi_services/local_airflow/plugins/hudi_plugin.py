"""The folder of plugins of the embedded Airflow: the library's own may be that of all packages of the environment."""

from hoodie_airflow.plugin import HudiPlugin

__all__ = ["HudiPlugin"]
