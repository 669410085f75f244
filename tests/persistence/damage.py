"""Model files, damaged at random or crafted with a checksum that is right."""

import hashlib
import json
import re
import resource
import struct
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from pengp import PenalizedGPRegressor, load, save
from pengp.exceptions import FileError
from pengp.path.penalties import SCAD
from tests.problems import DATA

PREFIX = struct.Struct("<8sIIQ")
MOST_MEMORY = 200_000_000
VERSION_1 = (DATA / "model_v1.pengp").read_bytes()


def _rewritten() -> bytes:
    """Return the file of that model in the present version."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.pengp"
        save(load(DATA / "model_v1.pengp"), path)
        return path.read_bytes()


MODEL = _rewritten()


def unpacked(content: bytes) -> tuple[dict[str, Any], bytes]:
    """Return the header and the bytes of the arrays."""
    end = PREFIX.size + PREFIX.unpack_from(content)[2]
    return json.loads(content[PREFIX.size : end]), content[end:-32]


def sealed(content: bytes) -> bytes:
    """Return the content with the checksum that belongs to it."""
    return content[:-32] + hashlib.sha256(content[:-32]).digest()


def packed(header: bytes, data: bytes) -> bytes:
    """Return a file with that header and data, its lengths and checksum right."""
    total = PREFIX.size + len(header) + len(data) + 32
    prefix = PREFIX.pack(MODEL[:8], 2, len(header) % 2**32, total)
    return sealed(prefix + header + data + bytes(32))


def another() -> bytes:
    """Return another model's file: two outputs, no table, objects among the parameters."""
    rng = np.random.default_rng(2)
    model = PenalizedGPRegressor(0.1, penalty=SCAD(a=3.0), n_starts=rng.random((3, 6)) + 0.1)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "other.pengp"
        save(model.fit(rng.random((9, 6)), rng.random((9, 2))), path, info={"a": 1})
        return path.read_bytes()


