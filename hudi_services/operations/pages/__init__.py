"""Values of the pages in Airflow's UI: plain values, made of the registry and of snapshots. No table is looked at for a
page."""
