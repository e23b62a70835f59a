"""Numbers beside arrays, and NumPy's own functions called with them: equal to NumPy, or refused."""

import operator
import re

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tessera as ts
from tessera import _numpy

DTYPES = ["bool", "int8", "uint8", "int32", "int64", "uint64", "float32", "float64", "complex128"]
OPERATORS = [operator.add, operator.sub, operator.mul, operator.truediv, operator.pow]
OPERATORS += [operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne]
OPERATORS += [operator.and_, operator.or_, operator.xor]
NUMBERS = [True, 0, 1, -1, 2, 3, 127, 128, 255, 300, 2**40, 2**63, 2**70, -(2**63)]
NUMBERS += [0.5, -1.5, 2.0, 1e300, np.float32(2.5), np.int8(3), np.uint64(2**63), 1j, np.True_]


def numpys(function, *operands):
    """What NumPy gives, or None where it refuses."""
    with np.errstate(all="ignore"):
        try:
            return function(*operands)
        except (TypeError, OverflowError, ValueError):
            return None


@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    function=st.sampled_from(OPERATORS),
    dtype=st.sampled_from(DTYPES),
    number=st.sampled_from(NUMBERS),
    first=st.booleans(),
)
def test_numbers(worlds, function, dtype, number, first):
    full = np.arange(5).astype(dtype)
    x = worlds(2).array(full, "P('a')")
    try:
        ours = function(number, x) if first else function(x, number)
    except (ts.InvalidError, ts.UnsupportedError, TypeError):
        return
    # The number is an element of the array's type, exactly where that is an integer.
    given = np.asarray(number.item() if isinstance(number, np.generic) else number)
    with np.errstate(over="ignore"):
        element = given.astype(dtype)
    assert dtype[0] in "fc" or element.item() == given.item()
    theirs = numpys(function, element, full) if first else numpys(function, full, element)
    assert theirs is not None
    comparison = function.__name__ in ("lt", "le", "gt", "ge", "eq", "ne")
    assert ours.dtype == (np.bool_ if comparison else full.dtype)
    # Complex numbers that overflow have an infinite part; which, and what the other is, is free.
    told = np.isfinite(theirs) if dtype == "complex128" else slice(None)
    expected = theirs.astype(ours.dtype)[told]
    np.testing.assert_allclose(np.asarray(ours)[told], expected, rtol=1e-6, atol=1e-12)


def test_numbers_that_fit_are_taken(worlds):
    world = worlds(2)
    for dtype, number in [("int64", 3), ("uint8", 255), ("float32", 2**40), ("float64", 0.5)]:
        full = np.arange(5).astype(dtype)
        x, element = world.array(full, "P('a')"), full.dtype.type(number)
        for function in (operator.add, operator.sub, operator.mul, operator.ge):
            np.testing.assert_array_equal(np.asarray(function(x, number)), function(full, element))
            np.testing.assert_array_equal(np.asarray(function(number, x)), function(element, full))
    z = world.array(np.array([1 + 2j, 3]), "P('a')")
    assert np.asarray(z * 1j).tolist() == [-2 + 1j, 3j]


@pytest.mark.parametrize(
    ("number", "dtype"),
    [(0.5, "int64"), (-1, "uint8"), (300, "uint8"), (2, "bool"), (2**70, "int64"), (1j, "f8")],
)
def test_numbers_that_do_not_fit(worlds, number, dtype):
    x = worlds(2).array(np.arange(4).astype(dtype), "P('a')")
    for function in (ts.maximum, ts.equal, ts.less, lambda a, b: ts.where(a == a, a, b)):
        with pytest.raises(ts.InvalidError, match=r"is not a value of .*: convert the array"):
            function(x, number)


def test_numbers_of_arrays_that_are_made(worlds):
    world = worlds(2)
    for number, dtype in [(2**60 + 1, "i64"), (2**64 - 1, "ui64"), (1 + 2j, "complex<f64>")]:
        made = world.full((5,), number, "P('a')", dtype)
        assert np.asarray(made).tolist() == [number] * 5
        assert made.sharding.dims[0].axes == ("a",)
    assert world.full((2,), 0.1).dtype == np.float32
    x = world.arange(4)
    for number, dtype in [(0.5, "i32"), (300, "ui8"), (-1, "ui64"), (1j, "f32")]:
        with pytest.raises(ts.InvalidError, match="is not a value of"):
            world.full((2,), number, dtype=dtype)
    with pytest.raises(ts.InvalidError, match="is not a value of int64"):
        ts.pad(x, [(1, 1)], 0.5)
    with pytest.raises(ts.InvalidError, match="no double"):
        ts.pad(x, [(1, 1)], 2**60 + 1)


