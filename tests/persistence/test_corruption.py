"""Damaged, foreign and hostile model files are refused with one sentence, and cheaply."""

import json
import struct
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from pengp import load
from pengp.exceptions import FileError
from pengp.persistence import read_info
from tests.persistence.damage import (
    CORRUPTIONS,
    EDITS,
    MODEL,
    PREFIX,
    VERSION_1,
    another,
    entry,
    flip,
    little_memory,
    loaded,
    packed,
    sealed,
    unpacked,
)

X_NEW = np.random.default_rng(0).random((4, 6)) * 10.0 + 50.0


@pytest.fixture(scope="module")
def other() -> bytes:
    return another()


def test_ten_thousand_corruptions_are_refused(other: bytes, tmp_path: Path) -> None:
    rng, path = np.random.default_rng(0), tmp_path / "model.pengp"
    survivors = 0
    with little_memory():
        for k in range(10_000):
            changed = CORRUPTIONS[k % len(CORRUPTIONS)](rng, MODEL, other)
            if loaded(path, changed) is not None:
                assert changed == MODEL  # such as a piece that was put where it had been
                survivors += 1
            elif k % 10 == 0:
                with pytest.raises(FileError, match=path.name):
                    read_info(path)
    assert survivors < 100


def use(model: Any) -> None:
    """Ask a model of doubtful numbers for everything; it may say no, it may not crash."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        X = X_NEW[:, : model.n_features_in_]
        model.predict(X, return_std=True)
        model.predict_gradient(X)
        _ = model.modes_, model.loo_, str(model), model.get_params()
        try:
            model.predict(X, return_cov=True)
            model.at_lambda(float(model.path_.lams[0]))
        except ValueError:
            pass  # numbers so large that they overflow on the way


def test_corruptions_under_a_right_checksum_are_refused_or_harmless(
    other: bytes, tmp_path: Path
) -> None:
    rng, path = np.random.default_rng(1), tmp_path / "model.pengp"
    kinds = [*EDITS, *(lambda *a, c=c: sealed(c(*a)) for c in CORRUPTIONS)]
    counts = np.zeros(2, dtype=int)
    with little_memory(), threadpool_limits(1):
        for k in range(3_000):
            content = (other, VERSION_1, MODEL)[k % 3]
            model = loaded(path, kinds[k % len(kinds)](rng, content, MODEL))
            counts[int(model is None)] += 1
            if model is not None:
                use(model)
    assert counts.min() > 200  # both ends were met


def with_header(change: Callable[[dict[str, Any]], Any]) -> bytes:
    """Return the model's file with another header."""
    header, data = unpacked(MODEL)
    change(header)
    return packed(json.dumps(header).encode(), data)


def with_array(name: str, position: int, value: float | bytes) -> bytes:
    """Return the model's file with another number in an array."""
    header, data = unpacked(MODEL)
    start = 0
    for one in header["arrays"]:
        size = 1 if one["type"] == "b1" else 8
        if one["name"] == name:
            new = value if isinstance(value, bytes) else struct.pack("<d", value)
            at = start + position * size
            return packed(json.dumps(header).encode(), data[:at] + new + data[at + len(new) :])
        start += size * int(np.prod(one["shape"]))
    raise AssertionError(name)


def with_another_array() -> bytes:
    """Return the model's file with an array that does not belong there."""
    header, data = unpacked(MODEL)
    header["arrays"].append({"name": "eggs", "type": "b1", "shape": [1], "axes": [0]})
    return packed(json.dumps(header).encode(), data + b"\x01")


def text(header: str) -> bytes:
    """Return a file with this header and the model's arrays."""
    return packed(header.encode(), unpacked(MODEL)[1])


