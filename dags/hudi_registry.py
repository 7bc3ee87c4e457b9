"""No DAG: Airflow shows the mistakes of the registry among its import errors. The tables without mistakes have their DAGs."""

from hoodie_airflow.paths import registry_file
from hudi_services.registry.load import load_registry

load_registry(registry_file())
