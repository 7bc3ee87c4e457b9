"""Access by Airflow's own rights. A user who may read one of a table's DAGs sees the table; a user who may pause all of
them may pause the table."""

from __future__ import annotations

from typing import Any

from airflow.api_fastapi.app import get_auth_manager
from airflow.api_fastapi.auth.managers.models.resource_details import AccessView, DagAccessEntity, DagDetails
from airflow.api_fastapi.core_api.security import GetUserDep, requires_access_dag
from airflow.models.dag import DagModel

from hudi_services.entry.table import Table
from hudi_services.operations.pages.fleet import dags_of, server_dags

SIGNED_IN = requires_access_dag("GET")
"""The first check of every route: 401 without a user, 403 for a user who may read no DAGs."""
RESULTS = requires_access_dag("GET", DagAccessEntity.XCOM)
"""Results that the tasks of the DAG in the path have left."""
RUNS = requires_access_dag("GET", DagAccessEntity.RUN)
"""Runs of that DAG, with what was asked for in their forms."""
User = GetUserDep


class Rights:
    """The rights of one user, asked of Airflow's auth manager once for a page."""

    def __init__(self, user: Any) -> None:
        self._user = user
        self.dags: set[str] = get_auth_manager().get_authorized_dag_ids(user=user, method="GET")

    def pauses(self, table: Table) -> bool:
        """Return true if the user may pause every DAG of the table, as its pause does."""
        edited: set[str] = get_auth_manager().get_authorized_dag_ids(user=self._user, method="PUT")
        return edited.issuperset(dags_of(table))

    def starts(self, table: Table) -> set[str]:
        """The DAGs of the table of which the user may start runs."""
        return {dag for dag in self.dags & dags_of(table) if may_start(self._user, dag)}

    def sees(self, table: Table) -> bool:
        return not self.dags.isdisjoint(dags_of(table) | server_dags(table))

    def reads_results(self, table: Table) -> bool:
        """Return true if the user may read what the tasks of one of the table's DAGs have left."""
        return any(_may(self._user, "GET", DagAccessEntity.XCOM, dag) for dag in sorted(self.dags & dags_of(table)))

    @property
    def sees_mistakes(self) -> bool:
        """Airflow shows mistakes of the registry as import errors of DAG files."""
        allowed: bool = get_auth_manager().is_authorized_view(access_view=AccessView.IMPORT_ERRORS, user=self._user)
        return allowed


def may_start(user: Any, dag: str) -> bool:
    """Return true if the user may start runs of the DAG."""
    return _may(user, "POST", DagAccessEntity.RUN, dag)


def _may(user: Any, method: str, entity: DagAccessEntity, dag: str) -> bool:
    details = DagDetails(id=dag, team_name=DagModel.get_team_name(dag))
    allowed: bool = get_auth_manager().is_authorized_dag(
        method=method, access_entity=entity, details=details, user=user
    )
    return allowed
