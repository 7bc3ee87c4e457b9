"""The options of one call, resolved once where the call begins and handed on from there."""

from __future__ import annotations

from hoodie.config.groups import OptionGroup
from hoodie.config.key import Given, Options, resolve
from hoodie.config.service_options import own_options

__all__ = ["Given", "Options", "options_for"]


def options_for(given: Given | None, *groups: OptionGroup) -> Options:
    """The options of a call that belong to one of `groups`, checked and parsed. None: the defaults of all.

    Options that are resolved already are taken as they are, so an inner call parses nothing again. Raises ConfigError: see
    `own_options` for names, `resolve` for values.
    """
    keys = [key for group in groups for key in group.keys]
    if isinstance(given, Options):
        return given.among(keys)
    return resolve(own_options({} if given is None else given, *groups), keys)
