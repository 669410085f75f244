"""What an estimator does to its training data: check in the user's terms, scale, standardise."""

import numbers
import warnings
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from pengp._core.arrays import BoolArray, FloatArray
from pengp._core.checks import DataSets, check_lams
from pengp.choosing.folds import DEFAULT_K, FoldPlan, FoldsLike, leave_one_out, make_folds
from pengp.estimators.surrogate import scale_inputs
from pengp.exceptions import InputError, PengpWarning
from pengp.model.scaling import InputScaler, ResponseScaler
from pengp.model.trend import follows, too_few_runs
from pengp.path.fitting import Model
from pengp.path.grids import kkt_bound, lambda_grid

#: Runs below which the default folds give up: training on one run says nothing about theta.
_FEWEST_TO_VALIDATE = 3
#: Nugget of the KKT bound where the nugget is to be estimated.
_KKT_NUGGET = 1e-5


class TrainingData(NamedTuple):
    """Runs as given and as modelled."""

    X: FloatArray  # [n, d], user's units
    y: FloatArray  # [n, q], user's units
    U: FloatArray  # [n, d], in the unit cube
    Z: FloatArray  # [q, n], standardised
    inputs: InputScaler
    response: ResponseScaler

    def datasets(self, *, one_output: bool) -> DataSets:
        """Return one data set for each output, on a leading axis unless there is one output."""
        q = len(self.Z)
        return DataSets([self.U] * q, list(self.Z), () if one_output else (q,))


def prepare(
    X: FloatArray,
    y: FloatArray,
    names: Sequence[str] | None,
    *,
    input_bounds: ArrayLike | None,
    model: Model,
) -> TrainingData:
    """Check and scale finite runs.

    Parameters
    ----------
    X : [n, d]
        Inputs in the user's units.
    y : [n, q]
        Responses in the user's units.
    names : sequence of d strings, optional
        Names of the inputs, for messages.
    input_bounds : [d, 2], optional
        The design region; by default the range of the data.
    model : Model
        What is to be fitted.
    """
    inputs, response = InputScaler.from_data(X, input_bounds), ResponseScaler.from_data(y)
    check_inside(X, inputs, input_bounds, names)
    U, Z = scale_inputs(inputs, X), np.ascontiguousarray(response.transform(y).T)
    check_duplicates(U, y, model.nugget)
    if words := too_few_runs(model.mean, U):
        raise InputError(f"X has {len(X)} runs, but {words}.")
    _warn_about_constants(inputs.constant, response.constant, names)
    return TrainingData(X, y, U, Z, inputs, response)


def check_inside(
    X: FloatArray,
    inputs: InputScaler,
    input_bounds: ArrayLike | None,
    names: Sequence[str] | None,
) -> None:
    """Raise an InputError if a run X [n, d] lies outside the declared bounds."""
    low, high = inputs.lower, inputs.upper
    outside = (low > X) | (high < X)
    if input_bounds is None or not outside.any():
        return
    i, p = (int(k) for k in np.argwhere(outside)[0])
    raise InputError(
        f"X has {X[i, p]:g} in row {i}, {column_label(p, names)}, outside its input_bounds "
        f"({low[p]:g}, {high[p]:g}); widen the bounds or remove that run."
    )


