"""One DAG for each database server of the registry with a schedule: it brings the tables that are loaded from it up to date."""

from airflow.sdk import DAG

from hoodie_airflow.databases import database_dags

dag: DAG
for dag in database_dags():
    globals()[dag.dag_id] = dag
