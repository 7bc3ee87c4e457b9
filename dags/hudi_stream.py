"""One DAG for each table of the registry that follows another table or its files as a stream."""

from airflow.sdk import DAG

from hoodie_airflow.factory import service_dags

dag: DAG
for dag in service_dags("stream"):
    globals()[dag.dag_id] = dag
