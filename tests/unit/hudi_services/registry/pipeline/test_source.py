"""The address of the server, its user and password."""

from __future__ import annotations


def test_secrets_come_from_the_environment_and_need_not_be_there_for_a_declared_server(read, pipeline):
    text = pipeline("a.b").replace("pa55", "${PASS}")
    assert read(text, {"PASS": "12"}).source.password == "12"
    [mistake] = read(text).mistakes
    assert str(mistake).endswith(":8: source.password: names an environment variable that is not set")
    assert read(text, with_address=False).mistakes == ()
    assert read(text.replace("password: ${PASS}", 'password: ""')).source.password == ""
    for value in ("1.10", "yes", "2026-01-01"):
        assert [one.key for one in read(text.replace("${PASS}", value)).mistakes] == ["source.password"]
