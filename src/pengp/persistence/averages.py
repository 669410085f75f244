"""The file of a `BayesianGPRegressor`: its arrays, header entries, and the way back.

Sizes beside those of `pengp.persistence.schema`: K members, N draws, M components, E explanations,
C components of the law of a run that is left out.
"""

from typing import Any

import numpy as np

from pengp._core.arrays import FloatArray
from pengp.bayes.average import FEWEST, Average, Settings
from pengp.bayes.heldout import HeldOut
from pengp.bayes.insight import Explanation
from pengp.bayes.law import MixtureLaw
from pengp.bayes.members import Member, checked
from pengp.bayes.mixture import ProcessMixture
from pengp.bayes.trust import Halves
from pengp.bayes.weighed import Draws
from pengp.estimators import BayesianGPRegressor
from pengp.estimators.surrogate import Surrogate
from pengp.persistence import parameters as codec
from pengp.persistence import runs, schema
from pengp.persistence.container import Arrays
from pengp.persistence.facts import ROUNDING
from pengp.persistence.schema import Field

#: For each output k, named ``outputs.k.*``: the processes that predict.
PREDICTION = {
    "components.member": Field("M", type="i"),
    "components.theta": Field("M d", "positive"),
    "components.nugget": Field("M", "positive"),
    "components.weight": Field("M", "positive"),
}
#: The same, if the noise is known and the response is not constant.
SCALES = {
    "components.sigma2": Field("M", "positive"),
}
#: For each output k that is not constant, named ``outputs.k.*``: the posterior.
POSTERIOR = {
    "draws.member": Field("N", type="i"),
    "draws.theta": Field("N d", "not negative"),
    "draws.nugget": Field("N", "positive"),
    "draws.sigma2": Field("N", "not negative"),
    "draws.half": Field("N", type="i"),
    "draws.weight": Field("N", "not negative"),
    "members.log_evidence": Field("K"),
    "members.log_evidence_error": Field("K", "not negative"),
    "members.pareto_shape": Field("K", "any"),
    "thinning.mean": Field("", "any"),
    "thinning.std": Field("", "any"),
    "halves.mean": Field("", "any"),
    "halves.std": Field("", "any"),
    "explanations.member": Field("E", type="i"),
    "explanations.theta": Field("E d", "not negative"),
    "explanations.nugget": Field("E", "positive"),
    "explanations.weight": Field("E", "not negative"),
}
#: The same, if there are runs enough to leave one out.
LEFT_OUT = {
    "left_out.mean": Field("n_fit"),
    "left_out.std": Field("n_fit", "not negative"),
    "left_out.effective_size": Field("n_fit", "positive"),
    "left_out.location": Field("n_fit C"),
    "left_out.scale": Field("n_fit C", "positive"),
    "left_out.weight": Field("n_fit C", "not negative"),
}
# Attributes of an average by the names of the schema.
_NUMBERS = {
    "thinning.mean": "mean_change",
    "thinning.std": "std_change",
}
_MEMBERS = {
    "members.log_evidence": "log_evidences",
    "members.log_evidence_error": "log_evidence_errors",
    "members.pareto_shape": "pareto_shapes",
}
#: Elements of the Cholesky factors of all components, which are computed when a file is loaded.
_MOST_ELEMENTS = 1 << 30
#: Points of a prior's range of rates.
_MOST_RATES = 1_000_000


def to_state(model: BayesianGPRegressor) -> tuple[dict[str, Any], Arrays]:
    """Return what a file keeps of a fitted estimator: header entries and arrays."""
    found = model._averages
    n_fit = next((len(a.y) for a in found if a is not None), len(model.X_train_))
    header = {
        "settings": _encode_settings(model._settings),
        "parameters": codec.encode_parameters(model.get_params(deep=False), n_fit, None),
        **runs.to_header(model, n_fit),
        "seeds": list(model._seeds),
        "averages": [None if a is None else _describe(a) for a in found],
    }
    arrays = runs.to_arrays(model)
    for k, (mixture, a) in enumerate(zip(model._surrogate.posteriors, found, strict=True)):
        own = _prediction_arrays(mixture)
        own |= {} if a is None else _posterior_arrays(a)
        own |= {} if a is None or a.source is None else _left_out_arrays(a.held_out)
        arrays |= {f"outputs.{k}.{name}": np.asarray(value) for name, value in own.items()}
    return header, arrays


