"""The documents: every line of Python that they show is run, and prints what they say."""

import doctest
import importlib
import pkgutil
from pathlib import Path

import pytest

import tessera as ts

ROOT = Path(__file__).resolve().parents[2]


DOCUMENTS = [
    name
    for name in (
        "README.md",
        "python/README.md",
        *sorted(f"docs/{p.name}" for p in (ROOT / "docs").glob("*.md")),
    )
    if ">>> " in (ROOT / name).read_text(encoding="utf-8")
]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_document(name, monkeypatch):
    monkeypatch.chdir(ROOT)
    result = doctest.testfile(str(ROOT / name), module_relative=False, encoding="utf-8")
    assert result.attempted >= 2
    assert result.failed == 0


def test_everything_public_is_documented():
    for name in ts.__all__:
        value = getattr(ts, name)
        assert (value.__doc__ or "").strip(), name
        if isinstance(value, type):
            for attribute, member in vars(value).items():
                if not attribute.startswith("_") and (callable(member) or hasattr(member, "fget")):
                    assert (member.__doc__ or "").strip(), f"{name}.{attribute}"


def test_every_module_is_imported_alone():
    for module in pkgutil.iter_modules(ts.__path__):
        if not module.name.startswith(("_binding", "lib")):
            assert importlib.import_module(f"tessera.{module.name}").__doc__
