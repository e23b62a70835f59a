"""Files of arrays: ``.npy``, ``.npz`` and ``.safetensors``, told apart by what they contain."""

from __future__ import annotations

import json
import os
import stat
import zipfile
import zlib
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from tessera._arena import Arena
from tessera._binding import ffi, lib
from tessera._dtype import dtype_code, numpy_dtype
from tessera._errors import InvalidError, UnsupportedError

if TYPE_CHECKING:
    from tessera._array import Array

Path = str | os.PathLike[str]

# The element types of .safetensors.
_TYPES = {
    "BOOL": lib.TSR_I1,
    "U8": lib.TSR_U8,
    "I8": lib.TSR_I8,
    "F8_E5M2": lib.TSR_F8E5M2,
    "F8_E4M3": lib.TSR_F8E4M3FN,
    "F8_E8M0": lib.TSR_F8E8M0FNU,
    "I16": lib.TSR_I16,
    "U16": lib.TSR_U16,
    "F16": lib.TSR_F16,
    "BF16": lib.TSR_BF16,
    "I32": lib.TSR_I32,
    "U32": lib.TSR_U32,
    "F32": lib.TSR_F32,
    "F64": lib.TSR_F64,
    "I64": lib.TSR_I64,
    "U64": lib.TSR_U64,
    "C64": lib.TSR_C64,
}
_NAMES = {code: name for name, code in _TYPES.items()}
_MAX_HEAD = 1 << 20  # of a .npy file
_MAX_HEADER = 100_000_000  # of a .safetensors file, the limit of the format
_ENDINGS = ".npy, .npz and .safetensors"


def text_of_path(path: Path) -> str:
    """A path as text; a TypeError for what is none."""
    return os.fsdecode(os.fspath(path))


def kind_of(path: str) -> str:
    """The format of a file: npy, npz or safetensors."""
    about = os.stat(path)
    if not stat.S_ISREG(about.st_mode):
        raise InvalidError(f"{path} is not a regular file")
    with open(path, "rb") as file:
        start = file.read(9)
    if start.startswith(b"\x93NUMPY"):
        return "npy"
    if start.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return "npz"
    if start[8:9] == b"{" and int.from_bytes(start[:8], "little") <= about.st_size - 8:
        return "safetensors"
    raise InvalidError(
        f"{path} is not a file of arrays, or its start is missing: {_ENDINGS} files are read"
    )


def npy_shape(path: str) -> tuple[int, ...]:
    """The shape of the array in a ``.npy`` file."""
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        head = file.read(_MAX_HEAD)
    arena, view, start = Arena(), ffi.new("tsr_view *"), ffi.new("size_t *")
    name = ffi.new("char[]", path.encode())
    arena.check(lib.tsr_npy_head(arena.ctx, arena.arena, name, head, len(head), size, view, start))
    return tuple(view.shape[0 : view.rank]) if view.rank else ()


# ---- reading ----


def read(path: str, kind: str, name: str | None) -> NDArray[Any]:
    """An array of a ``.npz`` or ``.safetensors`` file; without a name its only one."""
    return _read_zip(path, name) if kind == "npz" else _read_safetensors(path, name)


def _chosen(path: str, names: list[str], name: str | None) -> str:
    if name is None and len(names) == 1:
        return names[0]
    if name not in names:
        wrong = "which one is not said" if name is None else f"none of them is {name!r}"
        raise InvalidError(
            f"{path} has {len(names)} arrays, and {wrong}: load(.., name=..) takes "
            f"{', '.join(names) or 'none'}"
        )
    return name


def _read_zip(path: str, name: str | None) -> NDArray[Any]:
    try:
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as arrays:
            found: NDArray[Any] = arrays[_chosen(path, list(arrays.files), name)]
    except (
        ValueError,
        EOFError,
        KeyError,
        NotImplementedError,
        zlib.error,
        zipfile.BadZipFile,
    ) as error:
        if isinstance(error, InvalidError):
            raise
        raise InvalidError(f"{path} is not an .npz file, or is cut short: {error}") from None
    return found.view(numpy_dtype(lib.TSR_BF16)) if found.dtype == np.dtype("V2") else found


