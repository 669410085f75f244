"""Options that take a name of a registry, which is loaded only when its names are needed."""

from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperCommand

if TYPE_CHECKING:
    from pengp._core.registry import Registry

#: Stands in the help until the names are known.
_CHOICE = "CHOICE"


def choice(parameter: str, help: str, default: str | bool = True) -> Any:
    """Return the option for a parameter that names a record.

    Parameters
    ----------
    parameter : str
        Of the estimators, such as kernel.
    help : str
        What it is; the labels of the records follow.
    default : str or bool
        What stands for the default in the help, if not its name.
    """
    return typer.Option(
        f"--{parameter}",
        metavar=_CHOICE,
        help=f"{help}.",
        callback=_checked,
        show_default=default,
        autocompletion=lambda: list(_registry(parameter)),
    )


class ChoosingCommand(TyperCommand):
    """A command whose help lists the names and labels of registries."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the options, those of `choice` with what there is to choose from."""
        for option in self.params:
            if getattr(option, "metavar", None) == _CHOICE:
                registry = _registry(str(option.name))
                option.metavar = f"<{'|'.join(registry)}>"
                labels = ", ".join(registry.label(name) for name in registry)
                option.help = f"{option.help[:-1]}: {labels}."  # type: ignore[attr-defined]  # a Parameter that is an option
        super().format_options(ctx, formatter)


def _checked(param: typer.CallbackParam, value: str | None) -> str | None:
    """Return a name that is known, or none; else it is a wrong use of the command."""
    if value is None or value == param.default:
        return value
    registry = _registry(str(param.name))
    if value not in registry:
        raise typer.BadParameter(f"{value!r} is not one of {', '.join(registry)}.")
    return value


def _registry(parameter: str) -> "Registry[Any]":
    """Return the registry behind a parameter."""
    from pengp.estimators.records import RECORDS

    return RECORDS[parameter]
