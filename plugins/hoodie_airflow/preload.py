"""`python -m hoodie_airflow.preload scheduler`: a command of Airflow, with the modules of DAG files in memory.

Airflow forks a process for each look at a DAG file and for each task. Such a process need not import what its parent has
imported. Without that, an idle Airflow with the DAGs of one table keeps two thirds of a core busy with imports.
"""

from __future__ import annotations

import sys

from airflow.__main__ import main

import hoodie_airflow.factory  # noqa: F401 - all DAG files of tables import it

if __name__ == "__main__":
    if "scheduler" in sys.argv:  # its tasks may report, the processes that read DAG files hardly ever do
        import hudi_services.operations.alerts.tasks  # noqa: F401
    main()
