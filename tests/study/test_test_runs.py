from pathlib import Path

import numpy as np
import pytest

from pengp.exceptions import FileError, InputError
from pengp.study.test_runs import digest, read_test_runs

HEADER = "x1,x2,x3,x4,x5,x6,noise"


def test_test_runs_are_read_and_their_digest_follows_the_numbers_alone(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    path.write_text(f"{HEADER}\n1,2,3,4,5,6,7.5\n\n-1,2e1,3,4,5,6,0.25\n")
    runs = read_test_runs(path)
    np.testing.assert_array_equal(runs.X, [[1, 2, 3, 4, 5, 6], [-1, 20, 3, 4, 5, 6]])
    np.testing.assert_array_equal(runs.y, [7.5, 0.25])
    path.write_bytes("\ufeffa,b,c,d,e,f,g\r\n1.0,2,3,4,5,6,7.50\r\n-1,20,3,4,5,6,.25".encode())
    assert digest(read_test_runs(path)) == digest(runs)
    path.write_text(f"{HEADER}\n1,2,3,4,5,6,7.5\n-1,20,3,4,5,6,0.26\n")
    assert digest(read_test_runs(path)) != digest(runs)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "are empty; they need a header and a line per run"),
        (b"\n \n", "are empty"),
        (HEADER.encode(), "have a header but no runs below it"),
        (b"x1,x2,noise\n1,2,3\n", "have 3 columns; they need 7: six inputs and the noise"),
        (b"1,2,3,4,5,6,7\n1,2,3,4,5,6,7\n", "have no header; the first line has to name"),
        (b"noise,x1,x2,x3,x4,x5,x6\n1,2,3,4,5,6,7\n", "in another order .* is x1, x2, x3"),
        (f"{HEADER}\n1,2,3,4,5,6,7\n1,2,3\n".encode(), "line 3 of .* has 3 columns, the header 7"),
        (f"{HEADER}\n1,2,3,4,5,6,7\n1,2,x,4,5,6,7\n".encode(), "line 3, column 'x3' .* is 'x', wh"),
        (f"{HEADER}\n1,2,3,4,5,,7\n".encode(), "line 2, column 'x6' .* is '', which is not a fin"),
        (f"{HEADER}\n1,2,3,4,5,6,nan\n".encode(), "line 2, column 'noise' .* is 'nan', which is n"),
        (b"\xff\xfe\x00", "are not a CSV text file"),
    ],
)
def test_test_runs_that_cannot_be_used_are_explained(
    tmp_path: Path, content: bytes, message: str
) -> None:
    path = tmp_path / "runs.csv"
    path.write_bytes(content)
    with pytest.raises(InputError, match=rf"(?s)runs\.csv.* {message}|{message}"):
        read_test_runs(path)


def test_missing_test_runs_are_named(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"^cannot read the test runs .*none\.csv: No such file"):
        read_test_runs(tmp_path / "none.csv")
