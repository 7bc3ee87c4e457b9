"""Airflow runs the table services: the registry becomes DAGs of spark-submit tasks."""
