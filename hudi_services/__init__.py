"""What runs as a process: the services behind the command line and the Spark applications."""

__version__ = "0.1.0"
