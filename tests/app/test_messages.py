"""Messages name parameters in Python, and options on the command line."""

import ast
import re
from pathlib import Path

import pytest

import invarlearn
from invarlearn.app.cli._terminal import option_of, with_options
from invarlearn.app.messages import InputError, Message, Setting


@pytest.mark.parametrize(
    ("setting", "parameter", "option"),
    [
        (Setting("size"), "the parameter size", "--size"),
        (Setting("colour", True), "colour=True", "--colour"),
        (Setting("shape", (28, 28, 3)), "shape=(28, 28, 3)", "--shape 28x28x3"),
        (Setting("ignore", ["a", "b c"]), "ignore=['a', 'b c']", "--ignore a --ignore 'b c'"),
        (Setting("groups", "[0-9]+"), "groups='[0-9]+'", "--groups '[0-9]+'"),
        (Setting("family", "shear"), "family='shear'", "--may-change shear"),
    ],
)
def test_settings_are_parameters_or_options(setting, parameter, option):
    message = Message("Choose ", setting, ".")
    assert str(message) == f"Choose {parameter}."
    assert with_options(message) == f"Choose {option}."
    assert option_of(setting) == option


def test_messages_without_settings_read_the_same_everywhere():
    error = InputError("{braces} stay", " as they are")
    assert str(error) == with_options(error.message) == "{braces} stay as they are"
    assert with_options("a text") == "a text"


def texts_of(path):
    """Return the strings of a module that are not docstrings."""
    tree = ast.parse(path.read_text())
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, documented) and ast.get_docstring(node) is not None
    }
    for node in ast.walk(tree):
        is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
        if is_text and id(node) not in docstrings:
            yield node.value


def test_only_the_command_line_speaks_of_options():
    package = Path(invarlearn.__file__).parent
    command_line = package / "app" / "cli"
    # reports of experiments name the command that made them
    for path in package.rglob("*.py"):
        if not path.is_relative_to(command_line) and "experiments" not in path.parts:
            for text in texts_of(path):
                assert not re.search(r"(?<![\w-])--[a-z]", text), f"{path}: {text}"
