"""A fitted estimator as header entries and arrays of the schema, and back.

What only `BayesianGPRegressor` has is in `pengp.persistence.averages`.
"""

from typing import Any, TypeAlias

import numpy as np

from pengp._core.checks import check_theta_bounds
from pengp._core.datasets import DataSets
from pengp.choosing.crossval import CVTable
from pengp.estimators import BayesianGPRegressor, PenalizedGPRegressor, PenalizedGPRegressorCV
from pengp.estimators.view import count_outputs, view_of
from pengp.exceptions import InputError
from pengp.path.fitting import Model
from pengp.path.penalized import Modes, PathFit
from pengp.persistence import averages, facts, runs
from pengp.persistence import parameters as codec
from pengp.persistence.container import Arrays
from pengp.persistence.schema import check

_Penalized: TypeAlias = PenalizedGPRegressor | PenalizedGPRegressorCV
Estimator: TypeAlias = _Penalized | BayesianGPRegressor
CLASSES: dict[str, type[Estimator]] = {
    "PenalizedGPRegressor": PenalizedGPRegressor,
    "PenalizedGPRegressorCV": PenalizedGPRegressorCV,
    "BayesianGPRegressor": BayesianGPRegressor,
}

# Names of the schema that are also those of attributes.
_PATH = ("theta", "objective", "loglik", "sigma2", "nugget", "mean", "converged", "at_bound")
_MODES = ("theta", "nugget", "objective", "loglik", "count")
_TABLE = ("theta", "nugget", "sigma2", "mean", "converged")


def to_state(model: Estimator) -> tuple[dict[str, Any], Arrays]:
    """Return what a file keeps of a fitted estimator: header entries and arrays."""
    if isinstance(model, BayesianGPRegressor):
        header, arrays = averages.to_state(model)
    else:
        header, arrays = _penalized_state(model)
    header = {"class": type(model).__name__, **header}
    try:
        sizes = _checked_sizes(header, arrays)
        facts.check_parameters(model, sizes["d"])
    except ValueError as error:
        raise InputError(f"the fit is not sound, so it is not saved: {error}") from error
    return header, arrays


def from_state(header: dict[str, Any], arrays: Arrays) -> Estimator:
    """Return the estimator of a file; a ValueError or its like if the file makes no sense."""
    sizes = _checked_sizes(header, arrays)
    parameters = codec.decode_parameters(header["parameters"], sizes["n_fit"])
    estimator = CLASSES[header["class"]](**parameters)
    facts.check_parameters(estimator, sizes["d"])
    runs.restore(estimator, header, sizes["d"])
    known = runs.decode(header, arrays)
    with np.errstate(over="raise", invalid="raise"):  # no runs that were fitted are that large
        if isinstance(estimator, BayesianGPRegressor):
            averages.restore(estimator, header, arrays, known)
            return estimator
        return _restored(estimator, header, arrays, known)


def _checked_sizes(header: dict[str, Any], arrays: Arrays) -> dict[str, int]:
    """Return the sizes by letter of header and arrays that fit the schema and each other."""
    if type(header["one_output"]) is not bool:
        raise ValueError("the header contradicts itself.")
    if CLASSES[header["class"]] is BayesianGPRegressor:
        return averages.checked_sizes(header, arrays)
    return _penalized_sizes(header, arrays)


def _penalized_state(model: _Penalized) -> tuple[dict[str, Any], Arrays]:
    """Return header entries and arrays of an estimator with a path."""
    path, tables = model.path_, _tables_of(model)
    plan = next((table.plan for table in tables or [] if table is not None), None)
    n_fit = len(path._data.y[0])
    header = {
        "model": _encode_model(path._model),
        "parameters": codec.encode_parameters(model.get_params(deep=False), n_fit, plan),
        **runs.to_header(model, n_fit),
        "n_evaluations": int(path.n_evaluations),
        "tables": None if tables is None else [_describe_table(table) for table in tables],
    }
    return header, _arrays_of(model, tables)


def _penalized_sizes(header: dict[str, Any], arrays: Arrays) -> dict[str, int]:
    """Return the sizes by letter of header and arrays of an estimator with a path."""
    one_output, records = header["one_output"], header["tables"]
    selected = CLASSES[header["class"]] is PenalizedGPRegressorCV
    if (records is None) is selected:
        raise ValueError("the header contradicts itself.")
    known = {k: record for k, record in enumerate(records or []) if record is not None}
    folds = {k: len(record["folds"]["test"]) for k, record in known.items()}
    sizes = check(arrays, one_output=one_output, folds=folds)
    sizes["n_fit"] = runs.checked_n_fit(header, sizes["n"])
    if selected and len(records) != sizes["q"]:
        raise ValueError("there must be one entry for each output.")
    return sizes


def _tables_of(model: _Penalized) -> list[CVTable | None] | None:
    """Return the table of each output, None for an estimator without cross-validation."""
    views = [view_of(model, k) for k in range(count_outputs(model))]
    return [view.table for view in views] if views[0].is_selected else None


