"""One DAG for each table of the registry with a section `sync`: it keeps the Hive metastore in step."""

from airflow.sdk import DAG

from hoodie_airflow.factory import service_dags

dag: DAG
for dag in service_dags("sync"):
    globals()[dag.dag_id] = dag
