# SPDX-License-Identifier: GPL-2.0
# There are fourteen verbs. Each verb calls one script, and the first lines of the script explain
# it.

.PHONY: help demo check check-all shell kernel tree test bench patches deb dist base-bugs clean

help:		## list verbs, tests, benchmarks and variables
	@echo 'Verbs:' && sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' Makefile | expand -t 22
	@dev/pick list test 'Tests, with make test T=NAME:'
	@dev/pick list bench 'Benchmarks, with make bench B=NAME:'
	@echo 'Variables:' && sed -n 's/^#   \([A-Z_]*=\)/  \1/p' Makefile

demo:		## build, boot a VM, and show a limit at work on Soft-RoCE
	@dev/deps verbs command $(if $(filter debian-%,$(KERNEL)),module) && demo/run

check:		## the tests that every commit needs (dev/check.jobs)
	@dev/check check

check-all:	## all other tests, in some hours (dev/check-all.jobs); an interrupted run is continued
	@dev/check check-all

shell:		## a shell in the VM, with rxe0 up and the cgroups mounted
	@dev/deps verbs command && vm/shell/run

kernel:		## build the kernel; the last line of output is its path
	@dev/deps build && dev/kernel

tree:		## assemble the kernel tree; the last line of output is its path
	@dev/deps tree && dev/tree

test:		## run the test T
	@dev/pick run test

bench:		## run the benchmark B
	@dev/pick run bench

patches:	## the overlay as a series for git am, for BASE or KSRC, in the new folder OUT
	@dev/deps patches && dev/patches

deb:		## Debian packages of the kernel and the tools, in the new folder OUT
	@packaging/run

dist:		## a release: a tarball of sources and series, and its checksum, in the new folder OUT
	@dev/deps patches && dev/dist

base-bugs:	## show each fault of the base, and that its patch repairs it
	@dev/deps verbs patches && base-bugs/run

clean:		## delete the caches: bases, trees, builds
	@rm -rf "$${XDG_CACHE_HOME:-$${HOME:?}/.cache}/rdmacg"

.DEFAULT:
	@echo "there is no verb $@; 'make help' lists the verbs" >&2; exit 2

#   T=NAME              the test to run
#   B=NAME              the benchmark to run
#   ONLY='NAME...'      run only these parts of a test, or these jobs of a check
#   SKIP='NAME...'      run all parts or jobs except these
#   BASE=6.12           the base: 6.12 (default), 7.3, 6.12.107 or, for the newest in the archive, 6.12.x or 7.x; with T=module, debian-6.12 and others (dev/debian)
#   SERIES=memory       with the verb patches: only this part of patches/parts
#   KSRC=DIR            a clean kernel tree from 6.12 on, instead of BASE
#   VM=qemu             the machine of the guest: qemu or uml (User-Mode Linux); some tests set it
#   HIERARCHY=v2        the version of cgroups in the guest: v2 (default) or v1
#   DEVICES='NAME...'   the devices of the kselftests: 'rxe0 siw0' (default) or rxe0
#   KERNEL=FILE         a kernel to test, instead of a new build; with demo, debian-6.12 and others (dev/debian)
#   REF_KERNEL=FILE     a stock kernel to compare with, instead of a new build
#   SECONDS=N           duration of a random test
#   MINUTES=N           duration of each random test of check-all
#   COUNT=N             how many operations, writes or starts a test does
#   SEED=N              the random numbers of an earlier run
#   OUT=DIR             where the result goes
#   JOBS=N              how many jobs of a check run at the same time
#   RECORD=1            record the output of the run as the expected result
#   ROUNDS=N MS=N       how often, and for how many milliseconds, a benchmark measures
#   QUICK=1             the short form of a test or benchmark
#   CPUS=N MEMORY=N     processors of the guest, and its memory in MiB
#   APPEND='WORD...'    parameters for the command line of the guest's kernel
#   FRAGMENT='FILE...'  more kernel options
#   MAKEVARS='WORD...'  arguments of make for a kernel
#   STOCK=1             build the stock kernel, without our patches
#   BUILD=1             also compile each patch of the series, and test each part
#   MATRIX='TEST...'    with T=mutants: which of these tests, or 1 for all, find which faults
#   CONFIG=NAME         options of the packaged kernel; packaging/config says more; none: only the tools
#   LSMOD=FILE          output of lsmod: build only these modules for the package
#   XDG_CACHE_HOME=DIR  everything that is built lies in DIR/rdmacg (~/.cache/rdmacg)

# Refuse an unknown variable, because a variable with a typing error would have no effect.
known := $(shell sed -n 's/^\#   \([A-Z][A-Z_]*=.*\)   *.*/\1/p' Makefile | grep -oE '[A-Z_]+=' | tr -d =)
given := $(foreach name,$(.VARIABLES),$(if $(findstring command line,$(origin $(name))),$(name)))
unknown := $(filter-out $(known) MAKEFLAGS MAKEOVERRIDES -*-command-variables-*-,$(given))
$(if $(unknown),$(error there is no variable $(unknown); there are: $(known)))