def test_quotients_of_integers(worlds):
    x = worlds(2).array(np.arange(4), "P('a')")
    for function in (lambda: x / 2, lambda: x / x, lambda: 3 / x, lambda: np.divide(x, x)):
        with pytest.raises(ts.InvalidError, match="rounds towards zero"):
            function()
    assert np.asarray(ts.divide(x, 2)).tolist() == [0, 0, 1, 1]


UNARY = ["negative", "absolute", "exp", "log1p", "sqrt", "tanh", "sin", "floor", "isfinite"]
BINARY = ["add", "subtract", "multiply", "divide", "maximum", "minimum", "less", "not_equal"]


@pytest.mark.parametrize("name", UNARY)
def test_universal_functions(name, worlds):
    full = np.linspace(0.5, 3, 7)
    x = worlds(3).array(full, "P('a')")
    made = getattr(np, name)(x)
    assert isinstance(made, ts.Array)
    np.testing.assert_allclose(np.asarray(made), getattr(np, name)(full), rtol=1e-12)


@pytest.mark.parametrize("name", BINARY)
def test_universal_functions_of_two(name, worlds):
    function = getattr(np, name)
    a, b = np.linspace(0.5, 3, 6), np.linspace(2, 1, 6)
    x = worlds(2).array(a, "P('a')")
    for made in (function(x, b), function(x, worlds(2).array(b))):
        np.testing.assert_array_equal(np.asarray(made), function(a, b))
    np.testing.assert_array_equal(np.asarray(function(b, x)), function(b, a))


def test_universal_functions_refused(worlds):
    x = worlds(2).ones((4,), "P('a')")
    with pytest.raises(ts.UnsupportedError, match=r"arcsin is not supported .*numpy\.asarray"):
        np.arcsin(x)
    with pytest.raises(ts.UnsupportedError, match=r"add\.reduce is not supported"):
        np.add.reduce(x)
    with pytest.raises(ts.InvalidError, match="takes no out"):
        np.add(x, x, out=np.zeros(4, dtype="f4"))


CALLS = {
    "sum": lambda np_, x: np_.sum(x, axis=0),
    "mean": lambda np_, x: np_.mean(x, 1),
    "max": lambda np_, x: np_.max(x),
    "min": lambda np_, x: np_.min(x, axis=1, keepdims=True),
    "prod": lambda np_, x: np_.prod(x, axis=1),
    "all": lambda np_, x: np_.all(x > 1, axis=0),
    "any": lambda np_, x: np_.any(x > 4),
    "argmax": lambda np_, x: np_.argmax(x, axis=1),
    "argsort": lambda np_, x: np_.argsort(-x, axis=0),
    "broadcast_to": lambda np_, x: np_.broadcast_to(x, (2, 4, 3)),
    "clip": lambda np_, x: np_.clip(x, 1, 4.5),
    "concatenate": lambda np_, x: np_.concatenate([x, x], axis=1),
    "cumsum": lambda np_, x: np_.cumsum(x, axis=0),
    "einsum": lambda np_, x: np_.einsum("ij,kj->ik", x, x),
    "reshape": lambda np_, x: np_.reshape(x, (2, 6)),
    "sort": lambda np_, x: np_.sort(-x),
    "split": lambda np_, x: np_.split(x, 2)[1],
    "stack": lambda np_, x: np_.stack([x, x], axis=-1),
    "transpose": lambda np_, x: np_.transpose(x, (1, 0)),
    "where": lambda np_, x: np_.where(x > 2, x, 0.0),
}


def test_every_function_has_a_call():
    assert set(CALLS) == set(_numpy._FUNCTIONS)


@pytest.mark.parametrize("name", sorted(CALLS))
def test_functions(name, worlds):
    full = np.arange(12.0).reshape(4, 3) / 2
    x = worlds(4).array(full, "P('a', 'b')")
    made = CALLS[name](np, x)
    assert isinstance(made, ts.Array)
    np.testing.assert_allclose(np.asarray(made), CALLS[name](np, full), rtol=1e-12)


SUMS = {
    "sum": lambda x, **more: x.sum(0, **more),
    "prod": lambda x, **more: x.prod(1, **more),
    "mean": lambda x, **more: x.mean(0, **more),
    "cumsum": lambda x, **more: x.cumsum(1, **more),
    "numpy.sum": lambda x, **more: np.sum(x, **more),
    "numpy.prod": lambda x, **more: np.prod(x, 0, **more),
    "numpy.mean": lambda x, **more: np.mean(x, axis=1, keepdims=True, **more),
    "numpy.cumsum": lambda x, **more: np.cumsum(x, 0, **more),
}
SUMMED = ["bool", "int8", "uint8", "int16", "int32", "uint32", "int64", "uint64", "float32"]


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        (name, dtype)
        for name in sorted(SUMS)
        for dtype in [None, "int64", "float32", "int8"]
        if dtype in (None, "float32") or "mean" not in name
    ],
)
def test_accumulators(name, dtype, worlds):
    """Sums have NumPy's element types, and do not wrap where those of NumPy do not."""
    more = {} if dtype is None else {"dtype": dtype}
    for elements in SUMMED[:-1] if dtype == "int8" else SUMMED:
        full = (np.arange(30).reshape(6, 5) * 19 + 90).astype(elements)
        for layout in ("P('a', 'b')", "P(('a', 'b'), None)", None):
            made = SUMS[name](worlds(4).array(full, layout), **more)
            expected = SUMS[name](full, **more)
            assert isinstance(made, ts.Array) and made.dtype == expected.dtype, elements
            np.testing.assert_allclose(np.asarray(made), expected, rtol=1e-6)


