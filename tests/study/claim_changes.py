"""For every claim of the paper a change of `paper_rows` that refutes it, for its tests."""

from collections.abc import Callable

import numpy as np
import pandas as pd

from tests.study.paper_rows import LAST, near

Change = Callable[[pd.DataFrame], None]


def put(
    part: str,
    method: str,
    metric: str,
    value: float | Callable[[pd.Series], pd.Series],
    **where: float,
) -> Change:
    """Return a change of the value of some rows; the rows have to exist."""
    study, function = part.split("/")

    def change(frame: pd.DataFrame) -> None:
        chosen = (frame["study"] == study) & (frame["function"] == function)
        chosen &= (frame["method"] == method) & (frame["metric"] == metric)
        for column, wanted in where.items():
            chosen &= np.isclose(frame[column], wanted)
        assert chosen.any()
        values = frame.loc[chosen, "value"]
        frame.loc[chosen, "value"] = value(values) if callable(value) else value

    return change


def lam(part: str, method: str, wanted: float) -> Change:
    """Return a change of the lambda that a method of the simulation chooses."""
    study, function = part.split("/")

    def change(frame: pd.DataFrame) -> None:
        chosen = (frame["study"] == study) & (frame["function"] == function)
        frame.loc[chosen & (frame["method"] == method), "lam"] = wanted

    return change


def plus(amount: float) -> Callable[[pd.Series], pd.Series]:
    """Return the addition of a number."""
    return lambda values: values + amount


def scaled(factor: float) -> Callable[[pd.Series], pd.Series]:
    """Return the multiplication by a number."""
    return lambda values: values * factor


def all_of(*changes: Change) -> Change:
    """Return several changes, one after the other."""

    def change(frame: pd.DataFrame) -> None:
        for one in changes:
            one(frame)

    return change


def shorter_grid(frame: pd.DataFrame) -> None:
    """Let the grid of lambda end elsewhere."""
    frame.loc[frame["lam"] == LAST, "lam"] = 5.0


SURROGATES, LOO, FOLDS = "forrester/surrogates", "forrester/loo", "forrester/folds"
ISO, ANISO = "piston-slap/isotropic", "piston-slap/anisotropic"
FUNCTIONS = ("lim", "franke", "piston", "borehole")

