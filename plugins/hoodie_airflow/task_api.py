"""`python -m hoodie_airflow.task_api triggerer`: a command of Airflow whose API of tasks has its newest version only.

Airflow has nine versions of it, for workers of older releases, and builds the routes of all at the first request. That takes
four seconds of a core and more, in the server of the API and again in the triggerer, which asks an API of its own. All
processes of an embedded Airflow are of one release and ask for the newest version.
"""

from __future__ import annotations

from importlib import metadata

from airflow.__main__ import main

_TRIED = "3.3."  # another release may build its routes in another way: it has all versions


def keep_newest_version() -> None:
    """Before the API is made."""
    if not metadata.version("apache-airflow").startswith(_TRIED):
        return
    try:
        from airflow.api_fastapi.execution_api import routes, versions
        from cadwyn import HeadVersion, Version, VersionBundle
        from cadwyn.route_generation import _DELETED_ROUTE_TAG as OLD
    except ImportError:  # a patch release that moved them has all versions, too
        return

    router = routes.execution_api_router
    router.routes = [route for route in router.routes if OLD not in getattr(route, "tags", ())]
    versions.bundle = VersionBundle(HeadVersion(), Version(versions.bundle.versions[0].value))


if __name__ == "__main__":
    keep_newest_version()
    main()
