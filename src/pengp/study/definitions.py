"""The studies of the paper as data: their parts, their sizes, and what their rows mean.

A task is one repetition of one part of a study; `Task.function` names the part. A size says how
many repetitions of each part are run and nothing else: a task gives the same rows in every size,
the tasks of "tiny" are among those of "quick", and these among those of "paper".

Inputs are in the unit cube and responses standardised by the runs (mean 0, standard deviation 1,
ddof = 1) unless said otherwise. Values of lambda are those of `pengp.path.lambda_grid()`, equal to
the bit in all tasks, so rows can be joined on ``lam``; 0.005 in the Forrester study is the one
exception. ``x`` and ``lam`` are None where nothing is said of them. Folds, runs, inputs and
partitions are counted from 1. ``seconds`` is the time of the fits and cross-validations that a
method rests on, shared ones included.

Rows of every cross-validation (``forrester/loo``, ``forrester/folds``, ``piston-slap``), with the
methods "pe", "md", "score", "dpe":

============  =============  ===============================================================
method        metric         value
============  =============  ===============================================================
"pe"...       "cv_mean"      C(lambda), mean over the folds; one row for each ``lam``
"pe"...       "cv_se"        SE(lambda); one row for each ``lam``
"pe"...       "cv_fold"      the metric of fold ``x`` at ``lam`` (``forrester/loo`` only)
"pe"...       "chosen"       lambda*, the best one; ``lam`` is the same number
"pe_1se"...   "chosen"       lambda_1SE by the same metric; ``lam`` is the same number
"folds"       "theta"        theta-hat without fold ``x`` at ``lam`` (``forrester`` only)
"folds"       "theta_mean"   its mean over the folds at ``lam`` (``forrester`` only)
"folds"       "fold"         fold in which run ``x`` is held out
============  =============  ===============================================================

forrester
---------
Data behind Figures 1 to 5: 8 runs, nugget 1e-5.

``profiles`` (Figure 1a), ``x`` is theta, 241 values from 0.001 to 1000
    metric "loglik", methods "no_nugget" (g = 0; -inf where R has no factor), "fixed_nugget"
    (g = 1e-5) and "estimated_nugget" (the largest over g); method "estimated_nugget", metric
    "nugget": that g; method "penalized", metric "objective": Q at ``lam`` = 0.005, g = 1e-5.
``surrogates`` (Figure 1b to 1f), ``x`` is the input, 281 values, every 40th a run
    methods "mle" (1b), "mle_nugget" (1c, estimated g), "pmle" (1d, lambda = 0.005), "pe" (1e,
    n-fold lambda*), "pe_1se" (1f), each with its ``lam``; metrics "mean", "lower" and "upper" (ends
    of the 95 % interval) at ``x``; "theta", "sigma2", "nugget" and "loglik", one row each. The same
    of "mle_nugget_printed" (theta = 922.203, which the paper prints for 1c, and the most likely g
    there), "pe_printed" (lambda = 0.0231, which it prints for 1e), and of "pmle_theta" and
    "pe_printed_theta" (theta = 27.444 and 10.565, as printed for 1d and 1e). Method "truth", metric
    "response": the function at ``x``; method "runs", metric "response": the 8 runs.
``loo`` (Figures 2 and 3)
    the cross-validation rows, n-fold. Method "fold", metric "chosen": the lambda of the least PE in
    fold ``x``. Method "without_7", ``lam`` the one of the least PE in fold 7: the surrogate from
    the other 7 runs, metrics as in ``surrogates``; metric "response": the held-out run 7 at its
    input ``x``. Method "without_7_printed": the same at lambda = 0.0461, which the paper prints.
``search-loo``, repetition = 20 seeds of the paper's search, ``x`` the seed; ``lam`` None
    n-fold with the best of ten random starts, drawn for every fold and lambda (odd seeds) or kept
    for all lambdas of a fold (even seeds): methods "pe", "pe_1se", metric
    "chosen"; method "pe", metric "rising" (as in ``partitions``); method "fold", metrics "best_7"
    (lambda of the least PE in fold 7), "ratio_8" (largest over smallest PE of fold 8),
    "largest_span" and "second_largest" (the fold whose PE changes most; whose mean PE is second).
``search-folds``, repetition = one seed, ``x`` one of 20 random draws of 4 folds; ``lam`` None
    the same search, its starts kept in odd repetitions: "chosen" and "rising" of every metric.
``folds`` (Figures 4 and 5), repetition = one random draw of 4 folds of 2 runs
    the cross-validation rows.
``partitions``
    all 105 partitions into four pairs: metric "chosen", methods "pe", "md", "score", "dpe",
    "root_dpe" and the same with "_1se"; metric "rising", methods "pe", "md", "score", "dpe": 1 if
    the mean over folds is higher at every lambda > 0.073 than at every smaller one, else 0; ``x``
    is the partition, ``lam`` None.
``path``
    the estimates from all runs: method "pmle" at every ``lam``, metrics "variance" (predictive,
    mean over the 281 inputs), "theta", "sigma2", "loglik", "objective", "flat_lower" and
    "flat_upper" (the stretch of theta on which log L is within 1e-4 of its maximum).

simulation, simulation-scad
---------------------------
Figure 6, with the lasso and with the SCAD penalty: parts ``lim``, ``franke``, ``piston``,
``borehole``; a repetition is a new Latin hypercube of runs, one of test runs, and five new folds,
the same in both studies.

Methods "mle", "mle_ten_starts" (what the paper's search, the best of 10 random starts, takes for
it), "mle_nugget" (estimated g), "pe", "md", "score", "dpe", "dpe_1se", "pmle_star" (the lambda of
the least test RMSE, for both metrics), each with its ``lam`` (0 for the first three);
metrics "rmse", "crps" in the response's unit, "coverage" of the 95 % intervals on the test runs,
and "nugget" (method "mle_nugget" only).

piston-slap
-----------
Section 5 (``isotropic``) and Appendix E (``anisotropic``): 12 runs, nugget 1e-5.

``runs``
    method "runs", ``x`` the input: "unique_values" (how many) and "sd_over_range".

With M either model:

``M-path``
    method "pmle" at every ``lam``: "theta" and "flat_lower", "flat_upper" of input ``x`` (1 to 6;
    isotropic: one row, ``x`` None), "sigma2", "loglik", "objective". Isotropic only: method
    "plateau", ``lam`` = 0: the same at theta = 18.992, which the paper prints; its flat stretch is
    left out.
``M-loo``
    the cross-validation rows, n-fold.
``M``, repetition = one random draw of 4 folds of 3 runs (Figure 7, appendix figure)
    the cross-validation rows without "cv_mean" and "cv_se"; the paper's methods are "pe", "dpe"
    and "dpe_1se".
``M-partitions``
    all 15,400 partitions into four folds: metric "share", the share of them that choose ``lam``,
    methods as in ``M`` and the same with "_1se".
``M-test``, only where test runs are given
    method "pmle" at every ``lam`` (and "plateau" for the isotropic model, ``lam`` = 0): "rmse",
    "crps", "coverage" of the 95 % intervals on the test runs; responses are standardised by the
    training runs.

limits
------
The limiting forms of Section 3 and Appendix B on the Forrester runs, nugget 1e-5, and the bound of
Appendix A: method "formula" (``x`` None: the limit), "approximation" (``x`` None: the paper's
simpler form, without g beside 1 or n_t, where it gives one) and "computed" at theta = ``x``, from
far to near. Repetitions count the held-out folds or runs from 0.

``zero`` and ``infinity``, 4 folds of 2 runs, theta to 0 and to infinity
    "inverse_diagonal", "inverse_off_diagonal" (of the training runs' R^-1); "mean" (of the first
    held-out run), "scaled_variance", "scaled_covariance" and "log_determinant" (of the scaled
    covariance) of the held-out runs; "sigma2", "pe", "md", "score", "dpe".
``zero-loo``, repetition = one run held out
    "pe".
``zero-runs``, ``infinity-runs``
    the surrogate from all runs: "sigma2"; "mean", "scaled_variance" and "variance" (sigma2 times
    the former) midway between the first two runs; ``infinity-runs`` also "mean_at_run" and
    "scaled_variance_at_run" at run 7.
``kkt-forrester``, ``kkt-piston-slap``
    "lambda_max", the bound of Appendix A; ``kkt-piston-slap`` is anisotropic.
``model``, ``x`` one of 4000 data sets drawn from the model, every second of 8 runs held out
    method "true": "sigma2_ratio", DPE / (n_v sigma2), and "md", with the true theta and sigma2, and
    "n_v"; method "estimated": "md" with sigma2 estimated from the other runs.
``printed-formulas``, methods "piston" and "borehole"
    the functions as Appendix C prints them against the usual ones on 1000 inputs: "ratio_median"
    (printed over usual), "correlation", and "undefined" (share of inputs without a value).

folds
-----
Not of the paper, but its discussion's proposal: parts as in ``simulation``; a repetition is a
random and a sliced Latin hypercube with the same test runs. Methods are "dpe_1se" and "pe", each
followed by "_random", "_repeated", "_stratified", "_space_filling" (on the random design),
"_sliced" and "_sliced_random" (on the sliced one); metrics "rmse", "crps", "coverage".

methods, methods-rivals, methods-real, methods-rivals-real
----------------------------------------------------------
Not of the paper: ways to fit, compared. Parts are test functions or, where the name ends in
"-real", simulator.response.runs with the responses counted from 1; a repetition is a new design,
the same with and without "-rivals". The part ``piston-slap`` of the first two, only where test runs
are given, predicts them from the 12 piston-slap runs. The methods are those of
`pengp.study.methods.catalogue`, variants on every fifth design of a function and every third
subset of a simulator's runs only; metrics "rmse", "crps" and "interval_score" of the standardised
response, and "coverage" of the 95 % intervals, on test runs. ``x`` and ``lam`` are None.

decisions, decisions-real
-------------------------
Not of the paper: what is said of a fitted model, against what is known of its function.

``effects-F``, F a test function, repetition = one design of 15, 25 or 40 runs in turns
    methods "first" and "total" (Sobol indices), input ``x``: metrics "truth", "mean" (the posterior
    mean), "width" of the 90 % interval and "covered" (1 if it contains the truth, to 0.002).
``next-F``, F a test function or, of ``decisions-real``, a simulator
    runs are doubled from 2d to 4d in four batches of rows of a table; the methods are those of
    `pengp.study.next_runs.WAYS`, metric "rmse" on a third of the rows that was set apart before, in
    their standard deviation. ``x`` and ``lam`` are None.
"""

