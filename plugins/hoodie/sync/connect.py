"""Kind of catalog that the options name."""

from __future__ import annotations

from hoodie.config.key import Options
from hoodie.config.keys import sync as keys
from hoodie.errors import ConfigError, missing_extra
from hoodie.sync.catalog import Catalog


def open_catalog(options: Options) -> Catalog:
    """Connect as `hoodie.datasource.hive_sync.mode` says. Raises ConfigError for an address that cannot be, and CatalogError."""
    # The clients are imported when they are wanted: Thrift's generated code takes a while to load.
    if not options.is_set(keys.MODE) and not options[keys.USE_JDBC]:
        raise ConfigError(
            f"Option {keys.USE_JDBC.name}=false is refused",
            found="it asks for Hive's own driver, a Java library",
            fix=f"say {keys.MODE.name}=hms, the metastore itself, or jdbc",
        )
    mode = options[keys.MODE]
    try:
        match mode:
            case "GLUE":
                from hoodie.sync.glue import GlueCatalog
            case "HMS":
                from hoodie.sync.metastore import Metastore
            case _:
                from hoodie.sync.hiveserver import HiveServer
    except ImportError as error:
        raise missing_extra("glue" if mode == "GLUE" else "hive", f"A sync with mode {mode}", error) from error
    if mode == "GLUE":
        return GlueCatalog.connect(options)
    if mode == "HMS":
        return Metastore.connect(options[keys.METASTORE_URIS], options[keys.USERNAME], options[keys.BATCH])
    return HiveServer.connect(
        options[keys.JDBC_URL], options[keys.USERNAME], options[keys.PASSWORD], options[keys.BATCH]
    )
