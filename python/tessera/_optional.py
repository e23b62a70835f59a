"""Libraries that are imported only when they are used."""

from __future__ import annotations

import importlib
import sys
from typing import Any


def optional(name: str) -> Any:
    """A module of another library; without it an error that says what to install."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        package = name.partition(".")[0]
        raise ImportError(f"this needs {package}: pip install {package}") from error


def module_of(value: object) -> str:
    """The library that a value's type belongs to."""
    return type(value).__module__.partition(".")[0]


def is_from(value: object, library: str) -> bool:
    """Whether a value's type belongs to a library, which then has been imported."""
    return library in sys.modules and module_of(value).startswith(library)
