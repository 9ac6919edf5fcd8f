# SPDX-License-Identifier: GPL-2.0
# Verbs only; the work is in dev/, hooks/ and vm/.
#
# BASE=6.12 (default; 7.x for the benchmark and the proofs), 7.3 or 7.x (the newest in the archive), or KSRC=/path
# VM=qemu (default) or uml; the benchmark and the proofs choose theirs

export BASE KSRC VM

.PHONY: help deps demo check tree kernel shell kunit selftests checkers bench instructions fuzz differential others torture hammer coverage mutants style hooks vm clean

help:		## list the verbs
	@sed -n 's/^\([a-z]*\):.*## /  make \1\t/p' $(MAKEFILE_LIST) | expand -t 22
	@sed -n 's/^# \([A-Z]*=.*\)/  \1/p' $(MAKEFILE_LIST)

deps:		## install the Debian packages that are missing (root)
	@dev/deps

demo: deps	## build, boot in QEMU, and show a limit at work on soft-RoCE
	@dev/demo

check: deps	## run the tests, but for checkers, coverage and mutants
	@dev/check

tree: deps	## assemble the kernel tree; its path is the last line
	@dev/tree

kernel: deps	## build the kernel; its path is the last line
	@dev/kernel

shell: deps	## a shell in the VM, with rxe0 up and the cgroups mounted
	@dev/shell

kunit: deps	## the KUnit suites on UML
	@dev/kunit

selftests: deps	## the kselftests in the VM, on cgroup v2 (HIERARCHY=v1: on v1)
	@dev/selftests

checkers: deps	## tests and torture on kernels with KASAN, lockdep, kmemleak, UBSAN, KCSAN
	@dev/checkers

bench: deps	## measure beside the base's controller and beside none (QUICK=1, ROUNDS=, MS=, RESULTS=)
	@dev/bench

instructions: deps	## count those of a charge, against the recorded (RECORD=1: record them)
	@dev/instructions

fuzz: deps	## feed texts to the parser, and writes to a guest (FUZZ_SECONDS=, COUNT=, SEED=)
	@dev/fuzz

differential: deps	## random operations on ours, a model of the contract, and the base (OPS=, SEED=)
	@dev/differential

others: deps	## rdma-core's tests and the base's kselftests, on ours and on the base
	@dev/others

torture: deps	## everything at once, at the limits (MINUTES=, SEED=, ACTORS=)
	@dev/torture

hammer: deps	## how long strangers wait for a tenant who hammers (SECONDS_EACH=, KINDS=, CHAIN=, KERNEL=)
	@test/hammer/run

coverage: deps	## which lines of the controller the tests run
	@dev/coverage

mutants: deps	## let the tests find small faults, one at a time (MATCH=)
	@dev/mutants

vm: deps		## test that a guest which hangs, falls silent or warns is a failure
	@dev/vm

style: deps	## checkpatch, sparse, W=1, kernel-doc, shellcheck
	@dev/style

hooks: deps	## apply the hooks to the base, and see them refuse a changed one
	@dev/hooks

clean:		## delete the caches: bases, trees, builds
	@dev/clean
