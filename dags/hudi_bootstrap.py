"""One DAG for each table of the registry that is made of a plain Parquet or ORC table."""

from airflow.sdk import DAG

from hoodie_airflow.factory import bootstrap_dags

dag: DAG
for dag in bootstrap_dags():
    globals()[dag.dag_id] = dag
