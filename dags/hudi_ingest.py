"""One DAG for each table of the registry that loads their source, and one that shows the registry's mistakes."""

from airflow.sdk import DAG

from hoodie_airflow.factory import service_dags

dag: DAG
for dag in service_dags("ingest", with_mistakes=True):
    globals()[dag.dag_id] = dag
