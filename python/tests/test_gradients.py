"""Gradients against finite differences, and steps of optimizers against their formulas."""

import re
from collections import namedtuple

import numpy as np
import pytest

import tessera as ts


def loss(x, w, b):
    h = ts.gelu(x @ w["first"] + b)
    return ts.softmax(h @ w["second"]).sum() + (h * h).mean()


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_against_differences(ranks, worlds):
    world = worlds(ranks)
    rng = np.random.default_rng(ranks)
    full = [rng.standard_normal(s) for s in [(5, 3), (3, 4), (4, 6), (4,)]]
    layouts = ["P('a', None)", "P(None, 'a')", "P('a', None)", "P('a')"]

    def value(arrays):
        x, first, second, b = (
            world.array(a, layout) for a, layout in zip(arrays, layouts, strict=True)
        )
        return x, {"first": first, "second": second}, b

    found = ts.grad(loss, argnums=(0, 1, 2))(*value(full))
    gradients = [found[0], found[1]["first"], found[1]["second"], found[2]]
    for which, gradient in enumerate(gradients):
        got = np.asarray(gradient)
        for _ in range(4):
            at = tuple(int(rng.integers(0, n)) for n in full[which].shape)
            sides = []
            for step in (1e-6, -1e-6):
                moved = [a.copy() for a in full]
                moved[which][at] += step
                sides.append(float(loss(*value(moved))))
            assert got[at] == pytest.approx((sides[0] - sides[1]) / 2e-6, rel=1e-4, abs=1e-7)


def test_value_and_grad(worlds):
    world = worlds(2)
    w = world.array(np.array([1.0, 2.0]), "P('a')")
    value, gradient = ts.value_and_grad(lambda w: (w * w).sum())(w)
    assert float(value) == 5
    assert np.asarray(gradient).tolist() == [2, 4]
    listed = ts.grad(lambda ws: (ws[0] * ws[1]).sum())([w, w * 3])
    assert np.asarray(listed[0]).tolist() == [3, 6]
    assert isinstance(listed, list)
    with pytest.raises(ts.InvalidError, match="no array to differentiate by"):
        ts.grad(lambda w: w)(3.0)
    with pytest.raises(ts.Error):
        ts.grad(lambda w: w)(w)  # no loss: it has a dimension
    assert float((w + w).sum()) == 6


def test_tape(worlds):
    world = worlds(2)
    x = world.array(np.arange(4.0), "P('a')")
    with ts.Tape(world) as tape:
        tape.watch(x)
        y = x * x
        tape.backward(y, world.ones((4,), "P('a')", dtype="f64"))
        assert np.asarray(tape.gradient(x)).tolist() == [0, 2, 4, 6]
    with pytest.raises(ts.Error), ts.Tape(world) as tape:
        tape.backward(x.sum())
    with pytest.raises(RuntimeError), ts.Tape(world):
        raise RuntimeError
    assert float(x.sum()) == 6


def test_sgd_and_adam(worlds):
    world = worlds(4)
    start, slope = np.linspace(-1, 1, 12).reshape(3, 4), np.linspace(2, -3, 12).reshape(3, 4)

    def laid(a):
        return world.array(a, "P('a', 'b')")

    p, g, v = laid(start), laid(slope), laid(np.zeros((3, 4)))
    ts.sgd_step(p, g, learning_rate=0.1, momentum=0.9, velocity=v)
    ts.sgd_step(p, g, learning_rate=0.1, momentum=0.9, velocity=v)
    np.testing.assert_allclose(np.asarray(p), start - 0.1 * slope - 0.1 * 1.9 * slope)

    p, mean, square = laid(start), laid(np.zeros((3, 4))), laid(np.zeros((3, 4)))
    m = s = np.zeros((3, 4))
    expected = start.copy()
    for step in (1, 2, 3):
        ts.adam_step(p, g, mean, square, step, learning_rate=0.05)
        m, s = 0.9 * m + 0.1 * slope, 0.999 * s + 0.001 * slope**2
        expected -= 0.05 * (m / (1 - 0.9**step)) / (np.sqrt(s / (1 - 0.999**step)) + 1e-8)
    np.testing.assert_allclose(np.asarray(p), expected)


