"""What runs as a process: the services behind the command line and the Spark applications."""

from hoodie import __version__

__all__ = ["__version__"]
