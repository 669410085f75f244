"""What an estimator does to its training data: check in the user's terms, scale, standardise."""

import numbers
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import validate_data

from pengp._core.arrays import BoolArray, FloatArray
from pengp._core.checks import check_lams, warn
from pengp._core.datasets import DataSets, check_duplicates
from pengp._core.rows import first_of_each
from pengp._core.surface import by_surface
from pengp.choosing.folds import (
    DEFAULT_K,
    FoldPlan,
    FoldsLike,
    default_repeats,
    leave_one_out,
    make_folds,
)
from pengp.estimators.noise import FEWEST_MERGED, merged_replicates
from pengp.estimators.scales import (
    Judge,
    Scales,
    column_label,
    input_transforms,
    judge_of,
    response_transforms,
)
from pengp.estimators.surrogate import scale_inputs
from pengp.exceptions import InputError
from pengp.model.noise import NOISE_AND_NUGGET, check_noisy_runs
from pengp.model.scaling import InputScaler, ResponseScaler
from pengp.model.trend import follows, too_few_runs
from pengp.path.fitting import Model
from pengp.path.grids import kkt_bound, lambda_grid

#: scikit-learn looks for numbers that are not finite in a sum, which may overflow to both sides.
_SUMS: dict[str, Any] = {"over": "ignore", "invalid": "ignore"}
#: Runs below which the default folds give up: training on one run says nothing about theta.
_FEWEST_TO_VALIDATE = 3
#: Nugget of the KKT bound where the nugget is to be estimated.
_KKT_NUGGET = 1e-5
#: Standard deviations of the runs in ``fit`` beyond which a further response is no number to learn
#: from: what double precision keeps of the others is less than their own scale.
_FARTHEST = 1e12


class _CellError(InputError, TypeError):
    """A cell is something else; of that scikit-learn asks for a TypeError."""


class TrainingData(NamedTuple):
    """Runs as given and as modelled."""

    X_raw: FloatArray  # [n, d], user's units
    y_raw: FloatArray  # [n, q], user's units
    X: FloatArray  # [n, d], in the unit cube
    y: FloatArray  # [q, n], transformed and standardised
    inputs: InputScaler
    response: ResponseScaler
    noise_sd: FloatArray | None = None  # [n, q], known standard deviations, user's units

    @property
    def noise(self) -> FloatArray | None:
        """Known variances [q, n] of y."""
        if self.noise_sd is None:
            return None
        return np.ascontiguousarray(self.response.noise_variance(self.y_raw, self.noise_sd).T)

    def datasets(self, *, one_output: bool) -> DataSets:
        """Return one data set for each output, on a leading axis unless there is one output."""
        q = len(self.y)
        noise = None if self.noise is None else list(self.noise)
        return DataSets([self.X] * q, list(self.y), () if one_output else (q,), noise)


def prepare(
    X_raw: FloatArray,
    y_raw: FloatArray,
    names: Sequence[str] | None,
    *,
    input_bounds: ArrayLike | None,
    scales: Scales,
    model: Model,
    lam: float,
    seed: int,
    noise_sd: FloatArray | None = None,
) -> TrainingData:
    """Check, transform and scale finite runs.

    Parameters
    ----------
    X_raw : [n, d]
        Inputs in the user's units.
    y_raw : [n, q]
        Responses in the user's units.
    names : sequence of d strings, optional
        Names of the inputs, for messages.
    input_bounds : [d, 2], optional
        The design region; by default the range of the data.
    scales : Scales
        Transforms of inputs and response.
    model : Model
        What is to be fitted.
    lam, seed : float, int
        lambda and seed with which powers of transforms are estimated.
    noise_sd : [n, q], optional
        Known standard deviations of the responses.
    """
    data = scale_runs(
        X_raw,
        y_raw,
        names,
        input_bounds=input_bounds,
        scales=scales,
        judge=judge_of(model, lam, seed),
        nugget=model.nugget,
        noise_sd=noise_sd,
    )
    if words := too_few_runs(model.mean, data.X):
        raise InputError(f"X has {len(data.X)} runs, but {words}.")
    return data


