"""What is needed to repeat the work: parameters, versions, and what the caller knows of it."""

import json
import platform
from collections.abc import Mapping
from typing import Any

import numpy as np
import plotly
import scipy
import sklearn

import pengp
from pengp.estimators.records import RECORDS
from pengp.report.subject import Estimator, Subject

#: Characters of one setting that are shown.
_LONGEST = 2000


def origin(info: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return what the caller knows about the model, as pairs of name and text."""
    return [(_cut(str(name), 80), shown(value)) for name, value in info.items()]


def parameters(model: Estimator) -> list[tuple[str, str]]:
    """Return all parameters of the estimator."""
    values = model.get_params(deep=False)
    rows = ((name, _labelled(name, value)) for name, value in values.items())
    return [("class", type(model).__name__), *rows]


def _labelled(name: str, value: Any) -> str:
    """Return a parameter as text, that of a record followed by its label."""
    text = shown(value)
    label = RECORDS[name].label(value) if name in RECORDS and value is not None else text
    return text if label == text else f"{text} ({label})"


def estimates(subject: Subject) -> list[tuple[str, str]]:
    """Return the estimated numbers of one output."""
    view = subject.view
    names = ("lam_", "sigma2_", "nugget_", "mean_")
    found = [(name, repr(float(view.own(getattr(view.estimator, name))))) for name in names]
    return [*found, ("theta_", ", ".join(repr(float(t)) for t in view.theta))]


def versions() -> list[tuple[str, str]]:
    """Return the versions of what took part."""
    modules = {"pengp": pengp, "numpy": np, "scipy": scipy, "scikit-learn": sklearn}
    found = [(name, module.__version__) for name, module in modules.items()]
    return [*found, ("plotly", plotly.__version__), ("Python", platform.python_version())]


def shown(value: Any) -> str:
    """Return a value of any kind as text of a sensible length."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, Mapping | list | tuple):
        return _cut(json.dumps(value, default=repr, ensure_ascii=False))
    return _cut(str(value))


def _cut(text: str, limit: int = _LONGEST) -> str:
    """Return text without NUL and half characters, cut to a length."""
    clean = text.encode("utf-8", "replace").decode("utf-8").replace("\0", " ")
    return clean if len(clean) <= limit else f"{clean[:limit]} … ({len(clean)} characters)"
