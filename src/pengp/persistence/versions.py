"""Files of earlier versions, brought up to the present one."""

from typing import Any

from pengp.persistence.container import Arrays


def from_version_1(header: dict[str, Any], arrays: Arrays) -> tuple[dict[str, Any], Arrays]:
    """Return header and arrays of version 2: the mean by name, and no weights beside the factors.

    Version 1 knows a zero and a constant mean only, the profile likelihood, and no transforms.
    """
    model = dict(header["model"])
    constant = model.pop("constant_mean")
    if type(constant) is not bool or model.keys() & {"mean", "marginal"}:
        raise ValueError("the mean is not what it should be.")
    model["mean"] = {"name": "constant" if constant else "zero", "settings": {"variance": None}}
    model["marginal"] = False
    outputs = {name.rpartition(".")[0] for name in arrays if name.startswith("outputs.")}
    dropped = {f"{k}.{name}" for k in outputs for name in ("mean", "alpha", "alpha_ones")}
    if not dropped <= set(arrays):
        raise ValueError("there are other arrays than there should be.")
    newer = {**header, "model": model, "transforms": {"inputs": [], "responses": []}}
    return newer, {k: a for k, a in arrays.items() if k not in dropped}