def _header_of(path: str) -> tuple[dict[str, Any], int, int]:
    """The entries of a ``.safetensors`` file, where its elements begin, and its size."""
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        length = int.from_bytes(file.read(8), "little")
        if length > min(size - 8, _MAX_HEADER):
            raise InvalidError(f"{path} is not a .safetensors file: the header exceeds the file")
        try:
            header: Any = json.loads(file.read(length))
        except (ValueError, RecursionError):
            header = None
    if not isinstance(header, dict):
        raise InvalidError(f"{path} is not a .safetensors file: its header is not a JSON object")
    entries = cast(dict[str, Any], header)
    entries.pop("__metadata__", None)
    return entries, 8 + length, size


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _read_safetensors(path: str, name: str | None) -> NDArray[Any]:
    header, data, size = _header_of(path)
    chosen = _chosen(path, list(header), name)
    try:
        entry = header[chosen]
        code, shape, (begin, end) = _TYPES[entry["dtype"]], entry["shape"], entry["data_offsets"]
        if not all(_is_count(one) for one in (*shape, begin, end)):
            raise ValueError
    except (KeyError, TypeError, ValueError):
        raise InvalidError(f"{path}: the entry {chosen} has no type, shape or place") from None
    dtype, count = numpy_dtype(code), 1
    for extent in shape:
        count *= extent
    if end - begin != count * dtype.itemsize or end > size - data:
        raise InvalidError(
            f"{path} is cut short, or its header is wrong: the array {chosen} takes "
            f"{count * dtype.itemsize} bytes from byte {data + begin}, the file has {size}"
        )
    if count == 0:
        return np.empty(shape, dtype)
    found = np.memmap(path, np.uint8, "r", data + begin, (end - begin,)).view(dtype).reshape(shape)
    return np.require(found, requirements=["ALIGNED"])


# ---- writing ----


def save(x: Array, path: Path) -> None:
    """Writes an array in the format that the ending of a path names."""
    text = text_of_path(path)
    stem, ending = os.path.splitext(text)
    if ending not in (".npy", ".npz", ".safetensors"):
        raise InvalidError(f"the ending of {text!r} names no format: there are {_ENDINGS}")
    code = dtype_code(x.dtype)
    if ending != ".safetensors" and x.dtype.kind not in "biufc":
        raise UnsupportedError(
            f"{text}: no program would read {x.dtype} from a {ending} file; "
            f"x.save({stem + '.safetensors'!r}) keeps the type, x.astype('f32') gives another"
        )
    if ending == ".safetensors" and code not in _NAMES:
        raise UnsupportedError(
            f"{text}: the format has no name for {x.dtype}; convert the array first, x.astype(..)"
        )
    if ending == ".npy":
        keep = ffi.new("char[]", text.encode())
        given = ffi.new("tp_arguments *", {"text": keep})
        x._world._call(lib.TP_SAVE, ffi.NULL, (x,), given, 0)
        return
    whole = x._whole("Array.save", implicit=False, constant=False)
    if x._world.rank == 0:
        partial = f"{text}.partial"
        with open(partial, "wb") as file:
            if ending == ".npz":
                np.savez(file, whole)
            else:
                _write_safetensors(file, os.path.basename(stem), whole, _NAMES[code])
        os.replace(partial, text)
    x._world.barrier()


def _write_safetensors(file: Any, name: str, values: NDArray[Any], kind: str) -> None:
    entry = {"dtype": kind, "shape": values.shape, "data_offsets": [0, values.nbytes]}
    header = json.dumps({name: entry}).encode()
    header += b" " * (-len(header) % 8)
    file.write(len(header).to_bytes(8, "little") + header)
    file.write(np.ascontiguousarray(values).reshape(-1).view(np.uint8).tobytes())
