"""One DAG for each table of the registry that is made of a plain Parquet or ORC table."""

from airflow.sdk import DAG

from hoodie_airflow.factory import service_dags

dag: DAG
for dag in service_dags("bootstrap"):
    globals()[dag.dag_id] = dag
