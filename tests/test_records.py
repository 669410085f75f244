"""One registration makes a record known everywhere; model files resolve built-in names alone."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from matplotlib.figure import Figure
from typer.testing import CliRunner

from pengp import PenalizedGPRegressor, PenalizedGPRegressorCV, load, save
from pengp._core.arrays import FloatArray
from pengp._core.registry import Registry
from pengp.choosing import (
    FOLD_METRICS,
    RULES,
    VALIDATION_SCORES,
    FoldMetric,
    FoldParts,
    Law,
    Rule,
    ValidationScore,
    leave_one_out,
)
from pengp.cli.app import app
from pengp.diagnostics import diagnose
from pengp.estimators.records import RECORDS
from pengp.exceptions import FileError, InputError
from pengp.model import KERNELS
from pengp.model.kernels import RadialKernel
from pengp.path import PENALTIES
from pengp.persistence.container import pack
from pengp.persistence.parameters import decode_parameters, encode_parameters
from pengp.persistence.state import to_state
from pengp.plots import CVCurveDisplay
from pengp.report import write_report

LAMS = np.array([0.0, 0.05, 0.2])


@dataclass(frozen=True)
class Rational(RadialKernel):
    """phi(s) = 1 / (1 + s)."""

    name: ClassVar[str] = "rational"
    label: ClassVar[str] = "rational quadratic"

    def phi(self, s: FloatArray) -> FloatArray:
        return 1.0 / (1.0 + s)

    def derivatives(self, s: FloatArray, phi: FloatArray) -> tuple[FloatArray, FloatArray]:
        return -(phi**2), 2.0 * phi**3


@dataclass(frozen=True)
class Logarithm:
    """rho = lambda log(1 + theta)."""

    name: ClassVar[str] = "logarithm"
    label: ClassVar[str] = "logarithmic penalty"
    linear: ClassVar[bool] = True

    def value(self, theta: FloatArray, lam: FloatArray) -> FloatArray:
        return lam * np.log1p(theta)

    def gradient(self, theta: FloatArray, lam: FloatArray) -> FloatArray:
        return lam / (1.0 + theta)

    def curvature(self, theta: FloatArray, lam: FloatArray) -> FloatArray:
        return -lam / (1.0 + theta) ** 2


def largest(parts: FoldParts) -> FloatArray:
    """Return the largest absolute residual of each fold."""
    return np.asarray(np.abs(parts.r).max(axis=-1))


def middle(lams: FloatArray, values: FloatArray) -> int:
    """Choose the second smallest lambda, whatever the values are."""
    return int(np.argsort(lams)[1])


def bias(y: Any, law: Law, level: float) -> float:
    """Return the mean error."""
    return float(np.mean(law.mean() - y))


METRIC = FoldMetric("largest", largest, "largest miss", "largest miss of a fold")
RULE = Rule("middle", middle, "middle way", "the second smallest value")
SCORE = ValidationScore("bias", bias, "bias of the mean", "mean error", has_unit=True)


@pytest.fixture
def toys() -> Iterator[None]:
    KERNELS.register(Rational())
    PENALTIES.register(Logarithm())
    FOLD_METRICS.register(METRIC)
    RULES.register(RULE)
    VALIDATION_SCORES.register(SCORE)
    yield
    for registry in (KERNELS, PENALTIES, FOLD_METRICS, RULES, VALIDATION_SCORES):
        for name in set(registry) - set(registry.built_in):
            del registry[name]


def runs() -> tuple[FloatArray, FloatArray]:
    X = np.random.default_rng(0).random((9, 2))
    return X, np.sin(4.0 * X[:, 0]) + X[:, 1]


def page_of(model: Any, folder: Path) -> str:
    """Return the text of a model's report."""
    write_report(model, folder / "report.html")
    return (folder / "report.html").read_text(encoding="utf-8")


def fitted(**settings: Any) -> Any:
    X, y = runs()
    model: Any = PenalizedGPRegressorCV(lams=LAMS, cv=leave_one_out(9), random_state=0)
    model.set_params(metric="largest", rule="middle")  # names that no type checker knows
    return model.set_params(**settings).fit(X, y)


@pytest.mark.usefixtures("toys")
def test_the_estimator_and_its_table_know_what_was_registered() -> None:
    model = fitted(kernel="rational", penalty="logarithm")
    table = model.cv_table_
    assert model.lam_ == LAMS[1]
    np.testing.assert_allclose(table.values["largest"] ** 2, table.values["pe"], rtol=1e-12)
    posterior = model._surrogate.posteriors[0]
    s = ((posterior.X[:, None] - posterior.X) ** 2) @ model.theta_
    R = 1.0 / (1.0 + s) + 1e-5 * np.eye(9)
    np.testing.assert_allclose(posterior.L @ posterior.L.T, R, atol=1e-12)
    own = np.mean(model.loo_.mean - model.y_train_)  # the diagnosis adds the residuals again
    assert diagnose(model).scores["bias"] == pytest.approx(own, rel=1e-12)


