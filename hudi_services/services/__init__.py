"""The services of the platform, a package each: the entry that declares a service, and the task that runs it."""
