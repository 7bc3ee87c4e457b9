"""One DAG for each merge-on-read table of the registry that merges its logs into base files."""

from airflow.sdk import DAG

from hoodie_airflow.factory import service_dags

dag: DAG
for dag in service_dags("compact"):
    globals()[dag.dag_id] = dag
