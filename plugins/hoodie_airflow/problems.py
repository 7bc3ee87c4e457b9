"""Mistakes of the registry, shown where people look: as a DAG of their own beside those of the good tables."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from airflow.sdk import DAG, task
from airflow.sdk.exceptions import AirflowFailException

from hudi_services.registry.mistakes import Mistake

ERRORS_DAG = "hudi_registry_errors"


def errors_dag(mistakes: Sequence[Mistake]) -> DAG:
    """A DAG whose description counts the mistakes, whose documentation lists them, and whose task fails with them."""
    lines = [str(mistake) for mistake in mistakes]
    with DAG(
        dag_id=ERRORS_DAG,
        schedule=None,
        start_date=datetime(2000, 1, 1, tzinfo=UTC),
        catchup=False,
        tags=["hudi", "mistakes"],
        description=f"{len(lines)} mistakes in the registry of tables: those tables have no DAGs",
        doc_md="\n".join(
            ["**These lines of the registry are wrong; the tables they belong to are left out.**", ""]
            + [f"- `{line}`" for line in lines]
        ),
    ) as dag:

        @task(task_id="show", retries=0)
        def show(found: list[str]) -> None:
            raise AirflowFailException("\n".join(found))

        show(lines)
    return dag