def _describe(a: Average) -> dict[str, Any]:
    """Return the header entry of an output that is not constant."""
    n_thin, n_more = (0, 0) if a.source is None else (a.held_out.n_thin, a.held_out.n_more)
    return {"n_thin": n_thin, "n_more": n_more}


def _encode_settings(settings: Settings) -> dict[str, Any]:
    """Return how the average was made."""
    members = [
        {
            "kernel": codec.encode_record("kernel", member.kernel),
            "nugget": list(member.nugget) if isinstance(member.nugget, tuple) else member.nugget,
            "mean": codec.encode_record("mean", member.mean),
            "weight": float(member.weight),
        }
        for member in settings.members
    ]
    return {
        "members": members,
        "prior": codec.encode_record("prior", settings.prior),
        "effective_size": settings.effective_size,
        "max_points": settings.max_points,
        "n_components": settings.n_components,
    }


def _prediction_arrays(mixture: ProcessMixture) -> dict[str, Any]:
    """Return the arrays `PREDICTION`, and those of `SCALES` if there are any."""
    names = ("member", "theta", "nugget", "weight")
    scales = {} if mixture.scales is None else {"components.sigma2": mixture.scales}
    return {f"components.{name}": getattr(mixture, name) for name in names} | scales


def _posterior_arrays(a: Average) -> dict[str, Any]:
    """Return the arrays `POSTERIOR`."""
    columns = zip(Explanation._fields, zip(*a.explanations, strict=True), strict=True)
    return {
        **{f"draws.{name}": value for name, value in a.draws._asdict().items()},
        **{name: getattr(a, own) for name, own in (_MEMBERS | _NUMBERS).items()},
        "halves.mean": a.halves.mean_difference,
        "halves.std": a.halves.std_ratio,
        **{f"explanations.{name}": np.array(column) for name, column in columns},
    }


def _left_out_arrays(left: HeldOut) -> dict[str, Any]:
    """Return the arrays `LEFT_OUT`."""
    return {
        "left_out.mean": left.mean,
        "left_out.std": left.std,
        "left_out.effective_size": left.effective_size,
        "left_out.location": np.concatenate([law.location for law in left.laws]),
        "left_out.scale": np.concatenate([law.scale for law in left.laws]),
        "left_out.weight": np.stack([law.weights for law in left.laws]),
    }


def checked_sizes(header: dict[str, Any], arrays: Arrays) -> dict[str, int]:
    """Return the sizes by letter of header and arrays that fit the schema and each other."""
    one_output, records = header["one_output"], header["averages"]
    sizes = {"K": len(header["settings"]["members"])}
    of_runs = schema.of_runs(arrays)
    sizes, known = schema.fit_fields(arrays, of_runs, "", sizes, one_output), set(of_runs)
    sizes["n_fit"] = n_fit = runs.checked_n_fit(header, sizes["n"])
    if n_fit < FEWEST or sizes["n"] ** 2 > _MOST_ELEMENTS:
        raise ValueError("there are fewer or more runs than a model file may hold.")
    if len(records) != sizes["q"] or len(header["seeds"]) != sizes["q"]:
        raise ValueError("there must be one entry for each output.")
    for k, record in enumerate(records):
        fields = PREDICTION if record is None else PREDICTION | POSTERIOR
        if record is not None and n_fit > FEWEST:
            fields = fields | LEFT_OUT
        if record is not None and "noise_sd" in of_runs:
            fields = fields | SCALES
        prefix = f"outputs.{k}."
        own = schema.fit_fields(arrays, fields, prefix, dict(sizes), one_output)
        _check_output({name: arrays[prefix + name] for name in fields}, own)
        known |= {prefix + name for name in fields}
    if set(arrays) != known or (one_output and sizes["q"] != 1):
        raise ValueError("there are other arrays than there should be.")
    return sizes


