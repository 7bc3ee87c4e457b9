"""The description of an installed package's connections for Airflow."""

from __future__ import annotations


def provider_info() -> dict[str, object]:
    """The provider's description as Airflow's `provider_info.schema.json` has it; the entry point
    `apache_airflow_provider` names it."""
    return {
        "package-name": "hudi-table-services",
        "name": "Hudi table services",
        "description": "Tables of Apache Hudi, by SQL",
        "connection-types": [
            {
                "connection-type": "hoodie",
                "hook-class-name": "hoodie_airflow.hook.HoodieHook",
                "hook-name": "Hudi tables",
                "ui-field-behaviour": {
                    "hidden-fields": ["login", "password", "port"],
                    "relabeling": {"host": "Warehouse (folder or URL)", "schema": "Database"},
                    "placeholders": {"host": "s3://lake", "schema": "default", "extra": "{}"},
                },
            }
        ],
    }
