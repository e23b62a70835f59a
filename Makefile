# Shortcuts; the build itself is CMake's (CMakeLists.txt, CMakePresets.json).
PREFIX ?= /usr/local

.PHONY: build demo check check-long check-python check-python-all differential bench lint format install clean deps

build:
	@scripts/deps build
	@scripts/build release

demo:
	@scripts/deps build
	@scripts/build release tessera_command example_moe_dispatch example_mlp example_transformer_tp
	@scripts/demo

check:
	@scripts/deps build test python
	@scripts/check

# The Python package alone, and beside jax, torch, mpi4py, IPython and pandas.
check-python:
	@scripts/deps build test python
	@scripts/python check

check-python-all:
	@scripts/deps build test python
	@scripts/python check-all

check-long:
	@scripts/deps build test python
	@TSR_CHECK_LONG=1 FUZZ_SECONDS=$${FUZZ_SECONDS:-600} TSR_PROP_SCALE=$${TSR_PROP_SCALE:-20} TEST_TIMEOUT=$${TEST_TIMEOUT:-6000} scripts/check

differential:
	@scripts/deps build test
	@scripts/build release
	@scripts/differential

bench:
	@scripts/deps build python bench
	@scripts/build release
	@scripts/bench

lint:
	@scripts/deps build test lint
	@scripts/build release
	@scripts/lint

format:
	@scripts/deps test
	@scripts/format

install: build
	cmake --install build --prefix $(PREFIX)

clean:
	rm -rf build build-asan build-tsan build-coverage build-python build-wheel

deps:
	@scripts/deps build test python bench lint
