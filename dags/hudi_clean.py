"""One DAG for each table of the registry that removes their old file versions."""

from airflow.sdk import DAG

from hoodie_airflow.factory import clean_dags

dag: DAG
for dag in clean_dags():
    globals()[dag.dag_id] = dag
