# Front door. Everything is built by CMake under build/; these are the commands that people type.
SHELL := /bin/bash
PRESET ?= release
BUILD := build/$(PRESET)
JOBS ?= $(shell nproc)

.PHONY: all build demo sandbox test check bench docs install deb image format clean

all: build

# The loader refuses plugins in folders that others may write to, so the build tree is not made with such a umask.
build:
	@scripts/bootstrap.sh build
	@umask 022; mkdir -p build && \
	    { cmake --preset $(PRESET) >build/configure.log 2>&1 || { cat build/configure.log; exit 1; }; } && \
	    cmake --build $(BUILD) -j $(JOBS)

demo: build
	@scripts/bootstrap.sh test
	@/usr/bin/python3 tests/support/demo.py --build $(BUILD)

sandbox: build
	@scripts/bootstrap.sh test
	@/usr/bin/python3 tests/support/sandbox.py --build $(BUILD)

test:
	@scripts/bootstrap.sh test
	@$(MAKE) --no-print-directory build
	@ctest --test-dir $(BUILD) --output-on-failure -j $(JOBS)

check:
	@scripts/bootstrap.sh check
	@scripts/check.sh

bench: build
	@scripts/bootstrap.sh test
	@/usr/bin/python3 tests/bench/bench.py --build $(BUILD)
	@/usr/bin/python3 tests/bench/cloudsim.py --build $(BUILD)

docs: build
	@cmake --build $(BUILD) --target docs

install: build
	@cmake --install $(BUILD) $(if $(PREFIX),--prefix $(PREFIX))

deb:
	@scripts/bootstrap.sh package
	@scripts/deb.sh

image:
	@scripts/bootstrap.sh package
	@scripts/image.sh

format:
	@git ls-files '*.c' '*.h' | xargs clang-format -i

clean:
	@rm -rf build
