"""The options of one call, resolved once where the call begins and handed on from there."""

from __future__ import annotations

from hoodie.config.groups import OptionGroup
from hoodie.config.key import Options, RawOptions, resolve
from hoodie.config.service_options import own_options

__all__ = ["Options", "RawOptions", "options_for"]


def options_for(raw_options: RawOptions | None, *groups: OptionGroup) -> Options:
    """The options of a call that belong to one of `groups`, checked and parsed. None: the defaults of all.

    Options that are resolved already are taken as they are, so an inner call parses nothing again. Raises ConfigError: see
    `own_options` for names, `resolve` for values.
    """
    keys = [key for group in groups for key in group.keys]
    if isinstance(raw_options, Options):
        return raw_options.among(keys)
    return resolve(own_options({} if raw_options is None else raw_options, *groups), keys)