def test_counts_of_what_is_true(worlds):
    x = worlds(4).array(np.arange(10.0), "P('a')")
    assert int((x > 3).sum()) == 6 and float((x > 3).mean()) == 0.6
    assert int(worlds(4).array(np.full(300, 100, "i1"), "P('a')").sum()) == 30000

    assert np.asarray(np.sort(x, 0, "stable")).tolist() == list(range(10))


def test_functions_that_get_whole_arrays(worlds):
    full = np.arange(6).reshape(2, 3)
    x = worlds(2).array(full, "P('a', None)")
    small = worlds(2).array(full.astype("i1"), "P('a', None)")
    assert np.sum(small).dtype == np.sum(full.astype("i1")).dtype
    assert np.mean(x) == 2.5
    assert np.sort(x, axis=None).tolist() == [0, 1, 2, 3, 4, 5]
    assert np.where(x > 3)[0].tolist() == [1, 1]
    assert np.where(x > 3, 1, 2).tolist() == [[2, 2, 2], [2, 1, 1]]
    assert np.take(x, [5]).tolist() == [5]
    assert np.allclose(x, full) and np.array_equal(x, x)
    assert np.shape(x) == (2, 3) and np.ndim(x) == 2 and np.size(x) == 6
    assert np.sum(x, dtype="f4").dtype == np.float32
    assert np.linalg.norm(x.astype("f64")) == np.linalg.norm(full)


GATHERED = {
    "numpy.linalg.norm": np.linalg.norm,
    "numpy.std": np.std,
    "numpy.asarray": np.asarray,
    "numpy.stack": lambda x: np.stack([x, 2 * np.ones((2, 4))], axis=0, casting="unsafe"),
    "float()": lambda x: float(x.sum()),
    "bool()": lambda x: bool(x.sum()),
    "format()": lambda x: f"{x.sum():.1f}",
    "operator.index()": lambda x: operator.index(x.astype("i64").sum()),
}


@pytest.mark.parametrize("name", sorted(GATHERED))
def test_whole_arrays_are_traced(name, worlds):
    world = worlds(4)
    x = world.array(np.arange(8.0).reshape(2, 4), "P('a', 'b')")
    with world.trace() as moved:
        before = world.traffic()["received"]
        GATHERED[name](x)
        received = world.traffic()["received"] - before
    (event,) = [one for one in moved if one.call == name]
    assert event.implicit and event.bytes_received == received
    assert event.bytes_moved == (48 if event.tensor.endswith("[2,4]") else 24)
    with world.strict(), pytest.raises(ts.InvalidError, match=rf"^{re.escape(name)}: .*strict"):
        GATHERED[name](x)
    GATHERED[name](x)
    with world.strict():
        GATHERED[name](x.sum().replicate() if "()" in name else x.replicate())
        assert x.numpy().sum() == 28 and x.sum().item() == 28 and x.tolist()[1][3] == 7


def test_arrays_of_numpy_among_operands(worlds):
    x = worlds(2).ones((4,), "P('a')", dtype="f64")
    ones = np.ones(4)
    assert np.asarray(ts.stack([ones, x])).tolist() == [[1] * 4] * 2
    assert np.asarray(ts.concatenate([x, ones])).tolist() == [1] * 8
    assert float(ts.einsum("i,i->", ones, x)) == 4
    assert np.asarray(ts.where(ones > 0, 2.0, x)).tolist() == [2] * 4
    for call in (lambda: ts.stack([ones]), lambda: ts.concatenate([])):
        with pytest.raises(TypeError, match="none of the operands is an Array"):
            call()
    with pytest.raises(TypeError, match="a ndarray, not an Array"):
        ts.linear(x, ones)


def test_indices_that_are_not_taken(worlds):
    x = worlds(2).ones((4, 2), "P('a', None)")
    with pytest.raises(TypeError, match=r"not list: tessera\.take"):
        x[[0, 1]]
    with pytest.raises(TypeError, match="not Array"):
        x[x > 0]
    with pytest.raises(IndexError, match="at most one"):
        x[..., ...]
