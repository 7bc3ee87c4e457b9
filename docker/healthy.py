"""`python healthy.py PART`: exit code 0 when the part of the deployment is well, 1 when it is not. Docker asks it often."""

import json
import sys
import urllib.request

_AIRFLOW = "http://airflow-apiserver:8080/api/v2/monitor/health"
# part: the page that tells, and the value that its JSON must have there; without keys the HTTP status is the answer
PARTS = {
    "apiserver": ("http://127.0.0.1:8080/api/v2/monitor/health", ("metadatabase", "status"), "healthy"),
    "scheduler": ("http://127.0.0.1:8974/health", (), None),
    # These have no page of their own: the API server reads their heartbeats from the database.
    "dag-processor": (_AIRFLOW, ("dag_processor", "status"), "healthy"),
    "triggerer": (_AIRFLOW, ("triggerer", "status"), "healthy"),
    "watcher": ("http://127.0.0.1:9464/metrics", (), None),
    "spark-master": ("http://127.0.0.1:8080/json/", ("status",), "ALIVE"),
    "spark-worker": ("http://127.0.0.1:8081/json/", ("masterurl",), "spark://spark-master:7077"),
}


def trouble(part):
    """What is wrong, None when nothing is."""
    address, keys, wanted = PARTS[part]
    try:
        # Never through a proxy: these are neighbours.
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(address, timeout=8) as answer:
            found = json.load(answer) if keys else None
        for key in keys:
            found = found[key]
    except (OSError, ValueError, KeyError, TypeError) as error:
        return f"{address}: {type(error).__name__}: {error}"
    return None if found == wanted else f"{address}: {'.'.join(keys)} is {found!r}, not {wanted!r}"


if __name__ == "__main__":
    sys.exit(trouble(sys.argv[1]))
