# The entry points for people and for continuous integration. `make` alone lists them.

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

.PHONY: help demo tour test soak bench lint build install

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-10s %s\n", $$1, $$2 }' Makefile

demo: ## build Orange and see three tasks with scripted agents go their way; needs no agent account
	@bash scripts/install-deps demo
	cargo build --locked
	$${CARGO_TARGET_DIR:-target}/debug/orange demo

tour: ## build Orange and play tasks, gates and worktrees step by step, without agents
	@bash scripts/install-deps demo
	cargo build --locked
	bash scripts/tour

test: ## check format and lints, then run all tests and the stories
	@bash scripts/install-deps test
	cargo fmt --all -- --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	@if cargo nextest --version >/dev/null 2>&1; then \
		set -x; cargo nextest run --workspace --locked; \
	else \
		set -x; cargo test --workspace --locked; \
	fi
	cargo build --locked
	sh tests/stories/workspaces.sh

SOAK_TASKS ?= 200

soak: ## many tasks with agents that misbehave and kills of everything; SOAK_SEED=N repeats one
	@bash scripts/install-deps test
	SOAK_TASKS=$(SOAK_TASKS) cargo test --locked -p orange --test soak -- --nocapture

bench: ## measure Orange and its peers, and write docs/benchmarks.md
	@bash scripts/install-deps bench
	cargo build --release --locked
	cargo run --release --locked -p orange-bench -- --write docs/benchmarks.md

lint: ## check format and lints only
	cargo fmt --all -- --check
	cargo clippy --workspace --all-targets --locked -- -D warnings

build: ## build Orange for release (target/release/orange)
	cargo build --release --locked

install: ## install Orange for this user, into ~/.cargo/bin
	cargo install --path crates/orange --locked
