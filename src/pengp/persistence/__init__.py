"""Model files: `save` a fitted estimator, `load` it, `read_info` about it.

A file holds numbers and text only. Reading one runs no code from it: names are looked up in fixed
tables, everything is checked against the schema, and a file that fails a check is refused.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pengp
from pengp._core.files import replacing
from pengp.exceptions import FileError, InputError
from pengp.persistence.container import pack, parse_arrays, parse_header, read_content

if TYPE_CHECKING:
    from pengp.persistence.state import Estimator

__all__ = ["load", "read_info", "save"]

#: What malformed contents may raise while they are looked at.
_MALFORMED = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)


def save(
    model: "Estimator", path: str | os.PathLike[str], *, info: Mapping[str, Any] | None = None
) -> None:
    """Write a fitted estimator to a file, whole or not at all.

    The same model and info give the same bytes.

    Parameters
    ----------
    model : PenalizedGPRegressor, PenalizedGPRegressorCV or BayesianGPRegressor
        Fitted. A kernel, penalty, mean or prior of your own is refused; of your own metric or rule
        the name is kept, of a splitter the folds that it made.
    path : path
        Where to write, by convention ``name.pengp``; an old file is replaced.
    info : mapping, optional
        What you want to know later, ready for JSON; `read_info` returns it.

    Examples
    --------
    >>> from pengp import PenalizedGPRegressor, load, load_piston_slap, save
    >>> runs = load_piston_slap()
    >>> model = PenalizedGPRegressor(0.0578, random_state=0).fit(runs.X, runs.y)
    >>> save(model, "piston.pengp", info={"simulator": "piston slap"})
    >>> bool((load("piston.pengp").predict(runs.X) == model.predict(runs.X)).all())
    True
    """
    from pengp.persistence.parameters import checked_json
    from pengp.persistence.state import CLASSES, to_state

    if CLASSES.get(type(model).__name__) is not type(model):
        raise InputError(
            f"save takes a {' or a '.join(CLASSES)}, not a {type(model).__name__}; give it the "
            "fitted estimator itself."
        )
    if not hasattr(model, "X_train_"):
        raise InputError("the model is not fitted, so there is nothing to save; call fit first.")
    if not isinstance(info, Mapping | None):
        raise InputError(f"info must be a mapping such as a dict, not a {type(info).__name__}.")
    state, arrays = to_state(model)
    about = {"pengp": pengp.__version__, "info": checked_json(dict(info or {}), "info")}
    content = pack({**about, **state}, arrays)
    with replacing(path) as temporary:
        temporary.write_bytes(content)


def load(path: str | os.PathLike[str]) -> "Estimator":
    """Return the fitted estimator in a file that `save` wrote.

    It predicts with the same bits as the one that was saved.

    Examples
    --------
    >>> from pengp import PenalizedGPRegressor, load, load_piston_slap, save
    >>> runs = load_piston_slap()
    >>> save(PenalizedGPRegressor(0.0578, random_state=0).fit(runs.X, runs.y), "piston.pengp")
    >>> load("piston.pengp").theta_.round(2)
    array([0.39, 0.  , 0.  , 0.91, 0.02, 0.43])
    """
    content = read_content(Path(path))  # a file that is not there is told before much is imported
    from pengp.persistence.parameters import NotBuiltInError
    from pengp.persistence.state import from_state
    from pengp.persistence.versions import from_version_1

    try:
        version, header, data = parse_header(content)
        arrays = parse_arrays(header["arrays"], data)
        return from_state(*(from_version_1(header, arrays) if version == 1 else (header, arrays)))
    except NotBuiltInError as error:
        raise FileError(
            f"{os.fspath(path)} needs {error}; a model file resolves no other names, so load it "
            "with the version of pengp that wrote it."
        ) from error
    except _MALFORMED as error:
        raise _unsound(path) from error


def read_info(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return what a model file says about itself, without making the model.

    Returns
    -------
    dict
        ``info`` as given to `save`, ``class_name``, ``pengp_version`` and ``format_version``.

    Examples
    --------
    >>> from pengp import PenalizedGPRegressor, load_piston_slap, save
    >>> from pengp.persistence import read_info
    >>> runs = load_piston_slap()
    >>> model = PenalizedGPRegressor(0.0578, random_state=0).fit(runs.X, runs.y)
    >>> save(model, "piston.pengp", info={"simulator": "piston slap"})
    >>> known = read_info("piston.pengp")
    >>> known["class_name"], known["info"]
    ('PenalizedGPRegressor', {'simulator': 'piston slap'})
    """
    content = read_content(Path(path))
    try:
        format_version, header, _ = parse_header(content)
    except _MALFORMED as error:
        raise _unsound(path) from error
    from pengp.persistence.state import CLASSES

    match header:
        case {"class": str(name), "pengp": str(version), "info": dict(info)} if name in CLASSES:
            about = {"class_name": name, "pengp_version": version, "format_version": format_version}
            return {"info": info, **about}
    raise _unsound(path)


def _unsound(path: str | os.PathLike[str]) -> FileError:
    """Return the error for contents that are not what `save` writes."""
    return FileError(
        f"{os.fspath(path)} has the form of a pengp model file, but its contents are not sound; "
        "save the model anew."
    )
