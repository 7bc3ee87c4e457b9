"""One DAG for each table of the registry with a section `sync`: it keeps the Hive metastore in step."""

from airflow.sdk import DAG

from hoodie_airflow.factory import sync_dags

dag: DAG
for dag in sync_dags():
    globals()[dag.dag_id] = dag
