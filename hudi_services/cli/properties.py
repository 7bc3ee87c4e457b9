"""Options from a properties file and from flags."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hoodie.config.key import PlacedText
from hoodie.config.properties.java_properties import parse_properties
from hoodie.errors import ConfigError

_INCLUDE = "include"  # a key of Hudi's properties files


def merged_options(props: str | None, conf: Sequence[str]) -> dict[str, str]:
    """Options of the properties file, then those of the flags. Raises ConfigError for a flag that is no KEY=VALUE."""
    options: dict[str, str] = {}
    if props is not None:
        options.update(read_properties(props))
    for entry in conf:
        key, separator, value = entry.partition("=")
        if not separator or not key.strip():
            raise ConfigError(f"--hoodie-conf {entry!r} is no KEY=VALUE", fix="write it as hoodie.some.key=value")
        options[key.strip()] = PlacedText(value.strip(), "--hoodie-conf")
    return options


def read_properties(address: str, including: tuple[str, ...] = ()) -> Mapping[str, str]:
    """The options of a properties file at a path or URL, laid over those of the file that its `include` names, beside it.

    Raises ConfigError for a file that is not there, cannot be read, or includes itself.
    """
    from hoodie.storage import open_storage  # loads Arrow

    folder, _, name = address.rpartition("/")
    if address in including:
        raise ConfigError(f"Properties file {address} includes itself", fix="remove one `include`")
    try:
        properties = parse_properties(open_storage(folder or ".").read(name))
    except FileNotFoundError:
        raise ConfigError(f"Properties file {address} is not there", fix="correct --props, or the `include`") from None
    except ValueError as error:
        raise ConfigError(
            f"Properties file {address} cannot be read", found=str(error), fix="correct the escape"
        ) from None
    options = {key: PlacedText(value, address) for key, value in properties.items()}
    other = options.pop(_INCLUDE, None)
    if other is None:
        return options
    beside = other if "://" in other or other.startswith("/") else f"{folder or '.'}/{other}"
    return {**read_properties(beside, (*including, address)), **options}