FLIPS: dict[str, Change] = {
    "forrester-grid": shorter_grid,
    "forrester-nugget-defines-likelihood": put(
        "forrester/profiles", "fixed_nugget", "loglik", -np.inf, x=0.001
    ),
    "forrester-theta-mle": put(SURROGATES, "mle", "theta", 998.0),
    "forrester-mle-useless": put(SURROGATES, "pmle", "upper", plus(3.0)),
    "forrester-theta-nugget": all_of(
        put(SURROGATES, "mle_nugget", "theta", 900.0),
        put(SURROGATES, "mle_nugget_printed", "loglik", -7.9),
    ),
    "forrester-nugget-reins-in": put(SURROGATES, "mle_nugget", "theta", 1000.0),
    "forrester-nugget-at-runs": put(SURROGATES, "mle_nugget_printed", "mean", plus(-0.45)),
    "forrester-theta-penalized": put(SURROGATES, "pmle", "theta", 27.435),
    "forrester-penalized-superior": put(SURROGATES, "pmle", "mean", plus(1.0)),
    "forrester-nfold-theta": put("forrester/path", "pmle", "theta", 10.562, lam=near(0.0231)),
    "forrester-nfold-improves": put(SURROGATES, "pe", "mean", plus(1.0)),
    "forrester-nfold-coverage": put(SURROGATES, "pe", "lower", plus(-1.0)),
    "forrester-1se-theta": put(SURROGATES, "pe_1se", "theta", 0.002),
    "forrester-1se-surrogate": put(SURROGATES, "pe_1se", "upper", plus(-3.9)),
    "forrester-nfold-interpolates": put(SURROGATES, "pe", "mean", plus(0.02)),
    "forrester-nfold-lambda": put(LOO, "pe", "chosen", near(0.0461)),
    "forrester-nfold-1se": put(LOO, "pe_1se", "chosen", near(1.0)),
    "forrester-fold-8-largest": put(LOO, "pe", "cv_fold", 9.0, x=7.0, lam=LAST),
    "forrester-fold-8-constant": put(LOO, "pe", "cv_fold", 10.1, x=8.0, lam=LAST),
    "forrester-fold-7-changes-most": put(LOO, "pe", "cv_fold", 12.0, x=8.0, lam=LAST),
    "forrester-run-7": put(LOO, "without_7", "response", 1.0361),
    "forrester-run-7-lambda": put(LOO, "fold", "chosen", near(0.0581)),
    "forrester-run-7-missed": put(LOO, "without_7", "upper", plus(2.0)),
    "forrester-4fold-inconsistent": put(FOLDS, "md", "chosen", 0.0),
    "forrester-pe-smooth": put(FOLDS, "pe", "chosen", near(0.0046)),
    "forrester-pe-gap": put(FOLDS, "pe", "chosen", near(0.2921), repetition=3),
    "forrester-md-like-score": put(FOLDS, "score", "cv_mean", plus(10.0)),
    "forrester-md-gap": put(FOLDS, "md", "chosen", near(0.0366), repetition=3),
    "forrester-score-gap": put(FOLDS, "score", "chosen", near(0.0461), repetition=3),
    "forrester-dpe-curves": put(FOLDS, "dpe", "cv_mean", 1.0, repetition=3, lam=LAST),
    "forrester-dpe-less-variable": put(FOLDS, "dpe", "cv_se", scaled(2.6)),
    "forrester-theta-drops": put(FOLDS, "folds", "theta_mean", 4.0, lam=near(0.1462)),
    "forrester-dpe-zero": put(FOLDS, "dpe", "chosen", near(0.0009), repetition=3),
    **{
        f"forrester-{m}-1se-end": all_of(
            *(put(FOLDS, f"{m}_1se", "chosen", near(0.029), repetition=r) for r in range(3))
        )
        for m in ("pe", "md", "score")
    },
    "forrester-dpe-1se": put(FOLDS, "dpe_1se", "chosen", near(0.0921), repetition=3),
    "simulation-small-lambdas": lam("simulation/franke", "dpe_1se", near(0.2)),
    "simulation-large-lambdas": lam("simulation/piston", "score", near(0.005)),
    "simulation-conservative": lam("simulation/borehole", "dpe", near(0.005)),
    "piston-slap-isotropic-mle": all_of(
        put(f"{ISO}-path", "pmle", "theta", 25.0, lam=0.0),
        put(f"{ISO}-path", "plateau", "loglik", -14.4),
    ),
    "piston-slap-isotropic-mle-scores": put(f"{ISO}-test", "plateau", "crps", 0.507),
    "piston-slap-isotropic-nfold": put(f"{ISO}-loo", "pe", "chosen", near(0.0009)),
    "piston-slap-isotropic-pe-zero": put(ISO, "pe", "chosen", near(0.0009), repetition=3),
    "piston-slap-isotropic-dpe-zero": put(ISO, "dpe", "chosen", near(0.0009), repetition=3),
    "piston-slap-isotropic-1se-rmse": put(ISO, "dpe_1se", "chosen", 0.0, repetition=3),
    "piston-slap-isotropic-1se-crps": put(ISO, "dpe_1se", "chosen", 0.0, repetition=3),
    "piston-slap-isotropic-1se-varies": put(ISO, "dpe_1se", "chosen", near(0.0231)),
    "piston-slap-isotropic-best": put(ISO, "dpe_1se", "chosen", near(0.0921)),
    "piston-slap-isotropic-estimates": put(f"{ISO}-path", "pmle", "theta", 1.403, lam=near(0.116)),
    "piston-slap-anisotropic-mle": put(f"{ANISO}-path", "pmle", "theta", 4.1, lam=0.0, x=1.0),
    "piston-slap-anisotropic-mle-scores": put(f"{ANISO}-test", "pmle", "rmse", 0.77, lam=0.0),
    "piston-slap-anisotropic-nfold": put(f"{ANISO}-loo", "pe", "chosen", 0.0),
    "piston-slap-anisotropic-nfold-estimates": put(
        f"{ANISO}-path", "pmle", "sigma2", 1.25, lam=near(0.00577)
    ),
    "piston-slap-anisotropic-nfold-scores": put(
        f"{ANISO}-test", "pmle", "crps", 0.51, lam=near(0.00577)
    ),
    "piston-slap-anisotropic-best-estimates": put(
        f"{ANISO}-path", "pmle", "theta", 0.001, lam=near(0.0581), x=4.0
    ),
    "piston-slap-anisotropic-best-rmse": put(
        f"{ANISO}-test", "pmle", "rmse", 0.44, lam=near(0.0581)
    ),
    "piston-slap-anisotropic-median": put(ANISO, "pe", "chosen", 0.0),
    "piston-slap-anisotropic-reordered": put(
        f"{ANISO}-path", "pmle", "theta", 0.1, lam=near(0.0581), x=4.0
    ),
    "limits-at-run": put("limits/infinity-runs", "computed", "mean_at_run", plus(0.01)),
    "limits-sigma2-infinity-printed": put("limits/infinity-runs", "computed", "sigma2", 2.0),
    "limits-sigma2-zero-printed": put("limits/zero-runs", "computed", "sigma2", 2.0),
    "limits-covariance-printed": put("limits/zero-runs", "computed", "variance", 0.98),
    "limits-smallest-lambda": put("limits/kkt-forrester", "formula", "lambda_max", 3019.7),
}

