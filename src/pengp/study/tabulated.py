"""What the report's tables hold, each made from the rows of a results file."""

from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from pengp.datasets import load_piston_slap
from pengp.datasets.functions import get_function
from pengp.study.judges.base import GRID_END, METRICS, SCORES
from pengp.study.judges.simulation import FUNCTIONS, METHODS, TEN_STARTS, relative
from pengp.study.report_rows import MissingRowsError, Rows, nearest
from pengp.study.simulation import SIZES

_SURROGATES = (
    ("mle", "MLE", 1000.0),
    ("mle_nugget", "MLE, g estimated", 922.203),
    ("mle_nugget_printed", "MLE, g estimated, the paper's θ", 922.203),
    ("pmle", "λ = 0.005", 27.444),
    ("pe", "n-fold PE", 10.565),
    ("pe_printed", "n-fold PE, the paper's λ", 10.565),
    ("pe_1se", "n-fold PE 1SE", 0.001),
)
#: Columns of the paper's tables of estimates: name, the grid's lambda, sigma2, thetas.
_ISOTROPIC = (("MLE", 0.0, 0.917, (18.992,)), ("best 4-fold CV", 0.116, 1.177, (1.453,)))
_ANISOTROPIC = (
    ("MLE", 0.0, 1.151, (4.067, 0.001, 0.588, 0.001, 0.001, 2.751)),
    ("n-fold PE", 0.00577, 1.241, (3.728, 0.001, 0.532, 0.001, 0.001, 2.550)),
    ("best 4-fold CV", 0.0581, 5.382, (0.387, 0.001, 0.001, 0.906, 0.019, 0.428)),
)
_SCORES = (
    ("isotropic", "plateau", "MLE, θ = 18.992", 0.0, 0.879, 0.505),
    ("isotropic", "pmle", "MLE, our estimate", 0.0, np.nan, np.nan),
    ("isotropic", "pmle", "best 4-fold CV", 0.116, np.nan, np.nan),
    ("anisotropic", "pmle", "MLE", 0.0, 0.767, 0.500),
    ("anisotropic", "pmle", "n-fold PE", 0.00577, 0.768, 0.504),
    ("anisotropic", "pmle", "best 4-fold CV", 0.0581, 0.431, np.nan),
)


def surrogates(rows: Rows) -> pd.DataFrame:
    """Return the estimates behind Figure 1."""
    part, found = "forrester/surrogates", []
    for method, name, paper in _SURROGATES:
        values = {m: rows.number(part, method, m) for m in ("theta", "sigma2", "nugget")}
        lam = float(rows.pick(part, method, "theta")["lam"].iloc[0])
        found.append({"surrogate": name, "lambda": lam, "theta (paper)": paper, **values})
    return pd.DataFrame(found)


def choices(rows: Rows) -> pd.DataFrame:
    """Return which lambda each metric and rule chooses for the Forrester runs."""
    found = []
    for metric, rule in product(METRICS, ("", "_1se")):
        method = metric + rule
        draws = rows.by_repetition("forrester/folds", method, "chosen")
        found.append(
            {
                "metric": METRICS[metric] + rule.replace("_1se", " 1SE"),
                "n-fold": rows.number("forrester/loo", method, "chosen"),
                "4-fold draws": len(draws),
                "at 0": int((draws == 0.0).sum()),
                "at 7.389": int(np.isclose(draws, GRID_END).sum()),
                "smallest": draws.min(),
                "median": draws.median(),
                "largest": draws.max(),
            }
        )
    return pd.DataFrame(found)


def partitions(rows: Rows) -> pd.DataFrame:
    """Return how many of the 105 partitions choose each lambda."""
    methods = [m + rule for m in (*METRICS, "root_dpe") for rule in ("", "_1se")]
    found = {m: rows.along_x("forrester/partitions", m, "chosen").value_counts() for m in methods}
    table = pd.DataFrame(found).fillna(0).astype(int).sort_index()
    return table.rename_axis("lambda").reset_index()


def scores(rows: Rows, study: str) -> pd.DataFrame:
    """Return the mean relative difference to pMLE* of each function, score and method."""
    found = []
    label_of = METHODS | {TEN_STARTS: "MLE, best of ten starts"}
    for function, name in FUNCTIONS.items():
        if not rows.has(f"{study}/{function}"):
            continue
        for score, label in SCORES.items():
            table = relative(rows, function, score, study)
            found += [
                {
                    "function": name,
                    "score": label,
                    "method": label_of[m],
                    "repetitions": len(table),
                    "mean": table[m].mean(),
                    "standard error": table[m].sem(),
                    "median": table[m].median(),
                    "mean score": rows.by_repetition(f"{study}/{function}", m, score).mean(),
                }
                for m in label_of
            ]
    if not found:
        raise MissingRowsError(f"no rows of {study}")
    return pd.DataFrame(found)