def _encode_model(model: Model) -> dict[str, Any]:
    """Return what was fitted."""
    return {
        "kernel": codec.encode_record("kernel", model.kernel),
        "penalty": codec.encode_record("penalty", model.penalty),
        "isotropic": model.isotropic,
        "nugget": model.nugget,
        "mean": codec.encode_record("mean", model.mean),
        "theta_bounds": [float(bound) for bound in model.theta_bounds],
        "marginal": model.marginal,
    }


def _decode_model(record: Any) -> Model:
    """Return what was fitted."""
    match record:
        case {
            "kernel": kernel,
            "penalty": penalty,
            "isotropic": bool(isotropic),
            "nugget": (float() | None) as nugget,
            "mean": mean,
            "theta_bounds": [float(low), float(high)],
            "marginal": bool(marginal),
        } if nugget is None or 0.0 <= nugget < np.inf:
            return Model(
                codec.decode_record("kernel", kernel),
                codec.decode_record("penalty", penalty),
                isotropic,
                nugget,
                codec.decode_record("mean", mean),
                check_theta_bounds((low, high)),
                marginal,
            )
    raise ValueError("the model is not what it should be.")


def _arrays_of(model: _Penalized, tables: list[CVTable | None] | None) -> Arrays:
    """Return the arrays of a fitted estimator, in the order of the schema."""
    path = model.path_
    arrays = {
        **runs.to_arrays(model),
        "lam": np.asarray(model.lam_),
        "path.lams": path.lams,
        **{f"path.{name}": getattr(path, name) for name in _PATH},
        **{f"modes.{name}": getattr(path.modes, name) for name in _MODES},
    }
    for k, table in enumerate(tables or []):
        arrays |= {} if table is None else _table_arrays(table, k)
    return arrays


def _table_arrays(table: CVTable, k: int) -> Arrays:
    """Return the arrays of the cross-validation of output k."""
    numbers = {name: getattr(table, name) for name in _TABLE}
    numbers["values"] = np.stack(list(table.values.values()))
    return {f"tables.{k}.{name}": value for name, value in numbers.items()}


def _describe_table(table: CVTable | None) -> dict[str, Any] | None:
    """Return the folds and metrics of a table."""
    if table is None:
        return None
    metrics = [[name, table.greater_is_better[name]] for name in table.values]
    return {"folds": codec.encode_plan(table.plan), "metrics": metrics}


def _decode_table(
    record: dict[str, Any] | None, k: int, arrays: Arrays, n_fit: int
) -> CVTable | None:
    """Return the table of output k."""
    if record is None:
        return None
    better = dict(record["metrics"])
    values = arrays[f"tables.{k}.values"]
    kinds = {(type(name), type(greater)) for name, greater in better.items()}
    if not len(record["metrics"]) == len(better) == len(values) or kinds != {(str, bool)}:
        raise ValueError("each metric needs a name of its own and a direction.")
    return CVTable(
        lams=arrays["path.lams"],
        plan=codec.decode_plan(record["folds"], n_fit),
        values=dict(zip(better, values, strict=True)),
        greater_is_better=better,
        **{name: arrays[f"tables.{k}.{name}"] for name in _TABLE},
    )


def _restored(
    estimator: _Penalized, header: dict[str, Any], arrays: Arrays, known: runs.Runs
) -> _Penalized:
    """Return the estimator with what it learned, by the same steps as in ``fit``."""
    path = _decode_path(header, arrays, known)
    facts.check_path(path)
    at_lam = path.lams == arrays["lam"][..., None]
    if not at_lam.any(-1).all():
        raise ValueError("lam is none of the path's.")
    estimator._keep(known.first, path, np.asarray(at_lam.argmax(-1)))
    if isinstance(estimator, PenalizedGPRegressorCV):
        records = enumerate(header["tables"])
        tables = [_decode_table(record, k, arrays, known.n_fit) for k, record in records]
        estimator._keep_tables(path.lams, tables)
    for more in known.later:
        estimator._check_new_runs(*more)
        estimator = estimator._extended(*more)
    return estimator


def _decode_path(header: dict[str, Any], arrays: Arrays, known: runs.Runs) -> PathFit:
    """Return the path of all outputs."""
    if type(header["n_evaluations"]) is not int:
        raise ValueError("the evaluations are not counted.")
    X, responses = known.data.X[: known.n_fit], [y[: known.n_fit] for y in known.data.y]
    variances = known.data.noise
    noise = None if variances is None else [v[: known.n_fit] for v in variances]
    model = _decode_model(header["model"])
    if noise is not None and model.nugget is None:
        raise ValueError("noise is known and the nugget is estimated.")
    known.check_levels([model.kernel])
    shape = () if header["one_output"] else (len(responses),)
    return PathFit(
        lams=arrays["path.lams"],
        modes=Modes(**{name: arrays[f"modes.{name}"] for name in _MODES}),
        n_evaluations=header["n_evaluations"],
        _model=model,
        _data=DataSets([X] * len(responses), responses, shape, noise),
        **{name: arrays[f"path.{name}"] for name in _PATH},
    )