@pytest.mark.usefixtures("toys")
def test_plots_and_reports_say_its_label(tmp_path: Path) -> None:
    model = fitted()
    display = CVCurveDisplay.from_estimator(model).plot(ax=Figure().subplots())
    assert "largest miss" in display.ax_.get_ylabel()
    page = page_of(model, tmp_path)
    for words in ("cross-validated largest miss", "largest miss of a fold", "middle way",
                  "as the second smallest value", "bias of the mean"):  # fmt: skip
        assert words in page, words
    with_toys = fitted(kernel="rational", penalty="logarithm", metric="dpe", rule="1se")
    page = page_of(with_toys, tmp_path)
    assert "rational (rational quadratic)" in page
    assert "logarithm (logarithmic penalty)" in page


@pytest.mark.parametrize("name", FOLD_METRICS)
def test_axes_of_plot_and_report_are_named_alike(name: str, tmp_path: Path) -> None:
    model = fitted(metric=name, rule="min", cv=3)
    label = FOLD_METRICS[name].label
    display = CVCurveDisplay.from_estimator(model).plot(ax=Figure().subplots())
    assert label in display.ax_.get_ylabel()
    assert f"cross-validated {label}" in page_of(model, tmp_path)


@pytest.mark.usefixtures("toys")
def test_the_command_line_offers_what_was_registered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    X, y = runs()
    rows = "\n".join(f"{a},{b},{c}" for (a, b), c in zip(X, y, strict=True))
    Path("runs.csv").write_text(f"a,b,y\n{rows}\n")
    chosen = ["--method", "penalized", "--metric", "largest", "--rule", "middle", "--repeats", "1"]
    done = CliRunner().invoke(app, ["fit", "runs.csv", "-y", "y", *chosen])
    assert done.exit_code == 0, done.stderr
    assert "judged by largest miss" in " ".join(done.stdout.split())
    refused = CliRunner().invoke(
        app, ["fit", "runs.csv", "-y", "y", "--kernel", "rational", "--force"]
    )
    assert refused.exit_code == 3
    assert "kernel is a Rational, but a model file holds no code" in refused.stderr
    text = CliRunner().invoke(app, ["fit", "--help"]).stdout
    for registry in RECORDS.values():
        assert f"--{registry.kind} <{'|'.join(registry)}>" in text
    assert "rational quadratic" in " ".join(text.split())
    wrong = CliRunner().invoke(app, ["fit", "runs.csv", "-y", "y", "--penalty", "l1"])
    assert wrong.exit_code == 2
    assert "'l1' is not one of none, lasso, ridge, scad, jointly-robust, logarithm." in " ".join(
        wrong.stderr.split()
    )


@pytest.mark.parametrize("registry", [*RECORDS.values(), VALIDATION_SCORES], ids=lambda r: r.kind)
def test_names_of_the_package_stay_its_own(registry: Registry[Any]) -> None:
    for name, record in registry.built_in.items():
        assert record.name == name
        assert record.label
        with pytest.raises(InputError, match=f"the {registry.kind} '{name}' is pengp's own"):
            registry.register(record)


@pytest.mark.parametrize("kind", RECORDS)
def test_every_record_of_the_package_has_its_codec(kind: str) -> None:
    for name, record in RECORDS[kind].built_in.items():
        for value in (name, record):
            back = decode_parameters(encode_parameters({kind: value}, 9, None), 9)
            assert back == {kind: value}


@pytest.mark.usefixtures("toys")
@pytest.mark.parametrize(
    ("kind", "record"), [("kernel", Rational()), ("penalty", Logarithm())], ids=str
)
def test_a_model_that_needs_a_record_of_ones_own_is_not_saved(
    kind: str, record: Any, tmp_path: Path
) -> None:
    for value in (record, record.name):
        model = PenalizedGPRegressor(0.1, random_state=0, **{kind: value}).fit(*runs())
        with pytest.raises(InputError, match=f"the parameter {kind} is a .*, but a model file"):
            save(model, tmp_path / "model.pengp")
    assert not list(tmp_path.iterdir())


NAMED: dict[str, Callable[[dict[str, Any]], None]] = {
    "the kernel 'rational'": lambda h: h["model"].update(kernel="rational"),
    "the penalty 'logarithm'": lambda h: h["model"]["penalty"].update(name="logarithm"),
    "the metric 'largest'": lambda h: h["parameters"].update(metric={"metric": "largest"}),
    "the rule 'middle'": lambda h: h["parameters"].update(rule={"rule": "middle"}),
}


@pytest.mark.usefixtures("toys")
@pytest.mark.parametrize("words", NAMED)
def test_load_refuses_names_that_are_not_built_in_even_if_they_are_registered(
    words: str, tmp_path: Path
) -> None:
    header, arrays = to_state(fitted())
    path = tmp_path / "model.pengp"
    path.write_bytes(pack({"pengp": "0", "info": {}, **header}, arrays))
    assert load(path).lam_ == LAMS[1]
    NAMED[words](header)
    path.write_bytes(pack({"pengp": "0", "info": {}, **header}, arrays))
    with pytest.raises(FileError, match=f"model.pengp needs {words}, which is none of pengp's own"):
        load(path)