@contextmanager
def little_memory() -> Iterator[None]:
    """Make the block fail with a MemoryError if it ever takes more than 200 MB."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (taken + MOST_MEMORY, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def loaded(path: Path, content: bytes) -> Any:
    """Return the model, or None if the file is refused as it should be, in a sentence."""
    path.touch()
    with path.open("r+b") as file:  # emptying it first, as write_bytes does, waits for the disk
        file.write(content)
        file.truncate()
    try:
        return load(path)
    except FileError as error:
        message = str(error)
    assert re.fullmatch(rf"[^\n]*{path.name}[^\n]*\.", message), message
    return None


def entry(header: dict[str, Any], name: str) -> dict[str, Any]:
    """Return the description of an array."""
    found: dict[str, Any] = next(e for e in header["arrays"] if e["name"] == name)
    return found


def piece(rng: np.random.Generator, content: bytes) -> tuple[int, int]:
    """Return the ends of a random piece, short ones as likely as long ones."""
    length = int(len(content) ** rng.random())
    start = int(rng.integers(len(content) - length + 1))
    return start, start + length


def flip(rng: np.random.Generator, content: bytes, _: bytes) -> bytes:
    changed = bytearray(content)
    for _k in range(rng.integers(1, 9)):
        changed[rng.integers(len(changed))] ^= 1 << int(rng.integers(8))
    return bytes(changed)


def cut(rng: np.random.Generator, content: bytes, _: bytes) -> bytes:
    return content[: rng.integers(len(content))]


def drop(rng: np.random.Generator, content: bytes, _: bytes) -> bytes:
    start, end = piece(rng, content)
    return content[:start] + content[end:]


def blank(rng: np.random.Generator, content: bytes, _: bytes) -> bytes:
    start, end = piece(rng, content)
    return content[:start] + bytes(end - start) + content[end:]


def splice(rng: np.random.Generator, content: bytes, _: bytes) -> bytes:
    (start, end), at = piece(rng, content), int(rng.integers(len(content)))
    return content[:at] + content[start:end] + content[at + end - start :]


def graft(rng: np.random.Generator, content: bytes, other: bytes) -> bytes:
    (start, end), at = piece(rng, other), int(rng.integers(len(content)))
    over = end - start if rng.random() < 0.5 else 0
    return content[:at] + other[start:end] + content[at + over :]


CORRUPTIONS: list[Callable[[np.random.Generator, bytes, bytes], bytes]] = [
    flip,
    cut,
    drop,
    blank,
    splice,
    graft,
]


HOSTILE: list[Any] = [
    None,
    True,
    -1,
    0,
    3,
    2**31,
    2**63,
    10**400,
    0.5,
    -1e308,
    "x",
    "sqexp",
    "os.system",
    [],
    [1, 2],
    {},
    {"a": 1},
    {"tuple": [1]},
    {"array": [1.5], "type": "f8", "shape": [1]},
    {"folds": {"n": 10**9, "test": [[0]], "repeats": 1, "kind": "", "settings": {}, "train": None}},
    {"array": [], "type": "f8", "shape": [0, 10**18]},
    {"kernel": "matern32"},
    {"penalty": {"name": "scad", "settings": {"a": 0.0}}},
]


def nodes(tree: Any) -> list[tuple[Any, Any]]:
    """Return every place of a JSON tree: the container and the key in it."""
    keys = list(tree) if isinstance(tree, dict) else list(range(len(tree)))
    own = [(tree, key) for key in keys]
    deeper = [nodes(tree[key]) for key in keys if isinstance(tree[key], dict | list)]
    return own + [place for found in deeper for place in found]


def edit_header(rng: np.random.Generator, content: bytes, _: bytes) -> bytes:
    header, data = unpacked(content)
    for _k in range(rng.integers(1, 3)):
        places = nodes(header)
        tree, key = places[rng.integers(len(places))]
        source, from_key = places[rng.integers(len(places))]
        kind = rng.integers(3)
        if kind == 0:
            tree[key] = HOSTILE[rng.integers(len(HOSTILE))]
        elif kind == 1:
            tree[key] = json.loads(json.dumps(source[from_key]))
        else:
            del tree[key]
    return packed(json.dumps(header).encode(), data)


def edit_text(rng: np.random.Generator, content: bytes, _: bytes) -> bytes:
    length = PREFIX.unpack_from(content)[2]
    header, data = content[PREFIX.size : PREFIX.size + length], content[PREFIX.size + length : -32]
    at = int(rng.integers(length))
    new = [b"", b"[", b"{", b'"', b",", b"9", b"-", b"e9", b"NaN", b"\xff", b"\\ud800", b"null"]
    end = at + int(rng.integers(3))
    return packed(header[:at] + new[rng.integers(len(new))] + header[end:], data)


def edit_numbers(rng: np.random.Generator, content: bytes, _: bytes) -> bytes:
    header, data = unpacked(content)
    changed = bytearray(data)
    values = [np.nan, np.inf, -np.inf, -1.0, 0.0, 1e308, 5e-324, -(2.0**62)]
    for _k in range(rng.integers(1, 4)):
        at = int(rng.integers(len(data) - 8))
        changed[at : at + 8] = struct.pack("<d", values[rng.integers(len(values))])
    return packed(json.dumps(header).encode(), bytes(changed))


def edit_lengths(rng: np.random.Generator, content: bytes, _: bytes) -> bytes:
    fields = list(PREFIX.unpack_from(content))
    at, bits = rng.integers(1, 4), rng.integers(1, 33)
    fields[at] = int(rng.integers(2 ** int(bits)))
    return sealed(PREFIX.pack(*fields) + content[PREFIX.size :])


EDITS: list[Callable[[np.random.Generator, bytes, bytes], bytes]] = [
    edit_header,
    edit_text,
    edit_numbers,
    edit_lengths,
    edit_header,
]
