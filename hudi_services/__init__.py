"""The services that run as processes, behind the command line and the Spark applications."""

from hoodie import __version__

__all__ = ["__version__"]
