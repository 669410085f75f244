"""Files that are written whole or not at all, and what to say when they cannot be."""

import contextlib
import errno
import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

from pengp.exceptions import FileError

_REASONS = {
    errno.ENOSPC: "the disk is full; free some space or choose another place",
    errno.EDQUOT: "your disk quota is used up; free some space or choose another place",
    errno.EACCES: "permission is denied; choose a place that you may write to",
    errno.EPERM: "permission is denied; choose a place that you may write to",
    errno.EROFS: "the file system is read-only; choose a place that you may write to",
    errno.ENOENT: "its directory does not exist; create it first",
    errno.ENOTDIR: "its directory is a file; choose another place",
    errno.EISDIR: "it is a directory; add a file name",
    errno.ELOOP: "it is a link that leads to itself; choose another place",
}


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield the path of a temporary file that takes the place of ``path`` when the block ends.

    If the block raises, ``path`` is left as it was and the temporary file is removed. A link stays
    a link; a device or a pipe, which cannot be replaced, is yielded itself. An OSError becomes a
    FileError of one sentence.
    """
    with writing_to(path):
        target = link_target(path)
        if target.is_dir():
            raise IsADirectoryError(errno.EISDIR, "is a directory")
        if target.exists() and not target.is_file():
            yield target
            return
        handle, name = tempfile.mkstemp(prefix=f".{target.name[:40]}.", dir=target.parent)
        os.close(handle)
        temporary = Path(name)
        try:
            temporary.chmod(_mode(target))  # mkstemp gives 0o600
            yield temporary
            with temporary.open("rb") as file:
                os.fsync(file.fileno())
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)


def link_target(path: str | os.PathLike[str]) -> Path:
    """Return the file that a path means, following links; an OSError if they lead nowhere."""
    target = Path(os.path.realpath(path))
    if target.is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    return target


@contextlib.contextmanager
def writing_to(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn an OSError of the block into a FileError that says why ``path`` cannot be written."""
    try:
        yield
    except OSError as error:
        number = error.errno or 0
        reason = _REASONS.get(number, f"{error.strerror or error}; choose another place")
        raise FileError(f"cannot write {os.fspath(path)}: {reason}.") from error


def _mode(target: Path) -> int:
    """Return the permissions of a file: those of the old one, else as the user's umask has it."""
    if target.exists():
        return stat.S_IMODE(target.stat().st_mode)
    mask = os.umask(0o077)  # it can only be read by setting it
    os.umask(mask)
    return 0o666 & ~mask
