"""Writes the C source of the extension module ``tessera._binding``.

The declarations come out of the public headers and of ``calls.h`` as the C preprocessor gives
them, so nothing is declared twice. Usage: generate.py COMPILER INCLUDE_DIR OUTPUT.c
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from cffi import FFI

HERE = Path(__file__).resolve().parent
STANDARD_HEADERS = ("stdbool.h", "stddef.h", "stdint.h", "stdio.h")
CONSTANT = re.compile(r"^#define (TSR_\w+) +\(?(?:-?\d+|INT\d+_(?:C\(-?\d+\)|MIN|MAX))\)?", re.M)

# What C calls in Python: the function of a rank, and its interrupt (tessera.launch).
CALLBACKS = """
extern "Python+C" int tp_python_rank(tp_world *world, int64_t index, void *state);
extern "Python+C" void tp_python_interrupt(void *state);
"""


def preprocess(compiler: str, include: Path, header: Path) -> str:
    """The declarations of a header, those of the C library left out: cffi knows its types."""
    with tempfile.TemporaryDirectory() as folder:
        for name in STANDARD_HEADERS:
            (Path(folder) / name).touch()
        # Without these two, base.h leaves out the attributes of prototypes.
        command = [compiler, "-E", "-P", "-nostdinc", "-U__GNUC__", "-U__clang__", "-U__cplusplus"]
        command += ["-D_Static_assert(a, b)=", "-I", folder, "-I", str(include), str(header)]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def constants(include: Path) -> str:
    """The integer macros of the public headers."""
    names: set[str] = set()
    for header in sorted((include / "tessera").glob("*.h")):
        names.update(CONSTANT.findall(header.read_text()))
    return "".join(f"#define {name} ...\n" for name in sorted(names))


def main() -> None:
    """Writes the source."""
    compiler, include, output = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    ffi = FFI()
    ffi.cdef(constants(include) + preprocess(compiler, include, HERE / "calls.h") + CALLBACKS)
    ffi.set_source("tessera._binding", '#include "handles.h"\n', py_limited_api=True)
    ffi.emit_c_code(str(output))


if __name__ == "__main__":
    main()
