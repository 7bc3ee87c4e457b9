"""Commands of one module each; those of services, and `show`, `infer` and `airflow`, have packages of their own."""
