# Front door. Everything is built by CMake under build/; these are the commands that people type.
SHELL := /bin/bash
PRESET ?= release
BUILD := build/$(PRESET)
JOBS ?= $(shell nproc)
# Most tests wait most of the time; those that need more of the machine say so (PROCESSORS).
TEST_JOBS ?= $(shell echo $$((5 * $(JOBS))))
export JOBS

.PHONY: all build demo sandbox pictures quick test simulate against mutants soak check bench docs gauge install deb image release sign version format clean

all: build

# The loader refuses plugins in folders that others may write to, so the build tree is not made with such a umask.
build:
	@scripts/bootstrap.sh build
	@grep -qs '^CMAKE_HOME_DIRECTORY:INTERNAL=$(CURDIR)$$' $(BUILD)/CMakeCache.txt || \
	    rm -rf $(BUILD)/CMakeCache.txt $(BUILD)/CMakeFiles # a tree that was copied or moved: its paths are those of before
	@umask 022; mkdir -p build && \
	    { cmake --preset $(PRESET) >build/configure.log 2>&1 || { cat build/configure.log; exit 1; }; } && \
	    cmake --build $(BUILD) -j $(JOBS)

demo: build
	@scripts/bootstrap.sh test
	@/usr/bin/python3 tests/support/demo.py --build $(BUILD)

sandbox: build
	@scripts/bootstrap.sh test
	@/usr/bin/python3 tests/support/sandbox.py --build $(BUILD)

# docs/images, as Chromium shows the status pages.
pictures: build
	@scripts/bootstrap.sh check
	@/usr/bin/python3 tests/support/pictures.py --build $(BUILD)

# Before each commit: what tells within a minute whether something is broken.
quick:
	@scripts/bootstrap.sh test
	@$(MAKE) --no-print-directory build
	@ctest --test-dir $(BUILD) --output-on-failure --no-tests=error -j $(TEST_JOBS) -L quick

# Everything, or without the labels that match SKIP, a regular expression: make test SKIP='package|sim'. With TRIES=2 a test that
# failed may show once more what it does; both runs are printed.
test:
	@scripts/bootstrap.sh test
	@$(MAKE) --no-print-directory build
	@ctest --test-dir $(BUILD) --output-on-failure --no-tests=error -j $(TEST_JOBS) $(if $(SKIP),-LE '$(SKIP)') \
	    $(if $(TRIES),--repeat until-pass:$(TRIES))

# Random life cycles in one process, each repeatable by its seed: make simulate MINUTES=60, with SEED=N to begin with that one.
simulate: build
	@/usr/bin/python3 tests/simulation/simulate.py --build $(BUILD) $(if $(MINUTES),--minutes $(MINUTES)) $(if $(SEED),--seed $(SEED))

# Two builds play the same histories, and all that they do is compared: make against BUILD=../before/build/release LIVES=5000, with
# SEED=N for others. BUILD is the folder of the other build; that of this tree is the one of the PRESET.
against:
	@$(MAKE) --no-print-directory build BUILD=build/$(PRESET)
	@simulate="build/$(PRESET)/bin/ccmd-simulate --plugin-dir $(CURDIR)/build/$(PRESET)/plugins --jobs $(JOBS) --against $(BUILD)"; \
	for history in tests/simulation/histories/*.txt; do \
	    out=$$($$simulate --history $$history) || { echo "$$history:"; echo "$$out"; exit 1; }; \
	done; \
	$$simulate --seed $(or $(SEED),1) --lives $(or $(LIVES),1000)

# Known defects are put back one by one; the simulation has to find each: make mutants, or make mutants ONLY=creation for some.
mutants:
	@scripts/bootstrap.sh build
	@/usr/bin/python3 tests/simulation/mutants.py --build build $(if $(ONLY),--only $(ONLY))

# Random life cycles in a world full of trouble: make soak MINUTES=60, with SEED=N to do the same again, SERVICES=N for more.
soak:
	@scripts/bootstrap.sh test
	@$(MAKE) --no-print-directory build
	@/usr/bin/python3 tests/soak/soak.py --build $(BUILD) $(if $(MINUTES),--minutes $(MINUTES)) $(if $(SEED),--seed $(SEED)) \
	    $(if $(SERVICES),--services $(SERVICES))

check:
	@scripts/bootstrap.sh check
	@scripts/check.sh

bench: build
	@scripts/bootstrap.sh test
	@/usr/bin/python3 tests/bench/bench.py --build $(BUILD)
	@/usr/bin/python3 tests/bench/cloudsim.py --build $(BUILD)

docs: build
	@cmake --build $(BUILD) --target docs

# How large the product is, beside its budgets (scripts/budgets.txt).
gauge:
	@scripts/check-size.py --table

install: build
	@cmake --install $(BUILD) $(if $(PREFIX),--prefix $(PREFIX))

# For this machine, or for others: make deb ARCH=arm64, make image ARCH='amd64 arm64'.
deb:
	@scripts/bootstrap.sh package $(ARCH)
	@$(foreach arch,$(or $(ARCH),""),ARCH=$(arch) scripts/deb.sh &&) true

image:
	@scripts/bootstrap.sh package $(ARCH)
	@ARCH='$(ARCH)' scripts/image.sh

# Source, packages, chart, image, SBOMs and checksums for amd64 and arm64, in build/dist; and a signature with a key of yours.
release:
	@scripts/bootstrap.sh package $(or $(ARCH),amd64 arm64)
	@ARCH='$(or $(ARCH),amd64 arm64)' scripts/release.sh

sign:
	@scripts/sign.sh '$(KEY)'

# Prints the version, and places that say another one; TO=X.Y.Z sets it everywhere.
version:
	@scripts/version.sh $(TO)

format:
	@git ls-files '*.c' '*.h' | xargs clang-format -i

clean:
	@rm -rf build
