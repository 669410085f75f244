"""A fitted estimator as header entries and arrays of the schema, and back."""

from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np

from pengp._core.checks import DataSets
from pengp.choosing.crossval import CVTable
from pengp.estimators import PenalizedGPRegressor, PenalizedGPRegressorCV
from pengp.estimators.surrogate import Surrogate, path_at
from pengp.estimators.view import count_outputs, view_of
from pengp.exceptions import InputError
from pengp.model.posterior import Posterior, solve
from pengp.model.scaling import InputScaler, ResponseScaler
from pengp.path.fitting import Model
from pengp.path.penalized import Modes, PathFit
from pengp.persistence import parameters as codec
from pengp.persistence.container import Arrays
from pengp.persistence.schema import check

Estimator: TypeAlias = PenalizedGPRegressor | PenalizedGPRegressorCV
CLASSES: dict[str, type[Estimator]] = {
    "PenalizedGPRegressor": PenalizedGPRegressor,
    "PenalizedGPRegressorCV": PenalizedGPRegressorCV,
}

# Names of the schema that are also those of attributes.
_ESTIMATES = ("lam", "theta", "lengthscale", "sigma2", "nugget", "mean")
_SELECTION = ("lam_min", "lam_1se")
_PATH = ("theta", "objective", "loglik", "sigma2", "nugget", "mean", "converged", "at_bound")
_MODES = ("theta", "nugget", "objective", "loglik", "count")
_TABLE = ("theta", "nugget", "sigma2", "mean", "converged")


def to_state(model: Estimator) -> tuple[dict[str, Any], Arrays]:
    """Return what a file keeps of a fitted estimator: header entries and arrays."""
    path, tables = model.path_, _tables_of(model)
    plan = next((table.plan for table in tables or [] if table is not None), None)
    names = getattr(model, "feature_names_in_", None)
    n_fit = len(path._data.y[0])
    header = {
        "class": type(model).__name__,
        "model": _encode_model(path._model),
        "parameters": codec.encode_parameters(model.get_params(deep=False), n_fit, plan),
        "input_names": None if names is None else [str(name) for name in names],
        "one_output": model._one_output,
        "n_evaluations": int(path.n_evaluations),
        "tables": None if tables is None else [_describe_table(table) for table in tables],
    }
    arrays = _arrays_of(model, tables)
    try:
        _checked_sizes(header, arrays)
    except ValueError as error:
        raise InputError(f"the fit is not sound, so it is not saved: {error}") from error
    return header, arrays


def from_state(header: dict[str, Any], arrays: Arrays) -> Estimator:
    """Return the estimator of a file; a ValueError or its like if the file makes no sense."""
    sizes = _checked_sizes(header, arrays)
    parameters = codec.decode_parameters(header["parameters"], sizes["n_fit"])
    estimator = CLASSES[header["class"]](**parameters)
    _restore_fit(estimator, header, arrays, sizes)
    if isinstance(estimator, PenalizedGPRegressorCV):
        _set(estimator, arrays, _SELECTION)
        estimator.lams_ = estimator.path_.lams
        records = enumerate(header["tables"])
        tables = [_decode_table(record, k, arrays, sizes) for k, record in records]
        estimator.cv_table_ = tables[0] if header["one_output"] else tables
    return estimator


def _checked_sizes(header: dict[str, Any], arrays: Arrays) -> dict[str, int]:
    """Return the sizes by letter of header and arrays that fit the schema and each other."""
    one_output, records = header["one_output"], header["tables"]
    selected = CLASSES[header["class"]] is PenalizedGPRegressorCV
    if type(one_output) is not bool or (records is None) is selected:
        raise ValueError("the header contradicts itself.")
    known = {k: record for k, record in enumerate(records or []) if record is not None}
    folds = {k: len(record["folds"]["test"]) for k, record in known.items()}
    sizes = check(arrays, one_output=one_output, selected=selected, folds=folds)
    if selected and len(records) != sizes["q"]:
        raise ValueError("there must be one entry for each output.")
    return sizes


def _tables_of(model: Estimator) -> list[CVTable | None] | None:
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
        } if 0.0 < low <= high < np.inf and (nugget is None or 0.0 <= nugget < np.inf):
            return Model(
                codec.decode_record("kernel", kernel),
                codec.decode_record("penalty", penalty),
                isotropic,
                nugget,
                codec.decode_record("mean", mean),
                (low, high),
                marginal,
            )
    raise ValueError("the model is not what it should be.")