TAKEN = {
    "numpy.linalg.norm": np.linalg.norm,
    "numpy.std": np.std,
    "numpy.roll": lambda w: np.roll(w, 1),
    "numpy.expand_dims": lambda w: np.expand_dims(w, 0),
    "numpy.concatenate": lambda w: np.concatenate([w, w], axis=None),
    "numpy.asarray": np.asarray,
    "float()": lambda w: float(w.sum()),
    "int()": lambda w: int(w.sum()),
    "complex()": lambda w: complex(w.sum()),
    "Array.item": lambda w: w.sum().item(),
    "Array.numpy": lambda w: w.numpy(),
    "Array.tolist": lambda w: w.tolist(),
    "Array.local": lambda w: w.local(),
    "Array.to_dlpack": lambda w: w.to_dlpack(1),
}


@pytest.mark.parametrize("name", sorted(TAKEN))
def test_nothing_leaves_a_tape(name, worlds):
    world = worlds(2)
    w = world.array(np.array([1.0, 2.0, 4.0]), "P('a')")
    take = TAKEN[name]
    with pytest.raises(ts.InvalidError, match=rf"^{re.escape(name)} .*ts\.stop_gradient"):
        ts.grad(lambda w: (w * w).sum() if take(w * 2) is None else w.sum())(w)
    take(w)  # outside of a tape
    x = world.array(np.arange(3.0), "P('a')")
    kept = []

    def loss(w):
        kept.append(take(x))  # what no tape records
        kept.append(take(ts.stop_gradient(w)))
        assert (w.sum() > 0) and bool(w.sum()) and f"{w.sum():.1f}" == "7.0"
        return (w * w).sum()

    assert np.asarray(ts.grad(loss)(w)).tolist() == [2, 4, 8]
    with ts.Tape(world) as tape:
        tape.watch(w)
        value = (w * w).sum()
        with tape.paused():
            take(w)
        tape.backward(value)
        assert float(value) == 21 and np.asarray(tape.gradient(w)).tolist() == [2, 4, 8]


def test_capsules_leave_no_tape():
    with ts.World(1) as world:
        w = world.array(np.array([1.0, 2.0]))
        message = r"^Array\.__dlpack__ .*ts\.stop_gradient"
        with pytest.raises(ts.InvalidError, match=message):
            ts.grad(lambda w: (w * np.from_dlpack(w)).sum())(w)
        found = ts.grad(lambda w: (w * world.array(np.from_dlpack(ts.stop_gradient(w)))).sum())(w)
        assert np.asarray(found).tolist() == [1, 2]
        assert np.from_dlpack(w).tolist() == [1, 2]


def test_stop_gradient(worlds):
    world = worlds(2)
    w = world.array(np.array([3.0, 4.0]), "P('a')")
    found = ts.grad(lambda w: (w * ts.stop_gradient(w)).sum())(w)
    assert np.asarray(found).tolist() == [3, 4]
    constant = ts.stop_gradient({"w": w, "n": 3})
    ts.sgd_step(w, w, learning_rate=1.0)
    assert np.asarray(w).tolist() == [0, 0]
    assert np.asarray(constant["w"]).tolist() == [3, 4] and constant["n"] == 3


def test_leaves_that_are_no_arrays(worlds):
    world = worlds(2)
    point = namedtuple("point", "w rate")(world.array(np.array([1.0, 2.0]), "P('a')"), 3.0)
    found = ts.grad(lambda p: (p.w * p.w * p.rate).sum())(point)
    assert type(found) is type(point) and found.rate is None
    nested = {"layers": [point.w, (2, None)], "name": "x"}
    gradients = ts.grad(lambda p: (p["layers"][0] * 2).sum())(nested)
    assert gradients["layers"][1] == (None, None) and gradients["name"] is None
    for parameter, gradient in zip(point, found, strict=True):
        ts.sgd_step(parameter, gradient, learning_rate=0.5)
        ts.adam_step(parameter, None, None, None, 1, learning_rate=0.5)
    assert np.asarray(point.w).tolist() == [-2, -4]
