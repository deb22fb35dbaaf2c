# The entry points for people and for continuous integration. `make` alone lists them.

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

.PHONY: help demo tour test test-agents soak fuzz bench docs lint deny build install deb try-deb

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-11s %s\n", $$1, $$2 }' Makefile

demo: ## build Orange and run three scripted tasks from creation to merge; needs no agent account
	@bash scripts/install-deps demo
	cargo build --locked
	$${CARGO_TARGET_DIR:-target}/debug/orange demo

tour: ## build Orange and play tasks, gates and worktrees step by step, without agents
	@bash scripts/install-deps demo
	cargo build --locked
	bash scripts/tour

# Every test target of the program but the one that test-agents runs; nextest has a filter for that, cargo has not.
TARGETS = $(patsubst %/main,%,$(basename $(wildcard crates/orange/tests/*.rs crates/orange/tests/*/main.rs)))
OTHER_TARGETS = $(addprefix --test=,$(filter-out agents,$(notdir $(TARGETS))))

# Most tests wait now and then: three of them keep two cores busy.
JOBS = --test-threads "$$(($$(getconf _NPROCESSORS_ONLN) * 3 / 2))"

test: ## check format, lints and dependencies, then run all tests, the stories and test-agents
	@bash scripts/install-deps test
	cargo fmt --all -- --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	@$(MAKE) --no-print-directory deny
	@. scripts/test-folder; \
	if cargo nextest --version >/dev/null 2>&1; then \
		set -x; cargo nextest run $(JOBS) --workspace --locked -E 'not binary(agents)'; \
	else \
		set -x; cargo test --workspace --exclude orange --locked; \
		cargo test -p orange --locked --bins $(OTHER_TARGETS); \
	fi
	cargo build --locked
	sh tests/stories/workspaces.sh
	sh tests/stories/merge.sh
	sh tests/stories/hostile.sh
	sh tests/stories/phased.sh
	@$(MAKE) --no-print-directory test-agents

test-agents: ## install the agent CLIs of the tests into ~/.cache/orange, run the tests that start them, write their table
	@bash scripts/install-deps test
	@bash scripts/install-agents
	@. scripts/test-folder; \
	export ORANGE_TEST_AGENTS="$$(bash scripts/install-agents --print-path)"; \
	export ORANGE_TEST_AGENTS_RESULTS="$${CARGO_TARGET_DIR:-$$PWD/target}/agents-tried"; \
	rm -rf "$$ORANGE_TEST_AGENTS_RESULTS"; mkdir -p "$$ORANGE_TEST_AGENTS_RESULTS"; \
	if cargo nextest --version >/dev/null 2>&1; then \
		set -x; cargo nextest run $(JOBS) -p orange --locked --test agents; \
	else \
		set -x; cargo test -p orange --locked --test agents; \
	fi; \
	bash scripts/tried-agents "$$ORANGE_TEST_AGENTS_RESULTS"

SOAK_TASKS ?= 200

soak: ## many tasks with agents that misbehave and kills of everything; SOAK_SEED=N repeats one
	@bash scripts/install-deps test
	SOAK_TASKS=$(SOAK_TASKS) cargo test --locked -p orange --test soak -- --nocapture

FUZZ_SECONDS ?= 60

fuzz: ## fuzz everything that Orange reads, a minute for each kind of file; FUZZ_SECONDS=N
	@bash scripts/install-deps fuzz
	@FUZZ_SECONDS=$(FUZZ_SECONDS) bash scripts/fuzz

bench: ## measure Orange and its peers, and write docs/contributing/benchmarks.md
	@bash scripts/install-deps bench
	@bash scripts/install-agents
	cargo build --release --locked
	ORANGE_TEST_AGENTS="$$(bash scripts/install-agents --print-path)" \
		cargo run --release --locked -p orange-bench -- --write docs/contributing/benchmarks.md

docs: ## write the documents that come from the code: docs/reference/configuration.md and its schema
	cargo build --locked
	$${CARGO_TARGET_DIR:-target}/debug/orange config docs > docs/reference/configuration.md
	$${CARGO_TARGET_DIR:-target}/debug/orange config schema > docs/reference/config.schema.json

lint: ## check format and lints only
	cargo fmt --all -- --check
	cargo clippy --workspace --all-targets --locked -- -D warnings

deny: ## check licences, sources and duplicates of all dependencies (deny.toml); installs cargo-deny into ~/.cache/orange
	@bash scripts/install-cargo-deny
	@PATH="$$(bash scripts/install-cargo-deny --print-path)/bin:$$PATH"; set -x; \
	cargo deny --locked check -D warnings -A license-exception-not-encountered licenses sources bans; \
	cargo deny --locked --manifest-path fuzz/Cargo.toml --config deny.toml \
		check -D warnings -A unmatched-skip -A license-not-encountered licenses sources bans

build: ## build Orange for release (target/release/orange)
	cargo build --release --locked

install: ## install Orange for this user, into ~/.cargo/bin
	cargo install --path crates/orange --locked

deb: ## build a Debian package (target/debian)
	@bash scripts/install-deps deb
	@bash scripts/build-deb

try-deb: ## install the package of make deb on a bare Debian in a folder, use it and remove it; as root
	@bash scripts/install-deps try-deb
	@bash scripts/try-deb
