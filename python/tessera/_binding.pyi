"""The extension module that cffi makes out of the public headers: its parts are those of C."""

from typing import Any

ffi: Any
lib: Any
