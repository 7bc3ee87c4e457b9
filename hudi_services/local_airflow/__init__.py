"""An Airflow of one's own on this machine, on any registry: started, watched and stopped by `hudi-services airflow`."""
