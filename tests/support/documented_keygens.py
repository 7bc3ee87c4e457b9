"""The worked examples of Hudi's documentation for the TimestampBased key generator (its page "Key Generation").

Options are as printed there, but for typographic quotes. `made` are the folders of Hudi 1.2.0 and 0.15.0, `said` what the page
says where that is something else.
"""

from __future__ import annotations

from dataclasses import dataclass, field

P = "hoodie.deltastreamer.keygen.timebased."
ISO, ISO_MS = "yyyy-MM-dd'T'HH:mm:ssZ", "yyyy-MM-dd'T'HH:mm:ss.SSSZ"


@dataclass(frozen=True)
class Example:
    """One example: options without their common prefix, and input -> folder."""

    name: str
    options: dict[str, str]
    made: dict[str | int | None, str]
    said: dict[str | int | None, str] = field(default_factory=dict)

    @property
    def full_options(self) -> dict[str, str]:
        return {P + name: value for name, value in self.options.items()}


def _iso(input_format: str, output: str, output_zone: str, input_zone: str = "") -> dict[str, str]:
    return {
        "timestamp.type": "DATE_STRING",
        "input.dateformat": input_format,
        "input.dateformat.list.delimiter.regex": "",
        "input.timezone": input_zone,
        "output.dateformat": output,
        "output.timezone": output_zone,
    }


EXAMPLES = (
    Example(
        "timestamp is GMT",
        {"timestamp.type": "EPOCHMILLISECONDS", "output.dateformat": "yyyy-MM-dd hh", "timezone": "GMT+8:00"},
        {1578283932000: "2020-01-06 12", None: "1970-01-01 08"},
    ),
    Example(
        "timestamp is DATE_STRING",
        {
            "timestamp.type": "DATE_STRING",
            "output.dateformat": "yyyy-MM-dd hh",
            "timezone": "GMT+8:00",
            "input.dateformat": "yyyy-MM-dd hh:mm:ss",
        },
        {"2020-01-06 12:12:12": "2020-01-06 12", None: "1970-01-01 08"},
        said={None: "1970-01-01 12:00:00"},
    ),
    Example(
        "scalar",
        {
            "timestamp.type": "SCALAR",
            "output.dateformat": "yyyy-MM-dd hh",
            "timezone": "GMT",
            "timestamp.scalar.time.unit": "days",
        },
        {20000: "2024-10-04 12", None: "1970-01-02 12"},
        said={None: "1970-01-01 12"},
    ),
    Example(
        "ISO8601 with Z, one input format",
        _iso(ISO_MS, "yyyyMMddHH", "GMT"),
        {"2020-04-01T13:01:33.428Z": "2020040113"},
    ),
    Example(
        "ISO8601 with Z, several input formats",
        _iso(f"{ISO},{ISO_MS}", "yyyyMMddHH", "UTC"),
        {"2020-04-01T13:01:33.428Z": "2020040113"},
    ),
    Example(
        "ISO8601 with an offset, several input formats",
        _iso(f"{ISO},{ISO_MS}", "yyyyMMddHH", "UTC"),
        {"2020-04-01T13:01:33-05:00": "2020040118"},
        said={"2020-04-01T13:01:33-05:00": "2020-04-01T13:01:33-05:00"},
    ),
    Example(
        "a short date",
        _iso(f"{ISO},{ISO_MS},yyyyMMdd", "MM/dd/yyyy", "UTC", "UTC"),
        {"20200401": "04/01/2020"},  # the page prints the input as 220200401
    ),
)
