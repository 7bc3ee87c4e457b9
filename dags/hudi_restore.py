"""One DAG for each table of the registry with a section `restore`: savepoints, and restores with approval, by hand."""

from airflow.sdk import DAG

from hoodie_airflow.factory import service_dags

dag: DAG
for dag in service_dags("restore"):
    globals()[dag.dag_id] = dag
