"""One DAG for each table of the registry that removes their old file versions."""

from airflow.sdk import DAG

from hoodie_airflow.factory import service_dags

dag: DAG
for dag in service_dags("clean"):
    globals()[dag.dag_id] = dag
