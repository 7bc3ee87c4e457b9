"""Large and small letters on DuckDB, which knows one for each. Spark makes `SS` of `ß`, two signs of `İ`, `ς` of a last `Σ`."""

from __future__ import annotations

from sqlglot import exp

_UPPER, _LOWER, _TITLED = "__HOODIE_UPPER", "__HOODIE_LOWER", "__HOODIE_TITLED"
_SIGNS = [chr(code) for code in range(0xDF, 0x10000) if not 0xD800 <= code < 0xE000]
_LARGE = {sign: sign.upper() for sign in _SIGNS if len(sign.upper()) > 1}
_TITLES = "".join(sign for sign in _SIGNS if sign.title() != sign.upper() or sign in _LARGE)
_MAP = ", ".join(f"'{sign}': '{large}'" for sign, large in _LARGE.items())
_LAST = r"(\p{L}\p{M}*)Σ(\P{L}|$)"
MACROS = (
    f"CREATE MACRO {_UPPER}(x) AS CASE WHEN regexp_matches(x, '[{''.join(_LARGE)}]') THEN array_to_string(list_transform("
    f"regexp_extract_all(x, '(?s).'), lambda c: coalesce(MAP {{{_MAP}}}[c], upper(c))), '') ELSE upper(x) END",
    f"CREATE MACRO {_LOWER}(x) AS lower(CASE WHEN contains(x, 'Σ') THEN regexp_replace(x, '{_LAST}', '\\1ς\\2', 'g') "
    "WHEN contains(x, 'İ') THEN replace(x, 'İ', 'i̇') ELSE x END)",
    f"CREATE MACRO {_TITLED}(x) AS CASE WHEN regexp_matches(x, '(^| )[{_TITLES}]|İ|{_LAST}') "
    "THEN error('initcap of a letter that DuckDB writes in another way than Spark: ' || x) ELSE x END",
)
"""Functions that the texts call."""


def spell(node: exp.Expression) -> None:
    """Let `upper` and `lower` give Spark's letters, and `initcap` refuse a text of which it would make others."""
    if isinstance(node, exp.Upper):
        node.replace(exp.Anonymous(this=_UPPER, expressions=[node.this.copy()]))
    elif isinstance(node, exp.Lower):
        node.replace(exp.Anonymous(this=_LOWER, expressions=[node.this.copy()]))
    elif isinstance(node, exp.Initcap):
        node.set("this", exp.Anonymous(this=_TITLED, expressions=[node.this.copy()]))
