"""The demo: a year of real flights, landed as a feed would deliver them, loaded and cleaned by a real Airflow."""
