"""Numbers and names as words: for sentences, for tables, and inert for plotly's labels."""

import math
import unicodedata
from collections.abc import Sequence

_MINUS, _TIMES = "\N{MINUS SIGN}", "\N{MULTIPLICATION SIGN}"
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
#: plotly reads markup, entities, templates (%{x}) and, given MathJax, $tex$ in every label.
_INERT = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", "%": "&#37;", "{": "&#123;", "$": "&#36;"}
)
#: Categories of characters that break a line or cannot be written.
_BREAKS = ("Cc", "Cs", "Zl", "Zp")
#: Characters of a name that are shown in text, and beside an axis.
LONGEST_NAME, _LONGEST_LABEL = 120, 38


def number(value: float, digits: int = 4) -> str:
    """Return a number with some significant digits; what is not finite becomes a word."""
    if math.isnan(value):
        return "not defined"
    if math.isinf(value):
        return "infinite" if value > 0 else "minus infinity"
    text = f"{value:.{digits}g}"
    if "e" not in text:
        return text.replace("-", _MINUS)
    mantissa, exponent = text.split("e")
    power = f"10{str(int(exponent)).translate(_SUPERSCRIPTS)}"
    return f"{mantissa.replace('-', _MINUS)} {_TIMES} {power}"


def lam_is(lam: float) -> str:
    """Return a value of lambda on one line, such as 'λ = 0.01'."""
    return f"λ = {number(lam, 3)}".replace(" ", "\N{NO-BREAK SPACE}")


def percent(share: float) -> str:
    """Return a share such as 0.95 as '95 %'."""
    if not math.isfinite(share):
        return number(share)
    return f"{number(100.0 * share, 3 if abs(share) < 10 else 4)} %"


def counted(count: int, noun: str) -> str:
    """Return '1 run', '2 runs'."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def listed(words: Sequence[str]) -> str:
    """Return 'a', 'a and b', 'a, b and c'."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def plain(text: object, limit: int = LONGEST_NAME) -> str:
    """Return text on one line, without control characters and cut to a length."""
    line = "".join(" " if unicodedata.category(c) in _BREAKS else c for c in str(text))
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def inert(text: str, limit: int = _LONGEST_LABEL) -> str:
    """Return text that plotly shows as it is: no markup, entity, template or formula."""
    return plain(text, limit).translate(_INERT)
