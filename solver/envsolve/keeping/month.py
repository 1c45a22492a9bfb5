"""Month: "2028-06" as the rules write it, before or after a day."""

from __future__ import annotations

from datetime import date


def months_until(month: str, today: date) -> int:
    """How many months lie between a day's month and this one; negative where it is past."""
    year, number = map(int, month.split("-"))
    return (year - today.year) * 12 + number - today.month


def told(month: str, today: date) -> str:
    """ "ended 2026-06", "ends this month", "ends 2027-03, in 3 months" """
    left = months_until(month, today)
    if left < 0:
        return f"ended {month}"
    if left == 0:
        return f"ends this month, {month}"
    return f"ends {month}, in {left} month{'s' if left > 1 else ''}"
