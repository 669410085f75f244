"""What commands print: text and tables that fit 80 columns, JSON, notes and error sentences.

Results go to standard output (`show`, `show_json`), everything else to standard error (`note`,
`say`). A command makes its text with `rendered` before it writes files and shows it afterwards, so
that an interruption never leaves files behind that were denied.
"""

import io
import json
import math
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pengp._core.files import writing_to

if TYPE_CHECKING:
    from rich.console import JustifyMethod, RenderableType
    from rich.table import Table

__all__ = [
    "facts",
    "note",
    "number",
    "paragraph",
    "percent",
    "rendered",
    "say",
    "show",
    "show_json",
    "table",
    "visible",
]

_NARROW, _WIDE = 80, 100


#: Control characters but line breaks and tabs, and marks that turn the direction of writing.
_UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
#: Bold on and off: all that rich writes here to a terminal besides text.
_STYLES = re.compile(r"(\x1b\[[01]m)")

#: Stands for the space in "30 %" while lines are broken.
_TIED = "\ue000"


def visible(text: str) -> str:
    r"""Return text in which what a terminal would obey is shown as an escape, such as \x1b."""
    return _UNSEEN.sub(lambda met: met[0].encode("unicode_escape").decode(), text)


def say(message: str) -> None:
    """Write an error's sentence to standard error."""
    sys.stderr.write(f"pengp: {visible(message)}\n")


def note(message: str) -> None:
    """Write something worth knowing to standard error."""
    sys.stderr.write(f"Note: {visible(message)}\n")


def show(text: str) -> None:
    """Write text to standard output, also what `rendered` returns."""
    parts = _STYLES.split(text) if sys.stdout.isatty() else [text]
    parts[::2] = map(visible, parts[::2])
    with writing_to("standard output"):
        sys.stdout.write("".join(parts))


def show_json(record: Mapping[str, Any]) -> None:
    """Write a record to standard output as JSON; arrays become lists, what is not finite null."""
    show(json.dumps(plain(record), indent=2, allow_nan=False) + "\n")


def plain(value: Any) -> Any:
    """Return dicts, lists, strings and finite numbers in place of what JSON does not know."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if hasattr(value, "tolist"):  # numpy's arrays and numbers
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def width() -> int:
    """Return the number of columns to print in: 80, or up to 100 on a terminal that has them."""
    if not sys.stdout.isatty():
        return _NARROW
    return min(shutil.get_terminal_size().columns, _WIDE)


def rendered(*parts: "RenderableType") -> str:
    """Return texts and rich tables as one text, in the width and the colours of standard output."""
    from rich.console import Console

    page = _Page()
    page.encoding = sys.stdout.encoding  # where it has no lines, tables are drawn in ASCII
    console = Console(
        file=page,
        force_terminal=sys.stdout.isatty() and not os.environ.get("NO_COLOR"),
        width=width(),
        highlight=False,
        markup=False,
        emoji=False,
    )
    for part in parts:
        console.print(visible(part) if isinstance(part, str) else part)
    lines = page.getvalue().replace(_TIED, " ").splitlines()
    return "".join(line.rstrip() + "\n" for line in lines)


class _Page(io.StringIO):
    """Text in memory that claims an encoding."""

    encoding = "utf-8"


def table(
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    title: str = "",
    left: int = 1,
    right: Sequence[int] | None = None,
) -> "Table":
    """Return a rich table of cells that are text already.

    Parameters
    ----------
    columns : sequence of str
        Headings.
    rows : sequence of sequences of str
        As many cells a row as there are headings.
    title : str
        A line above the table.
    left : int
        Number of columns, the first ones, that are aligned to the left; numbers go to the right.
    right : sequence of int, optional
        Instead of `left`: which columns, counted from 0, are aligned to the right.
    """
    from rich import box
    from rich.table import Table
    from rich.text import Text

    grid = Table(
        title=Text(visible(title)) if title else None,
        title_justify="left",
        title_style="bold",
        header_style="bold",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        show_edge=False,
    )
    at_right = range(left, len(columns)) if right is None else right
    for index, name in enumerate(columns):
        justify: JustifyMethod = "right" if index in at_right else "left"
        grid.add_column(Text(visible(name)), justify=justify, overflow="fold")
    for row in rows:
        grid.add_row(*(Text(_tied(cell)) for cell in row))
    return grid


def facts(pairs: Sequence[tuple[str, str]]) -> "Table":
    """Return pairs of a word and what is said about it, below each other."""
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 2))
    for word, text in pairs:
        grid.add_row(Text(visible(word), style="bold"), Text(_tied(text)))
    return grid


def _tied(text: str) -> str:
    """Return text whose numbers are not parted from their percent signs."""
    return visible(text).replace(" %", f"{_TIED}%")


def paragraph(text: str, *, indent: str = "") -> str:
    """Return text broken into lines that fit, each after the first indented."""
    whole: dict[str, Any] = {"break_long_words": False, "break_on_hyphens": False}
    tied = text.replace(" %", f"{_TIED}%")
    return textwrap.fill(tied, width(), subsequent_indent=indent, **whole).replace(_TIED, " ")


def number(value: float, digits: int = 4) -> str:
    """Return a number with so many significant digits, "-" where there is none."""
    return f"{value:.{digits}g}" if math.isfinite(value) else "-"


def percent(share: float) -> str:
    """Return a share of 1 in percent."""
    return f"{100 * share:.0f} %"
