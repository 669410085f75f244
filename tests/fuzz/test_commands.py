"""Every command on generated command lines: an exit code that is documented, one sentence."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from tests.fuzz.commands import CODES, commands, inside, lines, make_folder, run
from tests.fuzz.inputs import counted, share

PARTS = {"fit": 10, "report": 1, "info": 4, "study run": 4, "study readings": 1}
COMMANDS = {" ".join(words): command for words, command in commands().items()}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("files")
    make_folder(place)
    return place


def check_ending(code: int, output: str, messages: str) -> None:
    """Assert that a command ended as documented."""
    assert code in CODES, (code, output, messages)
    assert "Traceback" not in messages
    assert "\x1b" not in output + messages
    if code in (3, 4):
        *_, last = messages.strip().splitlines()
        assert last.startswith("pengp: "), messages
    if code == 0 and output.startswith("{"):
        json.loads(output, parse_constant=pytest.fail)  # no NaN, no Infinity


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command(name: str, folder: Path) -> None:
    @share(PARTS.get(name, 7))
    @given(counted(lines(tuple(name.split()), COMMANDS[name])))
    def check(line: list[str]) -> None:
        check_ending(*run(line))

    with inside(folder):
        check()


def test_the_commands_are_found() -> None:
    assert {"fit", "predict", "next", "study check"} <= {*COMMANDS}
    parameters: list[Any] = [p for command in COMMANDS.values() for p in command.params]
    assert len(parameters) > 100
