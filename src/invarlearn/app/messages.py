"""Messages with parameters, which the command line writes as options."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Setting:
    """A parameter of :func:`open_samples` or :func:`train_model` in a message.

    In Python, messages name the parameter. On the command line, they name the option that sets it.

    Parameters
    ----------
    name : str
        Name of the parameter.
    value : object, optional
        A value of the parameter. None: the message has the name only.

    Examples
    --------
    >>> str(Setting("shape", (28, 28))), str(Setting("colour"))
    ('shape=(28, 28)', 'the parameter colour')
    """

    name: str
    value: Any = None

    def __str__(self) -> str:
        return f"the parameter {self.name}" if self.value is None else f"{self.name}={self.value!r}"


@dataclass(frozen=True, init=False)
class Message:
    """A text that contains settings.

    Parameters
    ----------
    *parts : str or Setting

    Examples
    --------
    >>> message = Message("Keep colours with ", Setting("colour", True), ".")
    >>> str(message)
    'Keep colours with colour=True.'
    >>> message.text(lambda setting: f"--{setting.name}")
    'Keep colours with --colour.'
    """

    parts: tuple[str | Setting, ...]

    def __init__(self, *parts: str | Setting):
        object.__setattr__(self, "parts", parts)

    def __str__(self) -> str:
        return self.text(str)

    def text(self, write: Callable[[Setting], str]) -> str:
        """Return the text, with every setting written by ``write``."""
        return "".join(write(part) if isinstance(part, Setting) else part for part in self.parts)


class InputError(ValueError):
    """Error for samples or settings that cannot be used.

    Parameters
    ----------
    *parts : str or Setting
        The message: what is wrong, and what to do.

    Attributes
    ----------
    message : Message
    """

    def __init__(self, *parts: str | Setting):
        self.message = Message(*parts)
        super().__init__(str(self.message))


def first_line(error: Exception) -> str:
    """Return the first line of the text of an error, or its type if it has no text."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]
