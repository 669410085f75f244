"""The root of the command line: its commands, its exit codes, and how errors and notes look.

Command modules import only typer and light modules at their top; what is heavy is imported inside
their functions, so that ``pengp --version`` and ``pengp --help`` answer at once. A command raises
`InputError` or `FileError` and never prints an error itself.
"""

import contextlib
import os
import sys
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Annotated, Any, TextIO

import typer
from typer.core import TyperGroup

import pengp
from pengp._core.files import writing_to
from pengp._core.surface import command_words
from pengp.cli.choices import ChoosingCommand
from pengp.cli.compare import compare
from pengp.cli.design import design
from pengp.cli.effects import effects
from pengp.cli.fit import fit
from pengp.cli.info import info
from pengp.cli.next_runs import next_runs
from pengp.cli.optimize import optimize
from pengp.cli.predict import predict
from pengp.cli.printing import note, say, visible
from pengp.cli.propagate import propagate
from pengp.cli.records import spread
from pengp.cli.report import report
from pengp.cli.signals import handle_signals, signals_first
from pengp.cli.study import app as study
from pengp.cli.update import update
from pengp.cli.validate import validate
from pengp.exceptions import DoubtWarning, FileError, InputError, PengpWarning

_UsageError: Any = typer.BadParameter.__base__  # click's, wherever typer keeps it
UNEXPECTED, UNUSABLE, FILE, INTERRUPTED = 1, 3, 4, 130


class Commands(TyperGroup):
    """The group of all commands, which turns their exceptions into messages and exit codes."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was asked for."""
        with command_words(), _notes(), _exit_codes(), signals_first():
            result = super().invoke(ctx)
            with writing_to("standard output"):
                sys.stdout.flush()  # a full disk or a closed pipe shows here, not at exit
            return result


@contextlib.contextmanager
def _exit_codes() -> Iterator[None]:
    """Say in one sentence what went wrong, and exit with the code for it."""
    try:
        yield
    except KeyboardInterrupt:
        sys.stderr.write("Interrupted; nothing was written.\n")
        raise typer.Exit(INTERRUPTED) from None
    except (FileError, OSError) as error:
        _close_output()
        if isinstance(error, BrokenPipeError) or isinstance(error.__cause__, BrokenPipeError):
            raise typer.Exit from None  # the reader, such as head, has seen enough
        lost = isinstance(error, FileNotFoundError) and error.filename is None
        say("the working directory is gone; change to another one." if lost else str(error))
        raise typer.Exit(FILE) from None
    except InputError as error:
        say(str(error))
        raise typer.Exit(UNUSABLE) from None
    except MemoryError:
        say(
            "this takes more memory than there is; use fewer runs or --jobs 1, or close other "
            "programs."
        )
        raise typer.Exit(UNUSABLE) from None
    except ImportError as error:
        say(_advice(error))
        raise typer.Exit(UNEXPECTED) from None
    except _UsageError as error:  # is told by typer, in the caller's words
        error.message = visible(error.message)
        raise


def _close_output() -> None:
    """Send what cannot be written to standard output nowhere, lest Python complain at its exit."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _advice(error: ImportError) -> str:
    """Return a sentence on how to install an optional package."""
    if isinstance(error, ModuleNotFoundError) and error.name:
        return f'this needs {error.name}; install it with: pip install "pengp[all]"'
    return str(error)


@contextlib.contextmanager
def _notes() -> Iterator[None]:
    """Show the package's warnings as notes, each once."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", PengpWarning)
        warnings.simplefilter("ignore", DoubtWarning)  # commands say it in full
        python_s, seen = warnings.showwarning, set[str]()

        def show(
            message: Warning | str,
            category: type[Warning],
            filename: str,
            lineno: int,
            file: TextIO | None = None,
            line: str | None = None,
        ) -> None:
            if not issubclass(category, PengpWarning):
                python_s(message, category, filename, lineno, file, line)
            elif str(message) not in seen:
                seen.add(str(message))
                note(str(message))

        warnings.showwarning = show
        yield


def _unexpected(
    kind: type[BaseException], error: BaseException, where: TracebackType | None
) -> None:
    """Show an error that should not happen, in full."""
    sys.stderr.write(visible("".join(traceback.format_exception(kind, error, where))))
    say("this is a mistake in pengp; please report it with the lines above.")


app = typer.Typer(
    name="pengp",
    cls=Commands,
    no_args_is_help=True,
    rich_markup_mode=None,  # help in plain text, which loads nothing
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    """Print the version and stop, if that is wanted."""
    if wanted:
        typer.echo(f"pengp {pengp.__version__}")
        raise typer.Exit


@app.callback(
    epilog="Exit codes: 0 done; 1 unexpected error; 2 wrong usage; 3 data or a value cannot be "
    "used; 4 a file cannot be read or written; 130 interrupted; 129 or 143 ended by a signal.",
)
def root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Surrogates of deterministic simulators from a table of few runs.

    A table is a CSV, TSV, Parquet or Excel (.xlsx) file with one run a row and names in its first
    row. Start with: pengp fit runs.csv --response NAME
    """


_DECISIONS = (effects, propagate, optimize)
for command in (design, fit, predict, validate, compare, info, update, *_DECISIONS, report):
    app.command(cls=ChoosingCommand)(spread(command))
app.command("next", cls=ChoosingCommand)(spread(next_runs))
app.add_typer(study)


def run() -> None:
    """Run the command line on the arguments of this process."""
    sys.excepthook = _unexpected
    handle_signals()
    _prepare_streams()
    try:
        typer.main.get_command(app)(prog_name="pengp")
    except OSError as error:  # --help and --version write before a command begins
        _close_output()
        say(f"cannot write standard output: {error.strerror}; choose another place.")
        sys.exit(FILE)


def _prepare_streams() -> None:
    """See to it that all can be written to standard output and error."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by the caller, as in >&-
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115  # for the whole run
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # names may not fit the terminal's encoding