def scale_runs(
    X_raw: FloatArray,
    y_raw: FloatArray,
    names: Sequence[str] | None,
    *,
    input_bounds: ArrayLike | None,
    scales: Scales,
    judge: Judge,
    nugget: float | None,
    estimated: str = "estimate",
    noise_sd: FloatArray | None = None,
) -> TrainingData:
    """Check, transform and scale finite runs for a nugget, None if it is estimated.

    ``judge`` tells powers of transforms apart; ``estimated`` is what the estimator
    calls a nugget that the runs decide; see `prepare`.
    """
    if noise_sd is None:
        X_raw, y_raw = _merged(X_raw, y_raw, nugget)
    elif nugget is None:
        raise InputError(NOISE_AND_NUGGET.format(estimated))
    else:
        X_raw, y_raw, noise_sd = merged_replicates(X_raw, y_raw, noise_sd)
        check_noisy_runs(len(X_raw))
    inputs = InputScaler.from_data(X_raw, input_bounds)
    for p, levels in scales.levels.items():
        inputs.lower[p], inputs.upper[p] = levels.values[0], levels.values[-1]
    check_inside(X_raw, inputs, input_bounds, names)
    if transforms := input_transforms(scales, X_raw, names):
        inputs = replace(inputs, transforms=transforms)
        _check_ends(inputs, names)
    X = scale_inputs(inputs, X_raw)
    transforms = response_transforms(scales.response, X, y_raw, judge, noise_sd)
    response = ResponseScaler.from_data(y_raw, transforms, noise_sd)
    y = np.ascontiguousarray(response.transform(y_raw).T)
    if noise_sd is None:
        check_duplicates(X, y_raw, nugget, estimated=estimated)
    _warn_about_constants(inputs.constant, response.constant, names)
    return TrainingData(X_raw, y_raw, X, y, inputs, response, noise_sd)


def _merged(
    X_raw: FloatArray, y_raw: FloatArray, nugget: float | None
) -> tuple[FloatArray, FloatArray]:
    """Return the runs X_raw [n, d], y_raw [n, q] without those that repeat others, with a warning.

    With an estimated nugget (None) they stay, as they tell how much responses scatter; also where
    fewer than 3 runs would be left.
    """
    if nugget is None:
        return X_raw, y_raw
    first = first_of_each(np.column_stack([X_raw, y_raw]))
    kept = np.unique(first)
    repeats = np.flatnonzero(first != np.arange(len(first)))
    if not len(repeats) or len(kept) < FEWEST_MERGED:
        return X_raw, y_raw
    check_duplicates(X_raw, y_raw, nugget or _KKT_NUGGET)  # by the rows as they were given
    j = int(repeats[0])
    more = f" and {len(repeats) - 1} more likewise" if len(repeats) > 1 else ""
    warn(
        f"row {j} of X and y repeats row {first[j]}{more}; a run that is given twice counts once, "
        "or it would flatter all that leaves runs out."
    )
    return X_raw[kept], y_raw[kept]


def check_inside(
    X_raw: FloatArray,
    inputs: InputScaler,
    input_bounds: ArrayLike | None,
    names: Sequence[str] | None,
) -> None:
    """Raise an InputError if a run X_raw [n, d] lies outside the declared bounds."""
    low, high = inputs.lower, inputs.upper
    outside = (low > X_raw) | (high < X_raw)
    if input_bounds is None or not outside.any():
        return
    i, p = (int(k) for k in np.argwhere(outside)[0])
    raise InputError(
        f"X has {X_raw[i, p]:g} in row {i}, {column_label(p, names)}, outside its input_bounds "
        f"({low[p]:g}, {high[p]:g}); widen the bounds or remove that run."
    )


def _check_ends(inputs: InputScaler, names: Sequence[str] | None) -> None:
    """Raise an InputError if an end of the inputs' bounds has no transform."""
    ends = zip(inputs.transforms, inputs.lower, inputs.upper, strict=True)
    for p, (transform, low, high) in enumerate(ends):
        if not transform.accepts(np.array([low, high])).all():
            raise InputError(
                f"the input_bounds of {column_label(p, names)} are ({low:g}, {high:g}), but its "
                f"transform {transform.name} needs values {transform.domain}."
            )