def _arrays_of(model: Estimator, tables: list[CVTable | None] | None) -> Arrays:
    """Return the arrays of a fitted estimator, in the order of the schema."""
    surrogate, path = model._surrogate, model.path_
    names = _ESTIMATES if tables is None else (*_ESTIMATES, *_SELECTION)
    arrays = {
        "inputs": model.X_train_,
        "responses": surrogate.y_raw,
        "scaled_inputs": surrogate.posteriors[0].X,
        "input_lower": surrogate.inputs.lower,
        "input_upper": surrogate.inputs.upper,
        "input_constant": surrogate.inputs.constant,
        "response_mean": surrogate.response.mean,
        "response_sd": surrogate.response.sd,
        "response_constant": surrogate.response.constant,
        **{name: np.asarray(getattr(model, f"{name}_")) for name in names},
        "path.inputs": path._data.X[0],
        "path.responses": np.stack(path._data.y),
        "path.lams": path.lams,
        **{f"path.{name}": getattr(path, name) for name in _PATH},
        **{f"modes.{name}": getattr(path.modes, name) for name in _MODES},
    }
    for k, posterior in enumerate(surrogate.posteriors):
        arrays |= _posterior_arrays(posterior, k)
    for k, table in enumerate(tables or []):
        arrays |= {} if table is None else _table_arrays(table, k)
    return arrays


def _posterior_arrays(posterior: Posterior, k: int) -> Arrays:
    """Return the arrays of output k."""
    numbers = {
        "response": posterior.y,
        "theta": posterior.theta,
        "nugget": posterior.nugget,
        "sigma2": posterior.sigma2,
        "factor": posterior.L,
    }
    return {f"outputs.{k}.{name}": np.asarray(value) for name, value in numbers.items()}


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
    record: dict[str, Any] | None, k: int, arrays: Arrays, sizes: dict[str, int]
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
        plan=codec.decode_plan(record["folds"], sizes["n_fit"]),
        values=dict(zip(better, values, strict=True)),
        greater_is_better=better,
        **{name: arrays[f"tables.{k}.{name}"] for name in _TABLE},
    )


def _restore_fit(
    estimator: Estimator, header: dict[str, Any], arrays: Arrays, sizes: dict[str, int]
) -> None:
    """Set what both estimators learn."""
    estimator._one_output = one_output = header["one_output"]
    estimator.n_features_in_ = sizes["d"]
    _set_names(estimator, header["input_names"])
    path = _decode_path(header, arrays, sizes["q"])
    surrogate = _decode_surrogate(path._model, arrays, sizes["q"])
    estimator.path_, estimator._surrogate = path, surrogate
    estimator.X_train_ = arrays["inputs"]
    estimator.y_train_ = surrogate.y_raw[:, 0] if one_output else surrogate.y_raw
    _set(estimator, arrays, _ESTIMATES)
    at_lam = path.lams == arrays["lam"][..., None]
    if not at_lam.any(-1).all():
        raise ValueError("lam is none of the path's.")
    estimator._chosen = path_at(path, np.asarray(at_lam.argmax(-1)))


def _set(estimator: Estimator, arrays: Arrays, names: Iterable[str]) -> None:
    """Set learned attributes from arrays; a number where there are no axes."""
    for name in names:
        a = arrays[name]
        setattr(estimator, f"{name}_", a if a.ndim else a.item())


def _set_names(estimator: Estimator, names: Any) -> None:
    """Set the names of the inputs, if they have names."""
    if names is None:
        return
    if [type(name) for name in names] != [str] * estimator.n_features_in_:
        raise ValueError("each input needs a name.")
    estimator.feature_names_in_ = np.array(names, dtype=object)


def _decode_path(header: dict[str, Any], arrays: Arrays, q: int) -> PathFit:
    """Return the path of all outputs."""
    if type(header["n_evaluations"]) is not int:
        raise ValueError("the evaluations are not counted.")
    responses = list(arrays["path.responses"])
    shape = () if header["one_output"] else (q,)
    return PathFit(
        lams=arrays["path.lams"],
        modes=Modes(**{name: arrays[f"modes.{name}"] for name in _MODES}),
        n_evaluations=header["n_evaluations"],
        _model=_decode_model(header["model"]),
        _data=DataSets([arrays["path.inputs"]] * q, responses, shape),
        **{name: arrays[f"path.{name}"] for name in _PATH},
    )


def _decode_surrogate(model: Model, arrays: Arrays, q: int) -> Surrogate[Posterior]:
    """Return the surrogate of all outputs, factors as they were."""
    inputs = InputScaler(arrays["input_lower"], arrays["input_upper"], arrays["input_constant"])
    response = ResponseScaler(
        arrays["response_mean"], arrays["response_sd"], arrays["response_constant"]
    )
    posteriors = tuple(_decode_posterior(model, arrays, k) for k in range(q))
    return Surrogate(inputs, response, posteriors, arrays["responses"])


def _decode_posterior(model: Model, arrays: Arrays, k: int) -> Posterior:
    """Return the posterior of output k."""

    def of(name: str) -> Any:
        return arrays[f"outputs.{k}.{name}"]

    if not (np.diagonal(of("factor")) > 0.0).all():
        raise ValueError("a Cholesky factor has a diagonal that is not positive.")
    with np.errstate(over="raise", invalid="raise"):  # no runs that were fitted are that large
        return solve(
            arrays["scaled_inputs"],
            of("response"),
            of("theta"),
            of("factor"),
            model.kernel,
            of("nugget").item(),
            model.mean,
            of("sigma2").item(),
        )
