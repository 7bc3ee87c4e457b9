"""Pages of the tables in Airflow's UI: an application that its API server mounts."""
