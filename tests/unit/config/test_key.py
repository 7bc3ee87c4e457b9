"""Options: every key is checked, under any of its names."""

from __future__ import annotations

import pytest

from hoodie.config import CLEAN_KEYS, CREATE_KEYS, WRITE_KEYS, laid_over, own_options
from hoodie.config.groups import CLEAN_OPTIONS, WRITE_OPTIONS
from hoodie.config.key import ConfigKey, resolve
from hoodie.config.keys.clean import COMMITS_RETAINED, POLICY
from hoodie.config.keys.lock import WAIT_MS
from hoodie.config.keys.table import HIVE_STYLE, MERGE_MODE, NAME, ORDERING_FIELDS, RECORD_KEY_FIELDS
from hoodie.config.keys.write import BLOOM_FPP, MAX_FILE_SIZE
from hoodie.errors import ConfigError
from tests.support.faults import assert_no_faults

EVERY = list(dict.fromkeys([*CREATE_KEYS, *WRITE_KEYS, *CLEAN_KEYS]))


def test_no_two_options_share_a_name():
    names = [name for key in EVERY for name in key.names]
    assert len(names) == len(set(names))


def test_every_default_is_a_value_that_could_be_given():
    with_default = [key for key in EVERY if key.default is not None]
    assert len(with_default) > 50
    assert_no_faults(key.name for key in with_default if resolve({key.name: key.default}, [key])[key] != key.default)


def test_older_names_set_the_same_option():
    values = {
        "hoodie.record.merge.mode": "COMMIT_TIME_ORDERING",
        "hoodie.table.keygenerator.type": "SIMPLE",
        "hoodie.keygen.timebased.timestamp.type": "SCALAR",
    }
    aliases = [(key, alias) for key in EVERY for alias in key.aliases]
    assert len(aliases) > 30
    assert_no_faults(
        f"{alias} does not set {key.name}"
        for key, alias in aliases
        if not _sets(alias, key, values.get(key.name, "x" if key.default is None else key.default))
    )


def _sets(alias: str, key: ConfigKey, value: object) -> bool:
    """Return whether the alias gives the option the value that its own name gives it."""
    try:
        options = resolve({alias: value}, [key])
    except ConfigError:
        return False
    return options.is_set(key) and options[key] == resolve({key.name: value}, [key])[key]


@pytest.mark.parametrize(
    ("key", "raw", "expected"),
    [
        (NAME, " trips ", "trips"),
        (RECORD_KEY_FIELDS, "a, b ,,c", ("a", "b", "c")),
        (RECORD_KEY_FIELDS, ["a", "b"], ("a", "b")),
        (HIVE_STYLE, " TRUE ", True),
        (HIVE_STYLE, False, False),
        (POLICY, "keep_latest_commits", "KEEP_LATEST_COMMITS"),
        (MAX_FILE_SIZE, 5, 5),
        (BLOOM_FPP, "1e-3", 0.001),
        (WAIT_MS, "0", 0),
    ],
)
def test_values_are_parsed(key, raw, expected):
    assert resolve({key.name: raw}, [key])[key] == expected


@pytest.mark.parametrize(
    ("key", "raw", "accepted"),
    [
        (HIVE_STYLE, "yes", "true or false"),
        (POLICY, "KEEP_ALL", "one of KEEP_LATEST_COMMITS, KEEP_LATEST_FILE_VERSIONS, KEEP_LATEST_BY_HOURS"),
        (COMMITS_RETAINED, "0", "a whole number, 1 or more"),
        (COMMITS_RETAINED, "2.5", "a whole number, 1 or more"),
        (BLOOM_FPP, "1.5", "a number between 0 and 1"),
        (BLOOM_FPP, "nan", "a number between 0 and 1"),
        (BLOOM_FPP, "small", "a number between 0 and 1"),
    ],
)
def test_a_value_that_cannot_be_is_refused_with_what_can(key, raw, accepted):
    with pytest.raises(ConfigError) as refused:
        resolve({key.name: raw}, [key])
    assert repr(raw) in str(refused.value)
    assert accepted in str(refused.value)


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("hoodie.clean.commit.retained", "hoodie.clean.commits.retained"),
        ("hoodie.table.recordkey.field", "hoodie.table.recordkey.fields"),
        ("hoodie.datasource.write.precombine.fields", "hoodie.datasource.write.precombine.field"),
    ],
)
def test_an_unknown_key_suggests_the_nearest(name, nearest):
    with pytest.raises(ConfigError, match=f"'{name}' is not known here.*did you mean '{nearest}'"):
        own_options({name: "1"}, CLEAN_OPTIONS)


def test_a_key_that_is_near_to_nothing_is_to_be_removed():
    with pytest.raises(ConfigError, match="remove it: it would have no effect"):
        own_options({"spark.executor.memory": "1g"}, CLEAN_OPTIONS)


def test_two_names_of_one_option_must_agree():
    same = {"hoodie.clean.commits.retained": "3", "hoodie.cleaner.commits.retained": 3}
    assert resolve(same, CLEAN_KEYS)[COMMITS_RETAINED] == 3
    with pytest.raises(
        ConfigError, match=r"contradict each other.*3 and 4.*keep 'hoodie.clean.commits.retained' alone"
    ):
        resolve({**same, "hoodie.cleaner.commits.retained": "4"}, CLEAN_KEYS)


def test_an_option_without_value_and_default_is_asked_for():
    options = resolve({}, CREATE_KEYS)
    assert options.get(MERGE_MODE) is None
    assert options[ORDERING_FIELDS] == ()
    with pytest.raises(ConfigError, match=r"hoodie.table.name is missing.*set it: the table's name"):
        options[NAME]


def test_a_shared_file_is_divided_among_the_services():
    options = {"hoodie.cleaner.policy": "KEEP_LATEST_COMMITS", "hoodie.table.name": "t", WAIT_MS.name: 5}
    assert set(own_options(options, CLEAN_OPTIONS)) == {"hoodie.cleaner.policy", WAIT_MS.name}
    assert set(own_options(options, WRITE_OPTIONS)) == {"hoodie.table.name", WAIT_MS.name}


def test_options_are_laid_over_others_by_all_their_names():
    below = {"hoodie.cleaner.policy": "x", "hoodie.clean.commits.retained": "3", "mine": "1"}
    assert laid_over({"hoodie.clean.policy": "y", "mine": "2"}, below) == {
        "hoodie.clean.commits.retained": "3",
        "hoodie.clean.policy": "y",
        "mine": "2",
    }
