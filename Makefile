# SPDX-License-Identifier: GPL-2.0
# Verbs only. Each leads to one folder, and asks for the packages that it needs.
#
# BASE=6.12 (default; 7.x for the benchmark and most tests), 7.3 or 7.x (the newest in the archive)
# KSRC=/path to any clean kernel tree from 6.12 on, instead of BASE
# VM=qemu (default) or uml (User-Mode Linux); the benchmark and most tests choose theirs
# XDG_CACHE_HOME=DIR: everything that is made lies in DIR/rdmacg (~/.cache/rdmacg)

export BASE KSRC VM

.PHONY: help demo check tree kernel shell kunit selftests rdmacg runtimes bpftrace debug bench instructions sockets neighbours drivers fuzz differential thirdparty torture hammer coverage mutants style hooks patches series upstream dist deb boot vm clean

help:		## list the verbs, and what can be set
	@sed -n 's/^\([a-z]*\):.*## /  make \1\t/p' $(MAKEFILE_LIST) | expand -t 22
	@sed -n 's/^# \([A-Z_]*=.*\)/  \1/p' $(MAKEFILE_LIST)

demo:		## build, boot in a VM, and show a limit at work on soft-RoCE (RECORD=1: record what it prints)
	@dev/deps verbs command && demo/run

check:		## run the tests, but for bpftrace, debug, coverage, drivers and mutants
	@dev/deps check && dev/check

tree:		## assemble the kernel tree; its path is the last line
	@dev/deps tree && dev/tree

kernel:		## build the kernel; its path is the last line (FRAGMENT='FILE...': more options, STOCK=1: the base's own)
	@dev/deps build && dev/kernel

shell:		## a shell in the VM, with rxe0 up and the cgroups mounted (HIERARCHY=v1, CPUS=, APPEND='WORD...')
	@dev/deps guest && vm/shell/run

kunit:		## the KUnit suites on User-Mode Linux, with the base's kunit.py
	@dev/deps build && test/kunit/run

selftests:	## the kselftests in the VM, on cgroup v2 (HIERARCHY=v1: on v1; LEAVE_OUT='PROGRAM...', DEVICES=rxe0)
	@dev/deps verbs && test/selftests/run

rdmacg:		## the command in tools/cgroup/rdmacg: its tests (KERNELS='7.x stock-7.x 6.12 stock-6.12': which guests; FUZZ_SECONDS=; RECORD=1: record the transcript)
	@dev/deps rdmacg && test/rdmacg/run

runtimes:	## limits of containers, pods, services, machines and jobs, set by their runtimes (RUNTIMES=, RESTARTS=, AT_ONCE=, GUESTS=, KERNEL=, NRI=)
	@dev/deps runtimes && test/runtimes/run

bpftrace:	## the bpftrace scripts of tools/cgroup/rdmacg, in a guest whose kernel has BTF (KERNEL=)
	@dev/deps bpftrace && test/bpftrace/run

debug:		## tests and torture on kernels with KASAN, lockdep, kmemleak, UBSAN, KCSAN (MINUTES=)
	@dev/deps verbs && test/debug/run

bench:		## measure beside the base's controller and beside none (QUICK=1, PARTS=, ROUNDS=, MS=, RESULTS=)
	@dev/deps bench && bench/run

instructions:	## count those of a charge, against the recorded (RECORD=1: record them)
	@dev/deps verbs && bench/instructions

sockets:	## throughput of SMC-R and RDS with limits, against none, and without, against the base (ROUNDS=3)
	@dev/deps verbs && bench/sockets

neighbours:	## a victim beside one that creates and destroys, with limits on commands and without, and what those cost (PARTS=, ROUNDS=, MS=, RESULTS=)
	@dev/deps bench && bench/neighbours

fuzz:		## feed texts to the parser, and writes to a guest (FUZZ_SECONDS=, COUNT=, SEED=, KERNEL=)
	@dev/deps fuzz && test/fuzz/run

differential:	## random operations on ours, a model of the contract, and the base (OPS=, SEED=, OURS_KERNEL=, STOCK_KERNEL=)
	@dev/deps verbs && test/differential/run

thirdparty:	## rdma-core's tests and the base's kselftests, on ours and on the base
	@dev/deps thirdparty && test/thirdparty/run

torture:	## everything at once, at the limits (MINUTES=, SEED=, ACTORS=)
	@dev/deps verbs && test/torture/run

hammer:		## how long strangers wait for a tenant who hammers (SECONDS_EACH=, KINDS=, CHAIN=, NICE=, BOUND=, KERNEL=)
	@dev/deps verbs && test/hammer/run

coverage:	## which lines of the controller the tests run
	@dev/deps verbs && test/coverage/run

mutants:	## let the tests find small faults, one at a time (MATCH=, TESTS=)
	@dev/deps verbs && test/mutants/run

patches:	## the overlay as a series for git am, against BASE or KSRC (OUT=: a new folder for it)
	@dev/deps patches && series/run

series:		## test that series (BUILD=1: compile each patch and boot it, which takes hours; KINDS=, as series/build tells; BASES=)
	@dev/deps series && series/test

upstream:	## the base's own faults: show each, and that it is gone with its patches (OUT=: a new folder for what to post)
	@dev/deps verbs patches && base-bugs/run

dist:		## a release: sources and series as a tarball, and its checksum (OUT=: a new folder for them)
	@dev/deps patches && dev/dist

deb:		## Debian packages of the kernel and the tools (OUT=: a new folder, CONFIG=cloud, LSMOD=FILE; packaging/config tells more)
	@dev/deps deb && packaging/run

boot:		## install these packages in a Debian of their own and boot it (PACKAGES=: their folder)
	@dev/deps boot && test/deb/run

vm:		## test that a guest which hangs, falls silent or warns is a failure
	@dev/deps guest && vm/test

style:		## checkpatch, sparse, W=1, kernel-doc, shellcheck
	@dev/deps style && dev/style

hooks:		## apply the hooks to the base, and see them refuse a changed one
	@dev/deps tree && hooks/test

drivers:	## compile every RDMA driver and user, with W=1 our files (BASES=, TARGETS='x86_64 rt clang i386 arm64 s390')
	@dev/deps drivers && test/drivers/run

clean:		## delete the caches: bases, trees, builds
	@dev/clean
