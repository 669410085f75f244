"""Files are written whole or not at all."""

import errno
import os
import stat
from pathlib import Path

import pytest

from pengp._core.files import replacing, writing_to
from pengp.exceptions import FileError


def names(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


def test_a_file_takes_its_place_when_the_block_ends(tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    target.write_text("old")
    with replacing(target) as temporary:
        temporary.write_text("new")
        assert target.read_text() == "old"
        assert temporary.parent == tmp_path
    assert target.read_text() == "new"
    assert names(tmp_path) == ["a.txt"]


def test_a_new_file_has_the_permissions_of_the_users_other_files(tmp_path: Path) -> None:
    (tmp_path / "by_hand").touch()
    with replacing(tmp_path / "ours") as temporary:
        temporary.write_text("x")
    by_hand, ours = ((tmp_path / name).stat().st_mode for name in ("by_hand", "ours"))
    assert stat.S_IMODE(ours) == stat.S_IMODE(by_hand)


def test_the_permissions_of_an_old_file_stay(tmp_path: Path) -> None:
    target = tmp_path / ("long" * 60)
    target.touch(mode=0o600)
    with replacing(target) as temporary:
        temporary.write_text("new")
    assert stat.S_IMODE(target.stat().st_mode) == 0o600


def test_a_link_goes_on_pointing_to_its_file(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with replacing(tmp_path / "link") as temporary:
        temporary.write_text("new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


def test_a_device_is_written_to_and_not_replaced() -> None:
    with replacing("/dev/null") as place:
        place.write_text("gone")
    assert not Path("/dev/null").is_file()


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_a_failure_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, error: type[BaseException]
) -> None:
    target = tmp_path / "a.txt"
    target.write_text("old")

    def interrupted() -> None:
        with replacing(target) as temporary:
            temporary.write_text("half")
            raise error

    with pytest.raises(error):
        interrupted()
    assert target.read_text() == "old"
    assert names(tmp_path) == ["a.txt"]


def test_places_that_cannot_be_written_are_named_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for target, reason in [
        (tmp_path / "missing" / "a", "its directory does not exist"),
        (tmp_path / "file" / "a", "its directory is a file"),
        (tmp_path, "it is a directory"),
    ]:
        with pytest.raises(FileError) as caught, replacing(target):
            pytest.fail("the block must not be entered")
        assert str(caught.value).startswith(f"cannot write {target}: {reason}")
    assert names(tmp_path) == ["file"]


@pytest.mark.parametrize(
    ("number", "reason"),
    [(errno.ENOSPC, "the disk is full"), (errno.EACCES, "permission"), (errno.EIO, "Input/output")],
)
def test_system_errors_become_one_sentence(tmp_path: Path, number: int, reason: str) -> None:
    with pytest.raises(FileError, match=reason), writing_to(tmp_path / "a"):
        raise OSError(number, os.strerror(number))
