"""What a service of the platform is made of: its command, its section in the entry of a table, its DAG."""
