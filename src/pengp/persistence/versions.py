"""Files of earlier versions, brought up to the present one."""

from typing import Any

from pengp.persistence.container import Arrays

#: Arrays of version 1 that follow from the others, besides those of the outputs.
_DERIVED = (
    *("scaled_inputs", "input_constant", "response_mean", "response_sd", "response_constant"),
    *("theta", "lengthscale", "sigma2", "nugget", "mean"),
    *("path.inputs", "path.responses"),
)
#: The same, if lambda was chosen by cross-validation.
_DERIVED_CHOICE = ("lam_min", "lam_1se")


def from_version_1(header: dict[str, Any], arrays: Arrays) -> tuple[dict[str, Any], Arrays]:
    """Return header and arrays of version 2: the mean by name, and each fact once.

    Version 1 knows a zero and a constant mean only, the profile likelihood, and no transforms.
    """
    model = dict(header["model"])
    constant = model.pop("constant_mean")
    if type(constant) is not bool or model.keys() & {"mean", "marginal"}:
        raise ValueError("the mean is not what it should be.")
    model["mean"] = {"name": "constant" if constant else "zero", "settings": {"variance": None}}
    model["marginal"] = False
    dropped = {*_DERIVED, *(() if header["tables"] is None else _DERIVED_CHOICE)}
    dropped |= {name for name in arrays if name.startswith("outputs.")}
    if not dropped <= set(arrays):
        raise ValueError("there are other arrays than there should be.")
    n, n_fit = len(arrays["inputs"]), arrays["path.inputs"].shape[0]
    batches = [n_fit, n - n_fit] if n > n_fit else [n_fit]
    none: dict[str, Any] = {"transforms": {"inputs": [], "responses": []}}
    kept = {name: a for name, a in arrays.items() if name not in dropped}
    return {**header, **none, "model": model, "n_fit": n_fit, "batches": batches}, kept