def estimates(rows: Rows, model: str) -> pd.DataFrame:
    """Return a table of estimates of Section 5 or Appendix E, the paper's beside ours."""
    part, found = f"piston-slap/{model}-path", []
    for name, lam, sigma2, thetas in _ISOTROPIC if model == "isotropic" else _ANISOTROPIC:
        at, ours = nearest(rows.along_lam(part, "pmle", "sigma2"), lam)
        found.append((name, at, "sigma2", sigma2, ours))
        theta = rows.pick(part, "pmle", "theta")
        values = theta[theta["lam"] == at]["value"]
        labels = ["theta"] if len(thetas) == 1 else [f"theta{p + 1}" for p in range(len(thetas))]
        found += [(name, at, *row) for row in zip(labels, thetas, values, strict=True)]
    return pd.DataFrame(found, columns=["estimate", "lambda", "parameter", "paper", "ours"])


def runs_scores(rows: Rows) -> pd.DataFrame:
    """Return the scores on the piston-slap test runs that the paper prints, beside ours."""
    found = []
    for model, method, name, lam, rmse, crps in _SCORES:
        part = f"piston-slap/{model}-test"
        ours = {m: nearest(rows.along_lam(part, method, m), lam) for m in (*SCORES, "coverage")}
        found.append(
            {
                "model": model,
                "estimate": name,
                "lambda": ours["rmse"][0],
                "RMSE (paper)": rmse,
                "RMSE": ours["rmse"][1],
                "CRPS (paper)": crps,
                "CRPS": ours["crps"][1],
                "coverage": ours["coverage"][1],
            }
        )
    return pd.DataFrame(found)


_FOLD_WAYS = {
    "repeated": "random",
    "stratified": "random",
    "space_filling": "random",
    "sliced_random": "random",
    "sliced": "sliced_random",
}


def fold_ways(rows: Rows) -> pd.DataFrame:
    """Return how each way to make folds compares with random folds, over the same repetitions."""
    found = []
    for function, choice, way in product(FUNCTIONS, ("dpe_1se", "pe"), _FOLD_WAYS):
        part = f"folds/{function}"
        if not rows.has(part):
            continue
        record: dict[str, Any] = {
            "function": FUNCTIONS[function],
            "choice": choice.replace("_1se", " 1SE"),
        }
        record |= {"folds": way, "against": _FOLD_WAYS[way]}
        for score, label in SCORES.items():
            one, other = (
                rows.by_repetition(part, f"{choice}_{name}", score)
                for name in (way, _FOLD_WAYS[way])
            )
            logs = 100.0 * pd.Series(np.log(one / other)).dropna()
            record |= {"repetitions": len(logs), label: logs.mean(), f"{label} SE": logs.sem()}
        found.append(record)
    if not found:
        raise MissingRowsError("no rows of folds")
    return pd.DataFrame(found)


def _need(rows: Rows, study: str) -> None:
    """Raise a MissingRowsError unless there are rows of a study."""
    if study not in rows.studies():
        raise MissingRowsError(f"no rows of {study}")


def settings(rows: Rows) -> pd.DataFrame:
    """Return the paper's table of functions and sizes, which are the study's own."""
    _need(rows, "simulation")
    return pd.DataFrame(
        [
            {"function": name, "d": get_function(f).dimension, "n": n, "n_test": m}
            for (f, name), (n, m) in zip(FUNCTIONS.items(), SIZES.values(), strict=True)
        ]
    )


def piston_slap_table(rows: Rows) -> pd.DataFrame:
    """Return the 12 runs of Appendix D."""
    _need(rows, "piston-slap")
    data = load_piston_slap()
    names = [f"x{p}" for p in range(1, data.X.shape[1] + 1)]
    return pd.DataFrame(data.X, columns=names).assign(**{"noise (dB)": data.y})


def printed_functions(rows: Rows) -> pd.DataFrame:
    """Return how far the functions as printed are from the usual ones."""
    metrics = ("ratio_median", "correlation", "undefined")
    return pd.DataFrame(
        [
            {"function": name}
            | {m: rows.number("limits/printed-formulas", name, m) for m in metrics}
            for name in ("piston", "borehole")
        ]
    )


def limits(rows: Rows) -> pd.DataFrame:
    """Return every formula of the limits beside what is computed nearest to the limit."""
    found = []
    for part, metric, held_out, formula in rows.formulas("limits"):
        computed = rows.pick(f"limits/{part}", "computed", metric)
        near = computed[computed["repetition"] == held_out].iloc[-1]
        found.append(
            {
                "limit": part,
                "quantity": metric,
                "fold": held_out + 1,
                "theta": near["x"],
                "formula": formula,
                "computed": near["value"],
                "difference": near["value"] - formula,
            }
        )
    if not found:
        raise MissingRowsError("no rows of limits")
    return pd.DataFrame(found)