for score in ("rmse", "crps"):
    FLIPS |= {
        f"simulation-dpe-near-mle-{score}": put("simulation/lim", "dpe", score, scaled(1.1)),
        f"simulation-md-score-worst-{score}": put("simulation/franke", "md", score, scaled(0.8)),
        f"simulation-pe-lim-{score}": put("simulation/lim", "pe", score, scaled(1.02)),
        f"simulation-pe-others-{score}": put("simulation/franke", "pe", score, scaled(0.9)),
        **{
            f"simulation-1se-{f}-{score}": put(
                f"simulation/{f}", "dpe_1se", score, scaled(0.9 if f == "franke" else 1.1)
            )
            for f in FUNCTIONS
        },
        f"simulation-1se-consistent-{score}": put(
            "simulation/piston", "dpe_1se", score, scaled(1.1)
        ),
        f"simulation-1se-franke-mostly-{score}": put(
            "simulation/franke", "dpe_1se", score, scaled(0.9)
        ),
        f"simulation-dpe-beats-{score}": put("simulation/piston", "pe", score, scaled(0.9)),
        f"simulation-dpe-1se-beats-{score}": put("simulation/lim", "dpe_1se", score, scaled(1.1)),
        f"simulation-nugget-varies-{score}": put(
            "simulation/borehole", "mle_nugget", score, scaled(1.2)
        ),
        f"simulation-none-matches-{score}": put("simulation/lim", "dpe_1se", score, scaled(0.8)),
        f"simulation-reliable-{score}": put("simulation/lim", "dpe", score, scaled(1.2)),
        f"simulation-scad-{score}": put("simulation-scad/lim", "dpe", score, scaled(1.1)),
        f"piston-slap-anisotropic-worse-{score}": put(ANISO, "dpe", "chosen", near(0.00577)),
        f"piston-slap-anisotropic-degradation-{score}": put(
            f"{ANISO}-test", "pmle", score, 0.9, lam=near(0.00577)
        ),
        f"piston-slap-anisotropic-improves-{score}": put(ANISO, "dpe", "chosen", near(0.0581)),
        f"piston-slap-anisotropic-significant-{score}": put(
            f"{ANISO}-test", "pmle", score, {"rmse": 0.75, "crps": 0.49}[score], lam=near(0.0581)
        ),
    }
for name, part, metric in (
    ("zero-inverse", "zero", "inverse_off_diagonal"),
    ("zero-mean", "zero", "mean"),
    ("zero-mean-runs", "zero-runs", "mean"),
    ("zero-covariance", "zero", "log_determinant"),
    ("zero-sigma2", "zero", "sigma2"),
    ("zero-md", "zero", "md"),
    ("zero-score", "zero", "score"),
    ("zero-dpe", "zero", "dpe"),
    ("zero-pe", "zero", "pe"),
    ("zero-nfold-pe", "zero-loo", "pe"),
    ("infinity-inverse", "infinity", "inverse_diagonal"),
    ("infinity-prediction", "infinity", "scaled_covariance"),
    ("infinity-pe", "infinity", "pe"),
    ("infinity-md", "infinity", "md"),
    ("infinity-dpe", "infinity", "dpe"),
):
    count_of_folds = {"zero-runs": 1, "zero-loo": 8}.get(part, 4)
    FLIPS[f"limits-{name}"] = put(
        f"limits/{part}", "computed", metric, plus(3e-4), repetition=count_of_folds - 1
    )
