"""How a table is to be read, as far as the user says, and the options that say it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import typer

from pengp.exceptions import InputError

__all__ = ["DecimalOption", "IgnoreOption", "Reading", "SheetOption", "ThousandsOption"]

_DECIMAL = (".", ",")
_THOUSANDS = (",", ".", " ", "'")

DecimalOption = Annotated[
    str | None,
    typer.Option(
        "--decimal", metavar="MARK", help="Decimal mark of the table, . or ,", show_default="found"
    ),
]
ThousandsOption = Annotated[
    str | None,
    typer.Option(
        "--thousands",
        metavar="MARK",
        help="Mark between thousands in the table: , or . or ' or a blank.",
        show_default="none",
    ),
]
SheetOption = Annotated[
    str | None,
    typer.Option(
        "--sheet",
        metavar="NAME|NUMBER",
        help="Sheet of an Excel file, by name or counted from 1.",
        show_default="the first",
    ),
]
IgnoreOption = Annotated[
    list[str] | None,
    typer.Option(
        "--ignore",
        metavar="NAME",
        help="Column of the table to leave out, as if it were not there; may be repeated.",
    ),
]


@dataclass(frozen=True)
class Reading:
    """What the user says about a table; each field is an option of the commands that read one.

    Attributes
    ----------
    decimal, thousands : str or None
        Marks in its numbers; None where they are to be found out.
    sheet : str or None
        Sheet of a workbook, by name or counted from 1; None for the first.
    ignore : list of str or None
        Columns to leave out; None for none.
    """

    decimal: DecimalOption = None
    thousands: ThousandsOption = None
    sheet: SheetOption = None
    ignore: IgnoreOption = None

    def __post_init__(self) -> None:
        if self.decimal not in (None, *_DECIMAL):
            raise InputError(f"--decimal {self.decimal}: the decimal mark is a point or a comma.")
        if self.thousands not in (None, *_THOUSANDS):
            raise InputError(
                f"--thousands {self.thousands}: the mark between thousands is a comma, a point, an "
                "apostrophe or a blank."
            )
        if self.thousands is not None and self.thousands == self.decimal:
            raise InputError(
                f"--decimal {self.decimal} --thousands {self.thousands}: one mark cannot mean both."
            )

    @property
    def ignored(self) -> Sequence[str]:
        """Columns to leave out."""
        return self.ignore or ()

    @property
    def marks(self) -> "Reading":
        """The same for another table, of which only the marks are known."""
        return Reading(self.decimal, self.thousands)