PLAIN = MODEL[PREFIX.size : PREFIX.size + PREFIX.unpack_from(MODEL)[2]].decode()
HUGE = 10**12
UNSOUND: dict[str, bytes] = {
    "version 0": sealed(PREFIX.pack(MODEL[:8], 0, *PREFIX.unpack_from(MODEL)[2:]) + MODEL[24:]),
    "header longer than file": sealed(PREFIX.pack(MODEL[:8], 2, 99999, len(MODEL)) + MODEL[24:]),
    "header too long": packed(b" " * (1 << 22) + PLAIN.encode(), unpacked(MODEL)[1]),
    "deep nesting": text("[" * 1_000_000),
    "deep nesting that ends": text('{"a":' * 100_000 + "1" + "}" * 100_000),
    "no object": text("[1, 2]"),
    "no JSON": text(PLAIN[:-1]),
    "key twice": text(PLAIN[:-1] + ',"class":"PenalizedGPRegressor"}'),
    "key of a parameter twice": text(PLAIN.replace('"cv":4', '"cv":4,"cv":5')),
    "NaN": text(PLAIN.replace('"cv":4', '"cv":NaN')),
    "endless number": text(PLAIN.replace('"cv":4', '"cv":' + "9" * 100_000)),
    "array twice": with_header(lambda h: h["arrays"][10].update(name="path.lams")),
    "array too many": with_another_array(),
    "unknown array": with_header(lambda h: h["arrays"][10].update(name="eggs")),
    "unknown type": with_header(lambda h: h["arrays"][0].update(type="O")),
    "pickled type": with_header(lambda h: h["arrays"][0].update(type="|O8")),
    "wrong type": with_header(lambda h: entry(h, "path.theta").update(type="i8")),
    "negative shape": with_header(lambda h: h["arrays"][0].update(shape=[-12, -6])),
    "huge shape": with_header(lambda h: h["arrays"][0].update(shape=[HUGE, HUGE])),
    "many axes": with_header(lambda h: h["arrays"][0].update(shape=[1] * 99, axes=[*range(99)])),
    "empty shape": with_header(lambda h: h["arrays"][0].update(shape=[0, HUGE])),
    "other shape": with_header(lambda h: h["arrays"][0].update(shape=[6, 12])),
    "true shape": with_header(lambda h: entry(h, "lam").update(shape=[True])),
    "axis twice": with_header(lambda h: h["arrays"][0].update(axes=[0, 0])),
    "shifted arrays": with_header(lambda h: h["arrays"].reverse()),
    "no arrays": with_header(lambda h: h.pop("arrays")),
    "truth value of 2": with_array("path.converged", 1, b"\x02"),
    "nan in theta": with_array("path.theta", 2, np.nan),
    "negative theta": with_array("path.theta", 0, -1.0),
    "theta of 0 on the path": with_array("path.theta", 3, 0.0),
    "infinite run": with_array("inputs", 5, np.inf),
    "negative sigma2": with_array("path.sigma2", 0, -1e-300),
    "theta that is no maximum": with_array("path.theta", 0, 1.5),
    "theta beyond its bounds": with_array("path.theta", 0, 2e3),
    "maximum that is no estimate": with_array("modes.theta", 0, 1.5),
    "nugget that was not given": with_array("path.nugget", 0, 1e-3),
    "maxima that are not there": with_array("modes.count", 0, struct.pack("<q", 10**6)),
    "no maximum": with_array("modes.count", 0, struct.pack("<q", 0)),
    "lower end above the upper": with_array("input_lower", 1, 1e6),
    "run outside": with_array("inputs", 1, 1e6),
    "infinite mean": with_array("path.mean", 3, np.inf),
    "spread of nan": with_array("path.sigma2", 3, np.nan),
    "lambda of 1e308": with_array("path.lams", 0, 1e308),
    "countless starts": with_header(lambda h: h["parameters"].update(n_starts=10**7)),
    "starts of text": with_header(lambda h: h["parameters"].update(n_starts="10")),
    "negative seed": with_header(lambda h: h["parameters"].update(random_state=-1)),
    "wide bounds": with_header(lambda h: h["model"].update(theta_bounds=[1e300, 1e308])),
    "wide bounds of a parameter": with_header(
        lambda h: h["parameters"].update(theta_bounds={"tuple": [1e300, 1e308]})
    ),
    "nugget of text": with_header(lambda h: h["parameters"].update(nugget="much")),
    "unknown grid": with_header(lambda h: h["parameters"].update(lams="endless")),
    "bounds for one input": with_header(
        lambda h: h["parameters"].update(input_bounds=[[0.0, 1.0]])
    ),
    "runs of another fit": with_header(lambda h: h.update(n_fit=13)),
    "runs that are not counted": with_header(lambda h: h.update(n_fit=True)),
    "more runs than there are": with_header(lambda h: h.update(batches=[12, 1])),
    "batch of none": with_header(lambda h: h.update(batches=[12, 0])),
    "no batch": with_header(lambda h: h.update(batches=[])),
    "lambda off the path": with_array("lam", 0, 0.02),
    "unknown class": with_header(lambda h: h.update({"class": "Popen"})),
    "other class": with_header(lambda h: h.update({"class": "PenalizedGPRegressor"})),
    "unknown parameter": with_header(lambda h: h["parameters"].update(shell=True)),
    "unknown kind of parameter": with_header(lambda h: h["parameters"].update(cv={"code": "1"})),
    "folds for many runs": with_header(lambda h: h["tables"][0]["folds"].update(n=10**10)),
    "parameter for many runs": with_header(
        lambda h: h["parameters"].update(cv={"folds": {**h["tables"][0]["folds"], "n": 10**10}})
    ),
    "run of no number": with_header(lambda h: h["tables"][0]["folds"].update(test=[[0, 99]] * 4)),
    "fewer folds": with_header(lambda h: h["tables"][0]["folds"]["test"].pop()),
    "tables for two": with_header(lambda h: h["tables"].append(None)),
    "no tables": with_header(lambda h: h.update(tables=None)),
    "metric twice": with_header(lambda h: h["tables"][0]["metrics"].append(["pe", False])),
    "metric twice, once less": with_header(
        lambda h: h["tables"][0]["metrics"][1].__setitem__(0, "dpe")
    ),
    "metric of number": with_header(lambda h: h["tables"][0]["metrics"][1].__setitem__(0, 5)),
    "settings of lasso": with_header(lambda h: h["model"]["penalty"]["settings"].update(a=3.0)),
    "bounds upside down": with_header(lambda h: h["model"].update(theta_bounds=[2.0, 1.0])),
    "infinite bound": text(
        PLAIN.replace('"theta_bounds":[0.001,1000.0]', '"theta_bounds":[0.1,1e999]')
    ),
    "isotropic of 1": with_header(lambda h: h["model"].update(isotropic=1)),
    "half an evaluation": with_header(lambda h: h.update(n_evaluations=0.5)),
    "one output of 1": with_header(lambda h: h.update(one_output=1)),
    "several outputs": with_header(lambda h: h.update(one_output=False)),
    "five names": with_header(lambda h: h["input_names"].pop()),
    "name of number": with_header(lambda h: h["input_names"].__setitem__(0, 1)),
    "long array of a parameter": with_header(
        lambda h: h["parameters"].update(lams={"array": [1.0], "type": "f8", "shape": [HUGE]})
    ),
    "negative array of a parameter": with_header(
        lambda h: h["parameters"].update(lams={"array": [1.0], "type": "f8", "shape": [-1]})
    ),
    "text in an array of a parameter": with_header(
        lambda h: h["parameters"].update(lams={"array": ["1"], "type": "f8", "shape": [1]})
    ),
}


