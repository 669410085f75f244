"""What is told about a fitted model, as tables for a reader and as a record for JSON."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pengp._core.progress import part
from pengp._core.registry import name_of
from pengp.cli.levels import extent
from pengp.cli.printing import facts, number, paragraph, table

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pengp.diagnostics import Diagnosis, GoodEnough
    from pengp.estimators.path_view import Mode
    from pengp.estimators.view import FittedView

#: Scores that are shown.
_SHOWN_SCORES = ("rmse", "q2", "crps", "coverage", "interval_score")
#: Other modes that are shown.
_MOST_MODES = 5


@dataclass(frozen=True, eq=False)
class Summary:
    """One response of a fitted model, and its diagnosis."""

    view: "FittedView"
    diagnosis: "Diagnosis"
    good_enough: "GoodEnough | None" = None

    @classmethod
    def of(cls, view: "FittedView", tolerance: float | None = None) -> "Summary":
        """Diagnose a response of a model, for a tolerance if given."""
        from pengp.diagnostics import diagnose_view
        from pengp.diagnostics.tolerance import good_enough_view

        enough = None if tolerance is None else good_enough_view(view, tolerance)
        return cls(view, diagnose_view(view), enough)

    def parts(self) -> "list[RenderableType]":
        """Return everything as texts and tables, to be printed below each other."""
        if not self.view.is_penalized:
            from pengp.cli.average_summary import average_parts

            own = average_parts(self.view)
            return [facts(self._facts()), "", *self._accuracy(), *own, *self._warnings()]
        return [
            facts(self._facts()),
            "",
            self._input_table(),
            "",
            *self._accuracy(),
            *self._mode_table(),
            *self._warnings(),
        ]

    def record(self) -> dict[str, Any]:
        """Return everything as numbers and names."""
        from pengp.cli.average_summary import average_record

        view, diagnosis = self.view, self.diagnosis
        columns = zip(
            view.names,
            view.theta,
            view.lengthscale,
            view.active,
            view.input_transforms,
            strict=True,
        )
        return {
            "response": view.response,
            "modelled": view.modelled,
            "runs": len(view.y),
            **({} if view.noise_sd is None else {"noise_sd": view.noise_sd}),
            **(self._of_path() if view.is_penalized else average_record(view)),
            "inputs": [
                {
                    "name": name,
                    "theta": theta,
                    "lengthscale": length,
                    "active": bool(active),
                    "scale": transform.of(name),
                }
                for name, theta, length, active, transform in columns
            ],
            "held_out": None
            if diagnosis.held_out is None
            else {**diagnosis.held_out.scores(), "how": diagnosis.held_out.how},
            "leave_one_out": {**diagnosis.scores, "level": diagnosis.level}
            if view.is_penalized
            else None,
            **({} if self.good_enough is None else {"tolerance": self.good_enough.record()}),
            "other_modes": [
                {"below": mode.deficit, "theta": self._by_input(mode)}
                for mode in diagnosis.modes[1:]
            ],
            "lambda_of_repeats": diagnosis.stability,
            "findings": [finding._asdict() for finding in diagnosis.findings],
        }

    def _of_path(self) -> dict[str, Any]:
        """Return the estimates of a penalized fit."""
        model, own = self.view.estimator, self.view.own
        return {
            "method": "penalized",
            "lambda": {"value": self.view.lam, **self._choice()},
            "sigma2": own(model.sigma2_),
            "sigma_in_unit_of_response": self.view.sigma,
            "nugget": own(model.nugget_),
            "mean": own(model.mean_),
            "kernel": name_of(model.kernel),
            "penalty": name_of(model.penalty),
            "isotropic": model.isotropic,
        }

    def _facts(self) -> list[tuple[str, str]]:
        """Return what is said before the tables."""
        about = self._path_facts() if self.view.is_penalized else []
        scales = [t.of(n) for t, n in zip(self.view.input_transforms, self.view.names, strict=True)]
        shown = [s for s, name in zip(scales, self.view.names, strict=True) if s != name]
        shown += [self.view.modelled] if self.view.modelled != self.view.response else []
        return [
            ("Response", f"{self.view.response}, {len(self.view.y)} runs"),
            *([("Scales", f"modelled on the scales {', '.join(shown)}")] if shown else []),
            *([("Noise", self.view.noise_words)] if self.view.noise_words else []),
            *about,
        ]

    def _path_facts(self) -> list[tuple[str, str]]:
        """Return what is said of a penalized fit."""
        from pengp.model.kernels import KERNELS
        from pengp.model.means import MEANS
        from pengp.path.penalties import PENALTIES

        view, model = self.view, self.view.estimator
        sigma2, g = view.own(model.sigma2_), view.own(model.nugget_)
        nugget = f"{number(g)}{' (estimated)' if model.nugget == 'estimate' else ''}"
        theta = ", one theta for all inputs" if model.isotropic else ""
        return [
            ("Lambda", f"{number(view.lam)}: {self._how_chosen()}"),
            (
                "Model",
                f"kernel {KERNELS.label(model.kernel)}, penalty {PENALTIES.label(model.penalty)}, "
                f"nugget {nugget}, mean {MEANS.label(model.mean)}{theta}",
            ),
            (
                "Scale",
                f"sigma2 {number(sigma2)} for the standardised response, that is a standard "
                f"deviation of {number(view.sigma)} in the unit of {view.modelled}",
            ),
        ]

    def _choice(self) -> dict[str, Any]:
        """Return how lambda was chosen, nothing if it was given."""
        model, cv = self.view.estimator, self.view.table
        if cv is None:
            return {}
        return {
            "best": self.view.own(model.lam_min_),
            "one_se": self.view.own(model.lam_1se_),
            "rule": name_of(model.rule_),
            "metric": name_of(model.metric_),
            "folds": cv.plan.n_folds,
            "kind_of_folds": cv.plan.kind,
            "repeats": cv.plan.repeats,
            "tried": len(model.lams_),
            "runs": cv.plan.n,
        }

    def _how_chosen(self) -> str:
        """Say how lambda was chosen."""
        from pengp.choosing.metrics import FOLD_METRICS
        from pengp.choosing.rules import RULES

        choice = self._choice()
        if not choice:
            return "without cross-validation"
        rule = RULES.label(self.view.estimator.rule_)
        why = f"{rule} over {choice['tried']} values, whose best is {number(choice['best'])}"
        times = f" x {choice['repeats']} repeats" if choice["repeats"] > 1 else ""
        runs = f" of {choice['runs']} runs" if choice["runs"] != len(self.view.y) else ""
        folds = f"{choice['folds']} {choice['kind_of_folds']} folds{times}{runs}"
        return f"{why}; judged by {FOLD_METRICS.label(self.view.estimator.metric_)} over {folds}"

    def _input_table(self) -> "RenderableType":
        """Return theta and lengthscale of each input."""
        view, rows = self.view, []
        for p, (name, theta, length, active) in enumerate(
            zip(view.names, view.theta, view.lengthscale, view.active, strict=True)
        ):
            shown = number(length) if active else "inactive"
            rows.append([name, extent(view, p), number(theta), shown])
        return table(["input", "range of the runs", "theta", "lengthscale"], rows, left=2)

    def _score_table(self) -> "list[RenderableType]":
        """Return the scores on runs that were held out, and with theta kept beside them."""
        from pengp.choosing.validation import VALIDATION_SCORES

        unit, held_out = f", in the unit of {self.view.response}", self.diagnosis.held_out
        if held_out is None and not self.view.is_penalized:
            return [paragraph("There are too few runs to hold any out, or all are equal.")]
        kept = self.diagnosis.scores if held_out is None or self.view.is_penalized else None
        shown = {"held out": held_out and held_out.scores(), "theta kept": kept}
        columns = {name: scores for name, scores in shown.items() if scores}
        rows = list[list[str]]()
        for score in map(VALIDATION_SCORES.__getitem__, _SHOWN_SCORES):
            values = [scores[score.name] for scores in columns.values()]
            is_share = score.greater_is_better is None
            texts = [f"{100 * v:.0f} %" if is_share else number(v) for v in values]
            meaning = score.meaning.format(level=f"{100 * self.diagnosis.level:g} %")
            rows.append([score.label, *texts, f"{meaning}{unit if score.has_unit else ''}"])
        right = tuple(range(1, 1 + len(columns)))
        scores_table = table(["score", *columns, "meaning"], rows, right=right)
        return [paragraph(self._score_title()), scores_table]

    def _score_title(self) -> str:
        """Return what the table of scores shows."""
        held_out = self.diagnosis.held_out
        if held_out is None:
            return "Leave-one-out check, each run predicted from the others with theta kept:"
        title = f"Accuracy on runs that were held out ({held_out.how}), theta learned anew"
        return f"{title}; with theta kept it flatters:" if self.view.is_penalized else f"{title}:"

    def _accuracy(self) -> "list[RenderableType]":
        """Return the scores and, if that was asked, whether the model is good enough."""
        if self.good_enough is None:
            return self._score_table()
        return [*self._score_table(), "", paragraph(" ".join(self.good_enough.sentences()))]

    def _mode_table(self) -> "list[RenderableType]":
        """Return the other modes, if there are any."""
        others = self.diagnosis.modes[1:]
        if not others:
            return []
        rows = [
            [str(k), f"{mode.deficit:.2f}", self._uses(mode)]
            for k, mode in enumerate(others[:_MOST_MODES], start=2)
        ]
        left_out = len(others) - len(rows)
        more = [f"and {left_out} more, further below"] if left_out else []
        title = "Other modes of the penalized likelihood:"
        return ["", title, table(["mode", "below the best", "theta"], rows, right=(0, 1)), *more]

    def _warnings(self) -> list[str]:
        """Return what to beware of."""
        if not self.diagnosis.findings:
            return []
        messages = (f"- {finding.message}" for finding in self.diagnosis.findings)
        return ["", "Beware:", *(paragraph(message, indent="  ") for message in messages)]

    def _uses(self, mode: "Mode") -> str:
        """Return the active inputs of a mode with their thetas."""
        used = [f"{n} {number(t, 3)}" for n, t in self._by_input(mode).items() if t is not None]
        return ", ".join(used) or "no active input"

    def _by_input(self, mode: "Mode") -> dict[str, float | None]:
        """Return a mode's thetas by input, None where an input is not active."""
        columns = zip(self.view.names, mode.theta, mode.active, strict=True)
        return {name: float(theta) if active else None for name, theta, active in columns}


def summaries_of(views: "Sequence[FittedView]", tolerance: float | None = None) -> list[Summary]:
    """Return the summary of every response, for a tolerance if given."""
    found = []
    for k, view in enumerate(views):
        with part(k, len(views), "response"):
            found.append(Summary.of(view, tolerance))
    return found


def all_parts(summaries: list[Summary]) -> "list[RenderableType]":
    """Return what is told about every response, below each other."""
    first, *others = (summary.parts() for summary in summaries)
    return [*first, *(part for parts in others for part in ("", *parts))]


def all_records(summaries: list[Summary]) -> dict[str, Any]:
    """Return the record of the one response, or those of several under ``responses``."""
    records = [summary.record() for summary in summaries]
    return records[0] if len(records) == 1 else {"responses": records}
