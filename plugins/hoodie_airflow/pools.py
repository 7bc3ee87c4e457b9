"""Makes the pools that the registry declares: `python -m hoodie_airflow.pools`, once after `airflow db migrate`."""

from __future__ import annotations

import sys

from airflow.models.pool import Pool
from sqlalchemy.exc import DBAPIError

from hoodie.display import counted
from hoodie.errors import RegistryError
from hoodie_airflow.paths import registry_file
from hudi_services.registry.load import Registry, read_registry


def make_pools(registry: Registry) -> list[str]:
    """Create or resize them. Returns a line for each."""
    lines = []
    for name, slots in sorted(registry.pools.items()):
        Pool.create_or_update_pool(name, slots, "from the registry of Hudi tables", include_deferred=False)
        lines.append(f"pool {name}: {counted(slots, 'slot')}")
    return lines


def main() -> int:
    """Mistakes of single tables do not matter here; a registry that cannot be read does."""
    try:
        reading = read_registry(registry_file())
        if fatal := [mistake for mistake in reading.mistakes if mistake.table is None]:
            raise RegistryError(str(fatal[0]))
    except RegistryError as error:
        print(error, file=sys.stderr)
        return 1
    try:
        lines = make_pools(reading.registry)
    except DBAPIError as error:
        print(
            f"Airflow's database cannot be used: {error.orig}. To do: run `airflow db migrate` first", file=sys.stderr
        )
        return 1
    for line in lines:
        print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
