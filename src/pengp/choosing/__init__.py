"""Choosing lambda: folds, metrics, rules and the cross-validated table; scores of predictions."""

from typing import TYPE_CHECKING

from pengp._core.lazy import lazily

if TYPE_CHECKING:
    from pengp.choosing.crossval import CVTable, cross_validate_path
    from pengp.choosing.external import external_sigma2, mahalanobis_p_value
    from pengp.choosing.folds import (
        FoldsLike,
        from_splitter,
        given_folds,
        leave_one_out,
        make_folds,
        random_folds,
        space_filling_folds,
        stratified_folds,
    )
    from pengp.choosing.jackknife import jackknife_plus
    from pengp.choosing.laws import NormalLaw
    from pengp.choosing.metrics import (
        FOLD_METRICS,
        FoldFunction,
        FoldMetric,
        FoldParts,
        MetricLike,
        fold_metrics,
        get_metric,
    )
    from pengp.choosing.plan import FoldPlan
    from pengp.choosing.rules import (
        RULES,
        Rule,
        RuleFunction,
        RuleLike,
        best_index,
        get_rule,
        mean_and_se,
        one_se_index,
        select_index,
    )
    from pengp.choosing.scores import (
        coverage,
        crps_normal,
        crps_normal_values,
        crps_student_t,
        crps_student_t_values,
        interval_score,
        interval_score_values,
        log_score,
        log_score_values,
        q2,
        rmse,
    )
    from pengp.choosing.validation import VALIDATION_SCORES, Law, ValidationScore

__all__ = [
    "FOLD_METRICS",
    "RULES",
    "VALIDATION_SCORES",
    "CVTable",
    "FoldFunction",
    "FoldMetric",
    "FoldParts",
    "FoldPlan",
    "FoldsLike",
    "Law",
    "MetricLike",
    "NormalLaw",
    "Rule",
    "RuleFunction",
    "RuleLike",
    "ValidationScore",
    "best_index",
    "coverage",
    "cross_validate_path",
    "crps_normal",
    "crps_normal_values",
    "crps_student_t",
    "crps_student_t_values",
    "external_sigma2",
    "fold_metrics",
    "from_splitter",
    "get_metric",
    "get_rule",
    "given_folds",
    "interval_score",
    "interval_score_values",
    "jackknife_plus",
    "leave_one_out",
    "log_score",
    "log_score_values",
    "mahalanobis_p_value",
    "make_folds",
    "mean_and_se",
    "one_se_index",
    "q2",
    "random_folds",
    "rmse",
    "select_index",
    "space_filling_folds",
    "stratified_folds",
]

__getattr__, __dir__ = lazily(
    globals(),
    {
        "crossval": ["CVTable", "cross_validate_path"],
        "external": ["external_sigma2", "mahalanobis_p_value"],
        "folds": [
            "FoldsLike",
            "from_splitter",
            "given_folds",
            "leave_one_out",
            "make_folds",
            "random_folds",
            "space_filling_folds",
            "stratified_folds",
        ],
        "jackknife": ["jackknife_plus"],
        "laws": ["NormalLaw"],
        "metrics": [
            "FOLD_METRICS",
            "FoldFunction",
            "FoldMetric",
            "FoldParts",
            "MetricLike",
            "fold_metrics",
            "get_metric",
        ],
        "plan": ["FoldPlan"],
        "rules": [
            "RULES",
            "Rule",
            "RuleFunction",
            "RuleLike",
            "best_index",
            "get_rule",
            "mean_and_se",
            "one_se_index",
            "select_index",
        ],
        "scores": [
            "coverage",
            "crps_normal",
            "crps_normal_values",
            "crps_student_t",
            "crps_student_t_values",
            "interval_score",
            "interval_score_values",
            "log_score",
            "log_score_values",
            "q2",
            "rmse",
        ],
        "validation": ["VALIDATION_SCORES", "Law", "ValidationScore"],
    },
)