def check_duplicates(U: FloatArray, y: FloatArray, nugget: float | None, old: int = 0) -> None:
    """Raise an InputError if runs coincide that a deterministic model cannot tell apart.

    Parameters
    ----------
    U : [n, d]
        Scaled inputs.
    y : [n, q]
        Responses in the user's units.
    nugget : float or None
        Fixed nugget; with an estimated one (None) runs may differ.
    old : int
        How many of the runs, the first ones, are known from an earlier fit.
    """
    if nugget is None:
        return
    _, group, count = np.unique(U, axis=0, return_inverse=True, return_counts=True)
    for g in np.flatnonzero(count > 1):
        rows = np.flatnonzero(group.ravel() == g)
        differ = y[rows] != y[rows[0]]
        if differ.any():
            r, k = np.argwhere(differ)[0]
            first, second = y[rows[0], k], y[rows[r], k]
            raise InputError(
                f"{_row_labels(rows[0], rows[r], old)} have the same inputs but different "
                f"responses, {first:.9g} and {second:.9g}; remove one, average them, or use "
                "nugget='estimate'."
            )
        if nugget == 0.0:
            raise InputError(
                f"{_row_labels(rows[0], rows[1], old)} have the same inputs, which makes the "
                "correlation matrix singular with nugget=0; remove one, or use nugget=1e-5."
            )


def _row_labels(i: int, j: int, old: int) -> str:
    """Return words for two rows, of which those from ``old`` on are new."""
    if j < old or old == 0:
        return f"rows {i} and {j} of X"
    known = f"row {i} of the known runs" if i < old else f"row {i - old} of X"
    return f"{known} and row {j - old} of X"


def column_label(p: int, names: Sequence[str] | None) -> str:
    """Return words for input p: its number and, where known, its name."""
    return f"column {p}" if names is None else f"column {p} ({str(names[p])!r})"


def _warn_about_constants(
    columns: BoolArray, responses: BoolArray, names: Sequence[str] | None
) -> None:
    """Warn about inputs [d] and outputs [q] that take one value only."""
    if columns.any():
        labels = ", ".join(column_label(int(p), names) for p in np.flatnonzero(columns))
        warn(f"X is constant in {labels}; predictions ignore what is constant.", stacklevel=4)
    if responses.any():
        which = "y" if len(responses) == 1 else f"output {np.flatnonzero(responses).tolist()} of y"
        warn(f"{which} is constant; its prediction is that constant, without spread.", stacklevel=4)


def warn(message: str, *, stacklevel: int) -> None:
    """Warn in the package's own category."""
    warnings.warn(message, PengpWarning, stacklevel=stacklevel + 1)


def lambda_values(lams: str | ArrayLike, data: TrainingData, model: Model) -> FloatArray:
    """Return the values of lambda [L] to try: a named grid, or the caller's own."""
    if not isinstance(lams, str):
        return check_lams(lams)
    usable = [z for z in data.Z if not follows(model.mean, data.U, z)]
    if lams != "kkt" or not usable or data.inputs.constant.all():
        return lambda_grid("paper" if lams == "kkt" else lams)
    g = _KKT_NUGGET if model.nugget is None else model.nugget
    bounds = [kkt_bound(data.U, z, model.kernel, model.isotropic, g, model.mean) for z in usable]
    return lambda_grid("kkt", lam_max=max(bounds))


def make_plans(cv: FoldsLike, data: TrainingData, seed: int) -> list[FoldPlan | None]:
    """Return the folds of each output, None where the response is constant or runs are too few."""
    n, q = data.y.shape
    is_default = cv is None or (isinstance(cv, numbers.Integral) and cv == DEFAULT_K)
    plans: list[FoldPlan | None]
    if is_default and n < _FEWEST_TO_VALIDATE:
        warn(
            f"{n} runs are too few for cross-validation; the smallest lambda is used.", stacklevel=3
        )
        plans = [None] * q
    elif is_default and n < DEFAULT_K:
        warn(
            f"there are {n} runs, too few for {DEFAULT_K} folds; each is left out in turn.",
            stacklevel=3,
        )
        plans = [leave_one_out(n)] * q
    elif isinstance(cv, str):
        plans = [make_folds(cv, data.X, y, random_state=seed) for y in data.y.T]
    else:
        y = data.y[:, 0] if q == 1 else data.y
        plans = [make_folds(cv, data.X, y, random_state=seed)] * q
    pairs = zip(plans, data.response.constant, strict=True)
    return [None if constant else plan for plan, constant in pairs]