from difflib import get_close_matches

from pengp.exceptions import InputError
from pengp.study.base import Study, sizes_of
from pengp.study.methods.sizes import (
    FUNCTION_RUNS,
    NEXT_FUNCTIONS,
    NEXT_SIMULATORS,
    PISTON_SLAP,
    SIMULATOR_PARTS,
)

#: Parts of the study of decisions about effects.
EFFECT_PARTS = ("effects-ishigami", "effects-friedman", "effects-otl_circuit", "effects-piston")


def _simulation(name: str, penalty: str) -> Study:
    """Return the simulation study with a penalty."""
    return Study(
        name,
        f"Numerical studies ({penalty} penalty)",
        "RMSE and CRPS of eight ways to estimate theta, relative to the penalty that is best on "
        "the test runs: four test functions, 10 or 15 runs, 5 folds (Section 4, Figure 6).",
        sizes_of("", **dict.fromkeys(("lim", "franke", "piston", "borehole"), (2, 10, 100))),
    )


_FORRESTER = Study(
    "forrester",
    "The Forrester function",
    "Eight runs of one input on which maximum likelihood fails: profile likelihoods, surrogates, "
    "and cross-validation with PE, MD, Score and DPE (Sections 1 and 3, Figures 1 to 5).",
    sizes_of(
        "profiles surrogates loo path partitions",
        **{"folds": (2, 20, 20), "search-loo": (0, 0, 100), "search-folds": (0, 0, 100)},
    ),
)
_PISTON_SLAP = Study(
    "piston-slap",
    "Piston slap noise",
    "Twelve runs of six inputs: estimates, n-fold cross-validation and 100 random draws of four "
    "folds, with an isotropic and an anisotropic kernel (Section 5, Appendix E).",
    sizes_of(
        "runs isotropic-path isotropic-loo anisotropic-path anisotropic-loo",
        **{
            "isotropic": (2, 20, 100),
            "anisotropic": (2, 20, 100),
            "isotropic-partitions": (0, 0, 1),
            "anisotropic-partitions": (0, 0, 1),
        },
    ),
    ("isotropic-test", "anisotropic-test"),
)
_LIMITS = Study(
    "limits",
    "Limiting forms",
    "What the estimates, predictions and metrics tend to as theta goes to 0 or to infinity: the "
    "formulas against the computation (Section 3, Appendices A and B).",
    sizes_of(
        "zero-runs infinity-runs kkt-forrester kkt-piston-slap model printed-formulas",
        **{"zero": (4, 4, 4), "infinity": (4, 4, 4), "zero-loo": (8, 8, 8)},
    ),
)
_FOLD_DESIGNS = Study(
    "folds",
    "Structured folds",
    "Does structuring the folds help? Random, repeated, stratified and space-filling folds, and "
    "sliced designs whose slices are the folds, on the functions of Section 4 (Section 6).",
    sizes_of("", **dict.fromkeys(("lim", "franke", "piston", "borehole"), (1, 10, 100))),
    is_paper=False,
)
_METHODS = Study(
    "methods",
    "Ways to fit",
    "Every way to fit that pengp has, on the same random designs of twelve test functions.",
    sizes_of("", **dict.fromkeys(FUNCTION_RUNS, (1, 10, 100))),
    (PISTON_SLAP,),
    is_paper=False,
)
_RIVALS = Study(
    "methods-rivals",
    "Ways to fit, other packages",
    "scikit-learn and libKriging on the designs of the study `methods`.",
    _METHODS.sizes,
    _METHODS.test_parts,
    is_paper=False,
)
_SIMULATORS = Study(
    "methods-real",
    "Ways to fit, real simulators",
    "Every way to fit that pengp has, on subsets of runs of real simulators (--real FOLDER).",
    sizes_of("", **dict.fromkeys(SIMULATOR_PARTS, (1, 3, 10))),
    is_paper=False,
)
_RIVALS_REAL = Study(
    "methods-rivals-real",
    "Other packages, real simulators",
    "scikit-learn and libKriging on the runs of the study `methods-real` (--real FOLDER).",
    _SIMULATORS.sizes,
    is_paper=False,
)
_DECISIONS = Study(
    "decisions",
    "Decisions",
    "Whether the 90 % intervals of Sobol indices contain the true ones, and whether proposed runs "
    "help more than others, on random designs.",
    sizes_of(
        "",
        **dict.fromkeys(EFFECT_PARTS, (1, 3, 40)),
        **dict.fromkeys(NEXT_FUNCTIONS, (1, 2, 12)),
    ),
    is_paper=False,
)
_DECISIONS_REAL = Study(
    "decisions-real",
    "Decisions, real simulators",
    "Whether proposed runs help more than others, on runs of real simulators (--real FOLDER).",
    sizes_of("", **dict.fromkeys(NEXT_SIMULATORS, (1, 2, 12))),
    is_paper=False,
)

#: Every study by its name.
STUDIES: dict[str, Study] = {
    study.name: study
    for study in (
        _FORRESTER,
        _simulation("simulation", "lasso"),
        _simulation("simulation-scad", "SCAD"),
        _PISTON_SLAP,
        _LIMITS,
        _FOLD_DESIGNS,
        _METHODS,
        _RIVALS,
        _SIMULATORS,
        _RIVALS_REAL,
        _DECISIONS,
        _DECISIONS_REAL,
    )
}


def get_study(name: str) -> Study:
    """Return the study called `name`; an InputError suggests the closest name if there is none.

    Examples
    --------
    >>> from pengp.study import get_study
    >>> get_study("forrester").name
    'forrester'
    """
    if name in STUDIES:
        return STUDIES[name]
    close = get_close_matches(str(name).lower(), STUDIES, n=1, cutoff=0.0)
    raise InputError(
        f"no study {name!r}; did you mean {close[0]!r}? The studies are {', '.join(STUDIES)}."
    )
