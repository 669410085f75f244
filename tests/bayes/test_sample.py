from collections.abc import Callable

import numpy as np
import pytest

from pengp._core.arrays import FloatArray
from pengp.bayes.coordinates import normal_coordinates
from pengp.bayes.members import Member, checked, default_members
from pengp.bayes.priors import Gamma, HierarchicalLasso, JointlyRobust
from pengp.bayes.sample import PosteriorSample, sample_posterior
from pengp.bayes.sampler import Sampler
from pengp.bayes.target import Target
from pengp.bayes.weights import effective_size, log_mean, normalised
from pengp.exceptions import InputError
from pengp.model.kernels import Matern52, SquaredExponential
from pengp.model.means import ZERO, ConstantMean
from tests.bayes.data import Runs, brute_force, runs

SMOOTH = Member(SquaredExponential(), 1e-5, ZERO)
ROUGH = Member(Matern52(), 1e-5, ZERO)


def predicted(found: PosteriorSample, X_new: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return mean and standard deviation from all draws, by plain linear algebra."""
    X, y, n, draws = found.X, found.y, len(found.y), found.draws
    mean, second = np.zeros(len(X_new)), np.zeros(len(X_new))
    for k, member in enumerate(found.members):
        mine = draws.member == k
        both = np.concatenate([X, X_new])
        C = member.covariance(both, draws.theta[mine], draws.nugget[mine])
        alpha = np.linalg.solve(C[:, :n, :n], y)
        r = C[:, n:, :n]
        location = (r @ alpha[:, :, None])[..., 0]
        V = np.linalg.solve(C[:, :n, :n], r.transpose(0, 2, 1)).transpose(0, 2, 1)
        left = np.diagonal(C, axis1=1, axis2=2)[:, n:] - (V * r).sum(-1)
        square = left * (alpha @ y)[:, None] / (n - 2)
        w = draws.weight[mine]
        mean += w @ location
        second += w @ (square + location**2)
    return mean, np.sqrt(second - mean**2)


@pytest.mark.parametrize(("n", "d", "c2"), [(7, 1, 0.0), (8, 2, 9.0), (8, 4, 0.0), (7, 8, 9.0)])
def test_agrees_with_brute_force_from_the_prior(n: int, d: int, c2: float) -> None:
    at, X_new = runs(n, d), np.random.default_rng(5).random((4, d))
    member = Member(Matern52(), 1e-5, ConstantMean(c2) if c2 else ZERO)
    brute = brute_force(at, member, X_new, 60_000, HierarchicalLasso())
    assert brute.size > 400  # else it could not judge
    found = sample_posterior(*at, members=(member,), random_state=3)
    value, error = log_mean(found.samplers[0].log_weights())
    assert abs(value - brute.log_evidence) < 4.0 * np.hypot(error, brute.error)
    mean, std = predicted(found, X_new)
    noise = np.sqrt(1.0 / brute.size + 1.0 / found.effective_size)
    assert (np.abs(mean - brute.mean) < 4.0 * noise * brute.std).all()
    np.testing.assert_allclose(std, brute.std, rtol=5.0 * noise)


def test_weights_adapted_to_their_own_points_are_wrong() -> None:
    at = runs(7, 8)
    target = Target(ROUGH, *at, HierarchicalLasso())
    brute = brute_force(at, ROUGH, at.X[:1], 40_000, HierarchicalLasso())
    right, errors, own = [], [], []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        sampler = Sampler(target, rng, normal_coordinates(target.sample_prior(rng, 2000)))
        sampler.start(500)
        for _ in range(3):
            sampler.adapt(500)
        sampler.settle()
        sampler.draw(1000)
        value, error = log_mean(sampler.log_weights())
        right.append(value)
        errors.append(error)
        own.append(log_mean(sampler.pilot.log_weights())[0])
    error = np.hypot(np.sqrt(np.mean(np.square(errors)) / 12), brute.error)
    assert abs(np.mean(right) - brute.log_evidence) < 3.0 * error
    assert np.mean(own) < brute.log_evidence - 5.0 * error
    # The errors that are reported are those that are made; chi-squared with 11 degrees of freedom.
    assert 0.5 < np.std(right, ddof=1) / np.sqrt(np.mean(np.square(errors))) < 1.6


STRANGE: dict[str, Callable[[FloatArray], FloatArray]] = {
    "outlier": lambda X: np.sin(4.0 * X[:, 0]) + 20.0 * (np.arange(len(X)) == 3),
    "step": lambda X: (X[:, 0] > 0.5).astype(float),
    "constant but one": lambda X: (np.arange(len(X)) == 5).astype(float),
    "linear": lambda X: X @ np.array([1.0, 2.0, 0.0]),
    "noise": lambda X: np.random.default_rng(0).normal(size=len(X)),
}


@pytest.mark.parametrize("response", STRANGE)
def test_responses_that_are_no_sample_paths(response: str) -> None:
    X = runs(10, 3).X
    y = STRANGE[response](X)
    at = Runs(X, (y - y.mean()) / y.std())
    brute = brute_force(at, ROUGH, X[:1] + 0.1, 60_000, HierarchicalLasso())
    assert brute.size > 100
    found = sample_posterior(*at, members=(ROUGH,), random_state=0)
    assert not found.untrusted.any()
    value, error = log_mean(found.samplers[0].log_weights())
    assert abs(value - brute.log_evidence) < 4.0 * np.hypot(error, brute.error)
    noise = np.sqrt(1.0 / brute.size + 1.0 / found.effective_size)
    mean, _ = predicted(found, X[:1] + 0.1)
    assert (np.abs(mean - brute.mean) < 4.0 * noise * brute.std).all()


def test_members_without_a_chance_get_few_points() -> None:
    X = runs(30, 2).X
    y = np.sin(3.0 * X[:, 0]) + X[:, 1] ** 2
    y = (y - y.mean()) / y.std()
    noisy = Member(SquaredExponential(), 1.0, ZERO)  # far too large a nugget
    found = sample_posterior(X, y, members=(SMOOTH, noisy), random_state=0)
    assert found.member_weights[1] < 1e-6
    assert len(found.samplers[1]) < 0.5 * len(found.samplers[0])
    alone = sample_posterior(X, y, members=(noisy,), random_state=1)
    error = np.hypot(found.log_evidence_errors[1], alone.log_evidence[1])
    assert abs(found.log_evidences[1] - alone.log_evidence[0]) < 4.0 * error


def test_the_members_share_by_prior_weight_and_evidence() -> None:
    at = runs(10, 2)
    both = (Member(SquaredExponential(), 1e-5, ZERO, 3.0), Member(Matern52(), 1e-5, ZERO, 1.0))
    found = sample_posterior(*at, members=both, random_state=0)
    z = found.log_evidences
    ratio = 3.0 * np.exp(z[0] - z[1])
    np.testing.assert_allclose(found.member_weights, [ratio / (1 + ratio), 1 / (1 + ratio)])
    total, error = found.log_evidence
    assert total == pytest.approx(np.log(0.75 * np.exp(z[0]) + 0.25 * np.exp(z[1])))
    assert 0.0 < error < 0.1
    assert found.draws.weight.sum() == pytest.approx(1.0)
    mine = found.draws.weight[found.draws.member == 1].sum()
    assert mine == pytest.approx(found.member_weights[1])


def test_halves_are_two_samples_of_the_same_posterior() -> None:
    found = sample_posterior(*runs(10, 3), members=(SMOOTH, ROUGH), random_state=0)
    for half in (0, 1):
        w = found.half_weights(half)
        assert w.sum() == pytest.approx(1.0)
        assert not w[found.draws.half != half].any()
        log_theta = np.log(found.draws.theta)
        difference = w @ log_theta - found.draws.weight @ log_theta
        spread = np.sqrt(w @ (log_theta - w @ log_theta) ** 2)
        assert (np.abs(difference) < 4.0 * spread / np.sqrt(effective_size(w))).all()


def test_same_seed_same_bits() -> None:
    at = runs(9, 2)
    first, again, other = (sample_posterior(*at, random_state=s) for s in (4, 4, 5))
    np.testing.assert_array_equal(first.draws.weight, again.draws.weight)
    np.testing.assert_array_equal(first.draws.theta, again.draws.theta)
    assert first.draws.theta[0, 0] != other.draws.theta[0, 0]


@pytest.mark.parametrize("prior", [Gamma(0.7, 0.5), JointlyRobust()], ids=repr)
def test_other_priors(prior: Gamma | JointlyRobust) -> None:
    at = runs(8, 2)
    known = prior.for_runs(at.X) if isinstance(prior, JointlyRobust) else prior
    brute = brute_force(at, SMOOTH, at.X[:1], 40_000, known)
    found = sample_posterior(*at, members=(SMOOTH,), prior=prior, random_state=1)
    value, error = log_mean(found.samplers[0].log_weights())
    assert abs(value - brute.log_evidence) < 4.0 * np.hypot(error, brute.error)


class Own:
    """A prior without a sampler, half of whose normalising constant is missing."""

    def value(self, u: FloatArray) -> FloatArray:
        return Gamma(0.7, 0.5).value(u) - np.log(2.0)

    def gradient(self, u: FloatArray) -> FloatArray:
        return Gamma(0.7, 0.5).gradient(u)

    def hessian(self, u: FloatArray) -> FloatArray:
        return Gamma(0.7, 0.5).hessian(u)


def test_a_prior_of_one_s_own_needs_no_sampler() -> None:
    at = runs(8, 2)
    own = sample_posterior(*at, members=(SMOOTH,), prior=Own(), random_state=1)
    same = sample_posterior(*at, members=(SMOOTH,), prior=Gamma(0.7, 0.5), random_state=2)
    noise = np.hypot(own.log_evidence[1], same.log_evidence[1])
    assert own.log_evidence[0] + np.log(2.0) == pytest.approx(same.log_evidence[0], abs=4 * noise)


def test_a_sampled_nugget_is_the_average_over_fixed_ones() -> None:
    rng, at = np.random.default_rng(3), runs(12, 1)
    noisy = Runs(at.X, at.y + 0.2 * rng.normal(size=12))
    low, high = 1e-4, 1.0
    free = Member(SquaredExponential(), (low, high), ZERO)
    found = sample_posterior(*noisy, members=(free,), random_state=0)
    # The evidence under log g uniform is the mean over log g; Gauss's rule on 24 fixed nuggets.
    nodes, weights = np.polynomial.legendre.leggauss(24)
    logs = np.log(low) + 0.5 * (nodes + 1.0) * np.log(high / low)
    fixed = [Member(SquaredExponential(), float(g), ZERO) for g in np.exp(logs)]
    each = sample_posterior(*noisy, members=tuple(fixed), random_state=1).log_evidences
    expected = np.log(0.5 * weights @ np.exp(each))
    assert found.log_evidence[0] == pytest.approx(expected, abs=0.08)
    mean_log = 0.5 * (weights * np.exp(each - expected)) @ logs
    assert found.draws.weight @ np.log(found.draws.nugget) == pytest.approx(mean_log, abs=0.15)
    outside = (found.draws.nugget < low) | (found.draws.nugget > high)
    assert outside.any()
    assert not found.draws.weight[outside].any()


def test_more_points_are_more_to_adapt_with(monkeypatch: pytest.MonkeyPatch) -> None:
    # A member whose weights stay poor is adapted to for longer if that is allowed.
    monkeypatch.setattr("pengp.bayes.sample._INEFFICIENT", 2.0)
    few, many = (
        sample_posterior(*runs(6, 1), members=(SMOOTH,), max_points=most, random_state=0)
        for most in (30_000, 60_000)
    )
    assert len(few.samplers[0].pilot.u) <= 8000
    assert 8000 < len(many.samplers[0].pilot.u) <= 15_000


def test_points_are_not_thrown_away_for_their_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    # Those that are kept would be those that missed large weights, and the evidence too small.
    settled, settle = [], Sampler.settle

    def counted(sampler: Sampler) -> None:
        settled.append(sampler)
        settle(sampler)

    monkeypatch.setattr("pengp.bayes.sample._INEFFICIENT", 2.0)  # everything looks poor
    monkeypatch.setattr(Sampler, "settle", counted)
    found = sample_posterior(*runs(8, 2), members=(SMOOTH, ROUGH), random_state=0)
    assert len(settled) == 2
    assert all(len(s.halves[0].proposals) > 1 for s in found.samplers)  # more are drawn around them
    alone = sample_posterior(*runs(8, 2), members=(SMOOTH, ROUGH), random_state=1)
    noise = np.hypot(found.log_evidence[1], alone.log_evidence[1])
    assert found.log_evidence[0] == pytest.approx(alone.log_evidence[0], abs=4.0 * noise)


def test_more_rounds_until_the_effective_size_is_reached() -> None:
    at = runs(10, 5)
    few = sample_posterior(*at, members=(SMOOTH,), effective_size=100.0, random_state=0)
    many = sample_posterior(*at, members=(SMOOTH,), effective_size=3000.0, random_state=0)
    assert many.effective_size >= 3000.0 > few.effective_size
    capped = sample_posterior(
        *at, members=(SMOOTH,), effective_size=1e6, max_points=4000, random_state=0
    )
    assert len(capped.draws.weight) <= 4000


def test_default_members() -> None:
    for d in (1, 2, 7):
        shares: dict[object, float] = {}
        for member in checked(default_members(d), d):
            shares[member.kernel] = shares.get(member.kernel, 0.0) + member.weight
        if d == 1:
            assert shares == pytest.approx({SquaredExponential(): 2 / 3, Matern52(): 1 / 3})
        else:  # every kernel alike
            assert list(shares.values()) == pytest.approx([1.0 / len(shares)] * len(shares))
    assert [m.nugget for m in default_members(4)[:2]] == [1e-5, 1e-8]
    assert {m.mean.variance for m in default_members(4)} == {9.0}
    assert {m.mean for m in default_members(1)} == {ZERO}


def test_modes_are_stationary() -> None:
    target = Target(ROUGH, *runs(12, 3), HierarchicalLasso())
    points = target.sample_prior(np.random.default_rng(0), 400)
    modes = target.modes(points, target.likelihood(points)[0])
    at = target.expand(np.zeros(len(modes.u), dtype=np.int64), modes.u)
    steps = np.linalg.solve(modes.precision, at.gradient[:, :, None])[..., 0]
    assert (0.5 * np.vecdot(steps, at.gradient) < 2e-3).all()
    np.testing.assert_array_equal(modes.log_density, np.sort(modes.log_density)[::-1])
    assert normalised(modes.log_density)[0] > 0.0


def test_what_cannot_be_learned_from() -> None:
    X, y = runs(8, 2)
    for wrong in ((X, y[:-1]), (X[:2], y[:2]), (X, np.full(8, np.nan)), (X, np.zeros(8))):
        with pytest.raises(InputError):
            sample_posterior(*wrong)
    with pytest.raises(InputError, match="positive prior weight"):
        sample_posterior(X, y, members=(Member(Matern52(), weight=0.0),))
