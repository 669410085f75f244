import signal
import sys
from pathlib import Path

import pytest

from tests.cli.kills import MOMENTS, is_in_order, kill_often

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at processes in /proc")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_no_signal_is_lost_and_no_process_left_while_workers_start(
    tmp_path: Path, number: signal.Signals
) -> None:
    for sent, end in kill_often(tmp_path, len(MOMENTS), [number]):
        assert is_in_order(sent, end), end
    assert sorted(place.name for place in tmp_path.rglob("*")) == ["runs.csv", "temporary"]