def _check_output(arrays: Arrays, sizes: dict[str, int]) -> None:
    """Raise a ValueError unless the arrays of an output, without its prefix, fit each other."""
    for name, a in arrays.items():
        last = name.rpartition(".")[2]
        if last == "weight" and not (abs(a.sum(-1) - 1.0) < ROUNDING).all():
            raise ValueError(f"the weights {name} do not sum to 1.")
        if (
            last in ("member", "half")
            and not ((a >= 0) & (a < (2 if last == "half" else sizes["K"]))).all()
        ):
            raise ValueError(f"the array {name} names what does not exist.")
    if sizes["M"] * sizes["n"] ** 2 > _MOST_ELEMENTS:
        raise ValueError("there are more runs and components than a model file may hold.")


def restore(
    estimator: BayesianGPRegressor, header: dict[str, Any], arrays: Arrays, known: runs.Runs
) -> None:
    """Set what the estimator learned from runs, from arrays whose sizes were checked."""
    data, seeds = known.data, header["seeds"]
    if not all(type(seed) is int and 0 <= seed < 1 << 32 for seed in seeds):
        raise ValueError("a seed is not what it should be.")
    estimator._settings = settings = _decode_settings(header["settings"], data.X.shape[1])
    known.check_levels([member.kernel for member in settings.members])
    estimator._seeds = seeds
    estimator.X_train_ = data.X_raw
    estimator.y_train_ = data.y_raw[:, 0] if estimator._one_output else data.y_raw
    averages, mixtures = [], []
    for k, (record, y) in enumerate(zip(header["averages"], data.y, strict=True)):
        prefix = f"outputs.{k}."
        own = {n.removeprefix(prefix): a for n, a in arrays.items() if n.startswith(prefix)}
        if data.response.constant[k] != (record is None):
            raise ValueError("an output is constant, or is not, against what is said of it.")
        noise = None if data.noise is None or record is None else data.noise[k]
        mixtures.append(_decode_mixture(data.X, y, settings.members, own, noise))
        fit_y, v = y[: known.n_fit], None if noise is None else noise[: known.n_fit]
        decoded = None if record is None else _decode_average(record, settings, fit_y, own, v)
        averages.append(decoded)
    scalers, batches = (data.inputs, data.response), tuple(known.batches)
    surrogate = Surrogate(*scalers, tuple(mixtures), data.y_raw, batches, data.noise_sd)
    estimator._keep(tuple(averages), surrogate)


def _decode_settings(record: Any, d: int) -> Settings:
    """Return how the average was made, for d inputs."""
    match record:
        case {
            "members": [*members],
            "prior": prior,
            "effective_size": float(size),
            "max_points": int(points),
            "n_components": int(components),
        } if 0.0 < size < np.inf and 1 <= points <= 1_000_000 and 1 <= components <= 10_000:
            decoded = tuple(_decode_member(member) for member in members)
            checked(decoded, d)
            if abs(sum(member.weight for member in decoded) - 1.0) < ROUNDING:
                return Settings(decoded, _decode_prior(prior, d), size, points, components)
    raise ValueError("the settings are not what they should be.")


