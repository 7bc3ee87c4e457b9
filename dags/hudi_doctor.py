"""One DAG that looks what is wrong with the tables of the registry, where that has a section `doctor`."""

from airflow.sdk import DAG

from hoodie_airflow.doctor import doctor_dag

dag: DAG | None = doctor_dag()