def _warn_about_constants(
    columns: BoolArray, responses: BoolArray, names: Sequence[str] | None
) -> None:
    """Warn about inputs [d] and outputs [q] that take one value only."""
    if columns.any():
        which = np.flatnonzero(columns).tolist()
        labels = ", ".join(column_label(p, names) for p in which)
        python = f"X is constant in {labels}; predictions ignore what is constant."
        several = len(which) > 1
        own = ", ".join(repr(str(names[p])) for p in which) if names is not None else labels
        command = (
            f"{own} {'are' if several else 'is'} the same in every run, so that predictions ignore "
            f"{'them' if several else 'it'}."
        )
        warn(by_surface(python, command))
    if responses.any():
        of = "y" if len(responses) == 1 else f"output {np.flatnonzero(responses).tolist()} of y"
        warn(f"{of} is constant; its prediction is that constant, without spread.")


def lambda_values(lams: str | ArrayLike, data: TrainingData, model: Model) -> FloatArray:
    """Return the values of lambda [L] to try: a named grid, or the caller's own."""
    if not isinstance(lams, str):
        return check_lams(lams)
    kind = cast(Literal["paper", "kkt"], lams)  # which the grid checks
    X = np.broadcast_to(data.X, (len(data.y), *data.X.shape))
    usable = data.y[~follows(model.mean, X, data.y)]
    if kind != "kkt" or not len(usable) or data.inputs.constant.all():
        return lambda_grid("paper" if kind == "kkt" else kind)
    if data.noise_sd is not None:
        raise InputError("lams='kkt' has no bound where noise_sd is known; use lams='paper'.")
    g = _KKT_NUGGET if model.nugget is None else model.nugget
    bounds = [kkt_bound(data.X, y, model.kernel, model.isotropic, g, model.mean) for y in usable]
    return lambda_grid("kkt", lam_max=max(bounds))


def make_plans(cv: FoldsLike, data: TrainingData, seed: int) -> list[FoldPlan | None]:
    """Return the folds of each output, None where the response is constant or runs are too few."""
    n, q = data.y_raw.shape
    is_default = cv is None or (isinstance(cv, numbers.Integral) and cv == DEFAULT_K)
    plans: list[FoldPlan | None]
    if is_default and n < _FEWEST_TO_VALIDATE:
        warn(f"{n} runs are too few for cross-validation; the smallest lambda is used.")
        plans = [None] * q
    elif is_default and n < DEFAULT_K:
        warn(f"there are {n} runs, too few for {DEFAULT_K} folds; each is left out in turn.")
        plans = [leave_one_out(n)] * q
    elif isinstance(cv, str):
        plans = [make_folds(cv, data.X_raw, y, random_state=seed) for y in data.y_raw.T]
    else:
        y = data.y_raw[:, 0] if q == 1 else data.y_raw
        repeats = default_repeats(n) if cv is None else 1
        plans = [make_folds(cv, data.X_raw, y, random_state=seed, repeats=repeats)] * q
    pairs = zip(plans, data.response.constant, strict=True)
    return [None if constant else plan for plan, constant in pairs]


def validated(estimator: Any, *runs: Any, **options: Any) -> Any:
    """Return X [n, d] alone, or X and y [n] or [n, q], as scikit-learn checks them."""
    of_y = {"multi_output": True, "y_numeric": True} if len(runs) > 1 else {}
    try:
        with np.errstate(**_SUMS):
            return validate_data(estimator, *runs, dtype=np.float64, **of_y, **options)
    except (OverflowError, TypeError) as error:
        raise _CellError(f"{error}; every cell must be a number.") from None


def check_near(y: FloatArray, name: str = "y_new") -> None:
    """Raise an InputError if a standardised response of y [k, ...] is beyond all that was seen."""
    if not (np.abs(y) <= _FARTHEST).all():
        i = int(np.argwhere(~(np.abs(y) <= _FARTHEST))[0, 0])
        raise InputError(
            f"{name} has a response in row {i} more than {_FARTHEST:g} standard deviations from "
            "those of the fit; check it, or fit the model anew on all runs."
        )
