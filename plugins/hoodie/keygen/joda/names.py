"""English names of months, days of the week, halves of the day and eras, with the number of the first."""

MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
NAMES = {"month": (1, MONTHS), "day_of_week": (1, DAYS), "halfday": (0, ("AM", "PM")), "era": (0, ("BC", "AD"))}
SHORT = 3


def name_of(field: str, value: int, *, short: bool) -> str:
    first, names = NAMES[field]
    name = names[value - first]
    return name[:SHORT] if short else name
