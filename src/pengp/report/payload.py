"""What the page's script gets: figures, numbers by state, and which number goes where."""

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from pengp.report.style import DARK

#: Strings, or lists of what plotly takes, in nested lists, one level for each key of the state.
Words: TypeAlias = Sequence["str | float | Words | None"]
#: Numbers that vary by less than this share of their size keep all digits.
_COARSE = 1e-3
#: Inside a script element these could end it, or be read as something else.
_ESCAPES = {c: f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}


@dataclass(eq=False)
class Payload:
    """Collects what `report.js` reads.

    The state holds an index by key, such as the place of the slider. A binding copies the part of
    an array at the state of some keys, one leading axis each, into a figure or an element. Models
    are read by `whatif.js`, which predicts with them.
    """

    figures: dict[str, Any] = field(default_factory=dict)
    arrays: dict[str, Any] = field(default_factory=dict)
    bindings: list[dict[str, Any]] = field(default_factory=list)
    state: dict[str, int] = field(default_factory=dict)
    models: dict[str, Any] = field(default_factory=dict)

    def numbers(self, name: str, values: ArrayLike) -> str:
        """Keep an array of numbers, and return its name."""
        self.arrays[name] = _encoded(np.asarray(values, dtype=np.float64))
        return name

    def words(self, name: str, values: Words) -> str:
        """Keep nested lists of words, and return their name."""
        self.arrays[name] = values
        return name

    def bind_figure(self, figure: str, array: str, by: Sequence[str], *paths: str) -> None:
        """Let an array fill places of a figure, such as data.0.y."""
        for path in paths:
            self.bindings.append({"figure": figure, "path": path, "array": array, "by": list(by)})

    def bind_element(self, element: str, what: str, array: str, by: Sequence[str]) -> None:
        """Let an array set what an element shows: text, value, share, label, ..."""
        self.bindings.append({"element": element, "set": what, "array": array, "by": list(by)})

    def to_json(self) -> str:
        """Return all of it as JSON that is safe inside a script element."""
        figures = ",".join(f"{json.dumps(k)}:{f.to_json()}" for k, f in self.figures.items())
        parts = {
            "arrays": self.arrays,
            "bindings": self.bindings,
            "state": self.state,
            "models": self.models,
            "dark": DARK,
        }
        rest = json.dumps(parts, allow_nan=False, separators=(",", ":"))
        text = f'{{"figures":{{{figures}}},{rest[1:]}'
        for character, escape in _ESCAPES.items():
            text = text.replace(character, escape)
        return text


def _encoded(values: np.ndarray[Any, np.dtype[np.float64]]) -> dict[str, Any]:
    """Return numbers as base64 of little-endian floats, short ones where that is fine enough."""
    finite = values[np.isfinite(values)]
    size = np.abs(finite).max(initial=0.0)
    fine = size < np.finfo(np.float32).max and np.ptp(finite) >= _COARSE * size if size else True
    kind = "f4" if fine else "f8"
    raw = np.ascontiguousarray(values, dtype=f"<{kind}").tobytes()
    return {"shape": list(values.shape), kind: base64.b64encode(raw).decode("ascii")}
