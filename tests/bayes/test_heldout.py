import numpy as np
import pytest

from pengp.bayes.heldout import _left_out, leave_out
from pengp.bayes.members import INTEGRATED, Member
from pengp.bayes.sample import sample_posterior
from pengp.exceptions import InputError
from pengp.model.kernels import Matern52, SquaredExponential
from pengp.model.means import ZERO
from tests.bayes.data import runs
from tests.bayes.test_sample import predicted

MEMBERS = (Member(SquaredExponential(), 1e-5, ZERO), Member(Matern52(), 1e-5, INTEGRATED))


def _noise(*sizes: float) -> float:
    """Return a bound on the Monte Carlo error of a difference of means, in predictive sd."""
    return float(np.sqrt(sum(1.0 / size for size in sizes)))


def test_reweighted_draws_are_those_of_a_refit() -> None:
    X, y = runs(10, 3)
    sample = sample_posterior(X, y, members=MEMBERS, random_state=0)
    left = leave_out(sample)
    differences, ratios, fixed, noise = [], [], [], []
    for i in range(len(y)):
        others = np.arange(len(y)) != i
        refit = sample_posterior(X[others], y[others], members=MEMBERS, random_state=i)
        mean, std = predicted(refit, X[i : i + 1])
        differences.append((left.mean[i] - mean[0]) / std[0])
        ratios.append(left.std[i] / std[0])
        fixed.append(predicted(sample, X[i : i + 1])[1][0] / std[0])
        noise.append(_noise(left.effective_size[i], refit.effective_size))
    assert np.abs(differences).mean() < 0.05
    assert (np.abs(differences) < 4.0 * np.array(noise)).all()
    assert (np.abs(np.log(ratios)) < 4.0 * np.array(noise)).all()
    assert np.max(fixed) < 0.5  # a posterior that knows the run would have shown
    np.testing.assert_array_equal(left.runs, np.arange(len(y)))
    assert (left.effective_size >= 100.0).all()


def test_folds_of_several_runs() -> None:
    X, y = runs(10, 2)
    sample = sample_posterior(X, y, members=MEMBERS, random_state=0)
    sets = [np.array([0, 4, 7]), np.array([1, 2])]
    left = leave_out(sample, sets)
    np.testing.assert_array_equal(left.runs, [0, 4, 7, 1, 2])
    others = np.setdiff1d(np.arange(10), sets[0])
    refit = sample_posterior(X[others], y[others], members=MEMBERS, random_state=3)
    mean, std = predicted(refit, X[sets[0]])
    noise = _noise(left.effective_size[0], refit.effective_size)
    assert (np.abs(left.mean[:3] - mean) < 4.0 * noise * std).all()
    assert (np.abs(np.log(left.std[:3] / std)) < 4.0 * noise).all()
    law = left.laws[0]
    assert law.df == 7
    resampled = len(law.weights) ** -0.5
    assert (np.abs(law.mean() - left.mean[:3]) < 4.0 * resampled * left.std[:3]).all()


def test_thin_posteriors_get_more_points() -> None:
    X, y = runs(16, 6)
    y = y + np.where(np.arange(16) == 3, 3.0, 0.0)  # one run that changes everything
    members = (MEMBERS[0],)
    sample = sample_posterior(X, y, members=members, effective_size=300.0, random_state=0)
    before = len(sample.draws.weight)
    left = leave_out(sample, random_state=1)
    assert left.n_more > 0
    assert 1 <= left.n_thin < 16
    assert len(sample.draws.weight) == before  # the sample itself is as it was
    assert left.effective_size.min() >= 100.0
    others = np.arange(16) != 3
    refit = sample_posterior(X[others], y[others], members=members, random_state=2)
    mean, std = predicted(refit, X[3:4])
    noise = _noise(left.effective_size[3], refit.effective_size)
    assert left.mean[3] == pytest.approx(mean[0], abs=4.0 * noise * std[0])
    again = leave_out(sample, random_state=1)
    np.testing.assert_array_equal(left.mean, again.mean)


def test_leaving_out_is_leaving_out_of_the_matrices() -> None:
    """Sets of different sizes at once, against likelihoods and laws of the runs that are left."""
    X, y = runs(9, 2)
    member = MEMBERS[1]
    u = np.log(np.array([[1.0, 3.0], [0.2, 8.0]]))
    sample = sample_posterior(X, y, members=(member,), max_points=1, random_state=0)
    sets = [np.array([2]), np.array([0, 5]), np.array([7]), np.array([3, 1])]
    left = _left_out(sample, sample.members[0], u, sets)
    whole = member.log_likelihood(X, y, np.exp(u), np.full(2, 1e-5))
    start = 0
    for s, k in enumerate(sets):
        others = np.setdiff1d(np.arange(9), k)
        rest = member.log_likelihood(X[others], y[others], np.exp(u), np.full(2, 1e-5))
        np.testing.assert_allclose(left.log_change[:, s], rest - whole, rtol=1e-7)
        rows = slice(start, start + len(k))
        for j in range(2):
            process = member.condition(X[others], y[others], np.exp(u[j]), 1e-5)
            mean, variance = process.predict(X[k])
            np.testing.assert_allclose(left.location[j, rows], mean, rtol=1e-6)
            np.testing.assert_allclose(left.scale[j, rows] ** 2, process.sigma2 * variance)
        start += len(k)


def test_a_fold_must_leave_runs() -> None:
    sample = sample_posterior(*runs(5, 1), members=MEMBERS, random_state=0)
    with pytest.raises(InputError, match="at least 3 runs"):
        leave_out(sample, [np.arange(3)])