UNKNOWN = {
    "the metric 'x'": with_header(lambda h: h["parameters"].update(metric={"metric": "x"})),
    "the kernel '__import__'": with_header(lambda h: h["model"].update(kernel="__import__")),
}


@pytest.mark.parametrize("words", UNKNOWN)
def test_names_of_anything_but_pengps_records_are_refused(words: str, tmp_path: Path) -> None:
    (tmp_path / "model.pengp").write_bytes(UNKNOWN[words])
    with little_memory(), pytest.raises(FileError, match=f"{words}, which is none of pengp's own"):
        load(tmp_path / "model.pengp")


@pytest.mark.parametrize("name", UNSOUND)
def test_contents_that_make_no_sense_are_refused(name: str, tmp_path: Path) -> None:
    assert UNSOUND[name] != MODEL
    (tmp_path / "model.pengp").write_bytes(UNSOUND[name])
    with (
        little_memory(),
        pytest.raises(FileError, match=r"model\.pengp .* not sound; save the model"),
    ):
        load(tmp_path / "model.pengp")


def test_the_edits_above_do_not_break_a_file_by_themselves(tmp_path: Path) -> None:
    for content in (with_header(lambda h: None), text(PLAIN), with_array("responses", 2, 50.0)):
        assert loaded(tmp_path / "model.pengp", content) is not None


