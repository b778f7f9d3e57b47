"""Columns of text for the terminal."""

from collections.abc import Collection, Sequence


def aligned(rows: Sequence[Sequence[str]], *, right: Collection[int] = ()) -> list[str]:
    """The rows with their columns aligned, those numbered in ``right`` to the right.

    A row may be short; one of a single cell is a remark and widens nothing.

    >>> aligned([["name", "n"], ["a", "10"]], right={1})
    ['name   n', 'a     10']
    """
    full = [row for row in rows if len(row) > 1]
    widths = [max(len(row[i]) for row in full if i < len(row)) for i in range(max(map(len, rows)))]
    return [
        "  ".join(
            cell.rjust(width) if i in right else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=False))
        ).rstrip()
        for row in rows
    ]
