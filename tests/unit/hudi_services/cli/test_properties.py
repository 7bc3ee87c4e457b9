"""Options of properties files and flags: which one counts, and the place that it is from."""

from __future__ import annotations

import pytest

from hoodie.config.groups import CLEAN_OPTIONS
from hoodie.config.keys.clean import COMMITS_RETAINED
from hoodie.config.options import options_for
from hoodie.errors import ConfigError
from hudi_services.cli.properties import merged_options

NAME = COMMITS_RETAINED.name


def test_the_flag_counts_before_the_file_and_the_file_before_what_it_includes(tmp_path):
    file, base = tmp_path / "all.properties", tmp_path / "base.properties"
    file.write_text("include=base.properties\n")
    base.write_text(f"{NAME}=3\n")
    for value, place, conf in ((3, str(base), []), (4, str(file), []), (5, "--hoodie-conf", [f"{NAME} = 5"])):
        if place == str(file):
            file.write_text(f"include=base.properties\n{NAME}=4\n")
        options = options_for(merged_options(str(file), conf), CLEAN_OPTIONS)
        assert options[COMMITS_RETAINED] == value
        assert options.origin(COMMITS_RETAINED) == f"{NAME} in {place}"


def test_what_is_no_option_is_refused(tmp_path):
    loop = tmp_path / "loop.properties"
    loop.write_text("include=loop.properties\n")
    for props, conf, message in (
        (None, ["hoodie.clean"], "is no KEY=VALUE"),
        (str(tmp_path / "none.properties"), [], "is not there"),
        (str(loop), [], "includes itself"),
    ):
        with pytest.raises(ConfigError, match=message):
            merged_options(props, conf)