def _decode_member(record: Any) -> Member:
    """Return a model of the average."""
    nugget: float | tuple[float, float]
    match record:
        case {
            "kernel": kernel,
            "nugget": float(low),
            "mean": mean,
            "weight": float(weight),
        } if 0.0 < low < np.inf:
            nugget = low
        case {
            "kernel": kernel,
            "nugget": [float(low), float(high)],
            "mean": mean,
            "weight": float(weight),
        } if 0.0 < low < high < np.inf:
            nugget = (low, high)
        case _:
            raise ValueError("a member is not what it should be.")
    decoded = (codec.decode_record("kernel", kernel), codec.decode_record("mean", mean))
    return Member(decoded[0], nugget, decoded[1], weight)


def _decode_prior(record: Any, d: int) -> Any:
    """Return the prior of d inputs; it is tried, since its settings may be anything."""
    prior = codec.decode_record("prior", record)
    if getattr(prior, "n_rates", 1) > _MOST_RATES:
        raise ValueError("the prior has more rates than a model file may hold.")
    ends = np.array([np.zeros(d), np.ones(d)])
    tried = prior.for_runs(ends) if hasattr(prior, "for_runs") else prior
    with np.errstate(all="ignore"):
        value = tried.value(np.zeros((1, d)))
    if value.shape != (1,) or not np.isfinite(value).all():
        raise ValueError("the prior is none of these inputs.")
    return prior


def _decode_mixture(
    X: FloatArray,
    y: FloatArray,
    members: tuple[Member, ...],
    arrays: Arrays,
    noise: FloatArray | None,
) -> ProcessMixture:
    """Return the processes that predict, conditioned on runs X [n, d], y [n]."""
    names = ("member", "theta", "nugget", "weight", "sigma2")
    columns: dict[str, Any] = {name: arrays.get(f"components.{name}") for name in names}
    scales = columns.pop("sigma2")
    mixture = ProcessMixture(X, y, members, **columns, scales=scales, noise=noise)
    _ = mixture.components  # an error now rather than when it predicts
    return mixture


def _decode_average(
    record: Any, settings: Settings, y: FloatArray, arrays: Arrays, noise: FloatArray | None
) -> Average:
    """Return what is kept of the posterior of an output with standardised responses y [n_fit].

    Their variances ``noise`` [n_fit] may be known.
    """
    match record:
        case {"n_thin": int(n_thin), "n_more": int(n_more)} if min(n_thin, n_more) >= 0:
            pass
        case _:
            raise ValueError("an average is not what it should be.")
    numbers: dict[str, Any] = {own: arrays[name].item() for name, own in _NUMBERS.items()}
    numbers |= {own: arrays[name] for name, own in _MEMBERS.items()}
    found = Average(
        y=y,
        members=settings.members,
        draws=Draws(*(arrays[f"draws.{name}"] for name in Draws._fields)),
        halves=Halves(arrays["halves.mean"].item(), arrays["halves.std"].item()),
        explanations=_decode_explanations(arrays),
        source=_decode_left_out(arrays, n_thin, n_more) if "left_out.mean" in arrays else None,
        noise=noise,
        **numbers,
    )
    shares = np.bincount(found.draws.member, found.draws.weight, len(settings.members))
    if not (abs(shares - found.member_weights) < ROUNDING).all():
        raise ValueError("the weights of the draws are not those of their members.")
    return found


def _decode_explanations(arrays: Arrays) -> tuple[Explanation, ...]:
    """Return the modes."""
    member, theta, nugget, weight = (arrays[f"explanations.{n}"] for n in Explanation._fields)
    rows = zip(member.tolist(), theta, nugget.tolist(), weight.tolist(), strict=True)
    return tuple(Explanation(*row) for row in rows)


def _decode_left_out(arrays: Arrays, n_thin: int, n_more: int) -> HeldOut:
    """Return each run predicted from the others."""
    mean, std, size, location, scale, weight = (arrays[name] for name in LEFT_OUT)
    n = len(mean)
    df = np.inf if "components.sigma2" in arrays else n - 1
    laws = [MixtureLaw(location[[i]], scale[[i]], weight[i], df) for i in range(n)]
    return HeldOut(np.arange(n), mean, std, laws, size, n_thin, n_more)
