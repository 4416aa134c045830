"""What an evaluation set has in common with a training set, as the cells of a table."""

from parataxis.corpora.leaks import Leak, Overlaps

__all__ = ["overlap_cells", "percent"]


def overlap_cells(
    found: Overlaps, allowed: float = 0.0
) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Header and rows; the last cell says whether that is a leak."""
    header = ("", "found", "of", "%", "different", "of", "%", "")
    return header, [_row(each, allowed) for each in found.leaks]


def _row(leak: Leak, allowed: float) -> tuple[str, ...]:
    return (
        leak.kind.value,
        f"{leak.found:,}",
        f"{leak.total:,}",
        percent(leak.found, leak.total),
        f"{leak.unique_found:,}",
        f"{leak.unique_total:,}",
        percent(leak.unique_found, leak.unique_total),
        "LEAK" if leak.is_leak(allowed) else "",
    )


def percent(part: int, whole: int) -> str:
    """A share in percent.

    >>> percent(1, 3), percent(0, 0)
    ('33.33', '0.00')
    """
    return f"{100 * part / whole:.2f}" if whole else "0.00"
