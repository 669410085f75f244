"""The bytes of a model file: a JSON header, named arrays, and a checksum over both.

    magic            8 bytes
    format version   4 bytes, unsigned, little-endian like all numbers
    header length    4 bytes, unsigned
    file length      8 bytes, unsigned
    header           JSON in UTF-8; its "arrays" lists name, type, shape and axes of each array
    arrays           in that order, without gaps
    checksum         32 bytes, SHA-256 of everything before

Magic, version, file length and checksum are the same in every future version.
"""

import hashlib
import json
import math
import os
import struct
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pengp.exceptions import FileError, InputError

Arrays: TypeAlias = dict[str, NDArray[Any]]

VERSION = 2
MAGIC = b"\x89PENGP\r\n"  # no text file starts like this, and copying as text changes it
_PREFIX = struct.Struct("<8sIIQ")
_DIGEST = 32
_TYPES = {"f8": np.dtype("<f8"), "i8": np.dtype("<i8"), "b1": np.dtype("?")}
_MOST_AXES = 4
#: Bytes of the header; parsed, it may take twenty times as much.
LONGEST_HEADER = 1 << 22


def pack(header: dict[str, Any], arrays: Arrays) -> bytes:
    """Return the content of a file with these entries of the header and arrays."""
    entries, blocks = [], []
    for name, a in arrays.items():
        axes = _axes(a)
        block = np.ascontiguousarray(a.transpose(axes), dtype=_TYPES[_type_of(a)])
        entries.append({"name": name, "type": _type_of(a), "shape": list(a.shape), "axes": axes})
        blocks.append(block.tobytes())
    text = json.dumps({**header, "arrays": entries}, allow_nan=False, separators=(",", ":"))
    if len(text) > LONGEST_HEADER:
        raise InputError(
            f"info, parameters and folds take {len(text) / 1e6:.1f} MB as text, more than the "
            f"{LONGEST_HEADER / 1e6:.1f} MB that a model file may hold; shorten info or cv."
        )
    length = _PREFIX.size + len(text) + sum(map(len, blocks)) + _DIGEST
    prefix = _PREFIX.pack(MAGIC, VERSION, len(text), length)
    content = b"".join([prefix, text.encode("ascii"), *blocks])
    return content + hashlib.sha256(content).digest()


def _type_of(a: NDArray[Any]) -> str:
    """Return the name of the array's type in a file."""
    return {"f": "f8", "i": "i8", "b": "b1"}[a.dtype.kind]


def _axes(a: NDArray[Any]) -> list[int]:
    """Return the axes as they lie in memory, outermost first.

    They are kept because the last bits of a matrix product depend on them.
    """
    return sorted(range(a.ndim), key=lambda k: -abs(a.strides[k]) if a.shape[k] > 1 else -math.inf)


def read_content(path: Path) -> bytes:
    """Return the bytes of a model file of this version whose length and checksum are right."""
    try:
        content = _read(path)
    except OSError as error:
        reason = error.strerror or str(error)
        raise FileError(f"cannot read {path}: {reason}; check its name and permission.") from error
    if hashlib.sha256(memoryview(content)[:-_DIGEST]).digest() != content[-_DIGEST:]:
        raise FileError(f"{path} was altered after it was saved; copy or save it again.")
    version = _PREFIX.unpack_from(content)[1]
    if version > VERSION:
        raise FileError(
            f"{path} was written by a newer pengp (file format {version}, this one reads up to "
            f"{VERSION}); upgrade pengp."
        )
    return content


def _read(path: Path) -> bytes:
    """Return the bytes of a file that starts like a model file and has the length it states.

    Of another, read no more than that.
    """
    if path.is_dir():
        raise FileError(f"{path} is a directory; give the name of a model file in it.")
    if not path.is_file():
        raise FileError(f"there is no file {path}; check its name.")
    with path.open("rb") as file:
        start = file.read(_PREFIX.size)
        if not start.startswith(MAGIC):
            state = "empty" if not start else "not a pengp model file"
            raise FileError(f"{path} is {state}; give a file that pengp.save wrote.")
        size, least = os.fstat(file.fileno()).st_size, _PREFIX.size + _DIGEST
        length = _PREFIX.unpack_from(start)[3] if size >= least else least
        if size < length:
            raise FileError(f"{path} is incomplete, its end is missing; copy or save it again.")
        if size > length:
            raise FileError(f"{path} was altered after it was saved; copy or save it again.")
        file.seek(0)
        return file.read()


def parse_header(content: bytes) -> tuple[int, dict[str, Any], memoryview]:
    """Return version, header and the bytes of the arrays; a ValueError if that cannot be done."""
    _, version, length, total = _PREFIX.unpack_from(content)
    end = _PREFIX.size + length
    if not 1 <= version <= VERSION or total != len(content) or length > LONGEST_HEADER:
        raise ValueError("version and lengths do not fit the file.")
    if end > len(content) - _DIGEST:
        raise ValueError("the header is longer than the file.")
    header = json.loads(
        content[_PREFIX.size : end].decode("utf-8"),
        object_pairs_hook=_without_repeats,
        parse_constant=_no_constant,
    )
    if not isinstance(header, dict):
        raise TypeError("the header is not an object.")
    return version, header, memoryview(content)[end:-_DIGEST]


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the pairs as a dict if no key occurs twice."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key occurs twice.")
    return found


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON.")


def parse_arrays(entries: Any, data: memoryview) -> Arrays:
    """Return the arrays that the header lists; a ValueError if they do not fill the data."""
    sizes = [_size(entry, len(data)) for entry in entries]
    if sum(sizes) != len(data):
        raise ValueError("the shapes of the arrays do not fit the length of the file.")
    arrays: Arrays = {}
    start = 0
    for entry, size in zip(entries, sizes, strict=True):
        arrays[entry["name"]] = _array(entry, data[start : start + size])
        start += size
    if len(arrays) < len(entries):
        raise ValueError("an array occurs twice.")
    return arrays


def _size(entry: dict[str, Any], most: int) -> int:
    """Return the bytes of an entry's array, whose axes are not longer than ``most``."""
    shape, axes = entry["shape"], entry["axes"]
    sound = len(shape) <= _MOST_AXES and all(type(k) is int and 0 < k <= most for k in shape)
    if not sound or sorted(axes) != [*range(len(shape))]:
        raise ValueError("an array has an impossible shape.")
    return math.prod(shape) * _TYPES[entry["type"]].itemsize


def _array(entry: dict[str, Any], data: memoryview) -> NDArray[Any]:
    """Return the array of an entry, writable and laid out as it was saved."""
    dtype, axes = _TYPES[entry["type"]], entry["axes"]
    if dtype.kind == "b" and max(data) > 1:
        raise ValueError("a truth value is neither 0 nor 1.")
    stored = np.frombuffer(data, dtype).reshape([entry["shape"][k] for k in axes])
    return stored.transpose(np.argsort(axes)).astype(dtype.newbyteorder("="), order="K")
