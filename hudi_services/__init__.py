"""What runs as a process: the services behind the command line and the Spark applications."""