@pytest.mark.parametrize(
    "change",
    [{"class": "Popen"}, {"info": [1]}, {"info": None}, {"pengp": 1}],
)
def test_info_that_makes_no_sense_is_refused(change: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "model.pengp").write_bytes(with_header(lambda h: h.update(change)))
    with pytest.raises(FileError, match=r"model\.pengp .* not sound"):
        read_info(tmp_path / "model.pengp")
    (tmp_path / "model.pengp").write_bytes(text("[" * 1_000_000))
    with pytest.raises(FileError, match=r"model\.pengp .* not sound"):
        read_info(tmp_path / "model.pengp")


READERS: list[Callable[[Path], Any]] = [load, read_info]


@pytest.mark.parametrize("read", READERS)
def test_each_foreign_file_gets_its_sentence(read: Callable[[Path], Any], tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "model.zip", "w") as archive:
        archive.writestr("model.pengp", MODEL)
    files = {"runs.csv": b"x,y\n1,2\n", "empty.pengp": b"", "short.pengp": MODEL[:30]}
    files |= {"long.pengp": MODEL + b"\n", "as_text.pengp": MODEL.replace(b"\r\n", b"\n")}
    files |= {"cut.pengp": MODEL[:-1], "bit.pengp": flip(np.random.default_rng(0), MODEL, b"")}
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    words = {
        "runs.csv": "is not a pengp model file; give a file that pengp.save wrote.",
        "model.zip": "is not a pengp model file; give a file that pengp.save wrote.",
        "as_text.pengp": "is not a pengp model file; give a file that pengp.save wrote.",
        "empty.pengp": "is empty; give a file that pengp.save wrote.",
        "short.pengp": "is incomplete, its end is missing; copy or save it again.",
        "cut.pengp": "is incomplete, its end is missing; copy or save it again.",
        "long.pengp": "was altered after it was saved; copy or save it again.",
        "bit.pengp": "was altered after it was saved; copy or save it again.",
        "": "is a directory; give the name of a model file in it.",
    }
    for name, sentence in words.items():
        with pytest.raises(FileError) as caught:
            read(tmp_path / name)
        assert str(caught.value) == f"{tmp_path / name} {sentence}"


@pytest.mark.parametrize("read", READERS)
def test_a_file_that_is_not_there_is_named(read: Callable[[Path], Any], tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"^there is no file .*missing\.pengp; check its name\.$"):
        read(tmp_path / "missing.pengp")
    with pytest.raises(FileError, match=r"^cannot read .*xx\.pengp: File name too long; check"):
        read(tmp_path / f"{'x' * 300}.pengp")


@pytest.mark.parametrize("read", READERS)
def test_a_newer_format_asks_for_an_upgrade(read: Callable[[Path], Any], tmp_path: Path) -> None:
    path = tmp_path / "model.pengp"
    total = PREFIX.size + 40 + 32
    path.write_bytes(sealed(PREFIX.pack(MODEL[:8], 3, 7, total) + b"?" * 40 + bytes(32)))
    with pytest.raises(
        FileError, match=r"model\.pengp was written by a newer pengp .*; upgrade pengp"
    ):
        read(path)


def test_a_large_foreign_file_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "disk.img").open("wb") as file:
        file.truncate(1 << 34)
    with little_memory(), pytest.raises(FileError, match="is not a pengp model file"):
        load(tmp_path / "disk.img")


def test_a_model_file_with_a_long_tail_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "long.pengp"
    path.write_bytes(MODEL)
    with path.open("ab") as file:
        file.truncate(1 << 34)
    with little_memory(), pytest.raises(FileError, match="was altered after it was saved"):
        load(path)


def test_a_header_with_countless_folds_is_refused_at_once(tmp_path: Path) -> None:
    def change(header: dict[str, Any]) -> None:
        header["parameters"]["cv"] = {
            "folds": {"n": 12, "test": [[0]] * 200_000, "repeats": 1, "kind": "given"}
        }

    assert loaded(tmp_path / "model.pengp", with_header(change)) is None
