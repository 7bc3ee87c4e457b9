"""One DAG for each table of the registry with a section `cluster`: it packs small files together and sorts their rows."""

from airflow.sdk import DAG

from hoodie_airflow.factory import service_dags

dag: DAG
for dag in service_dags("cluster"):
    globals()[dag.dag_id] = dag
