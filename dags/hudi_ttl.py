"""One DAG for each table of the registry with a section `ttl`: it drops partitions that have outlived their time."""

from airflow.sdk import DAG

from hoodie_airflow.factory import service_dags

dag: DAG
for dag in service_dags("ttl"):
    globals()[dag.dag_id] = dag
