# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh disable=SC2034
# Each benchmark sources this file, to build kernels and programs, and to boot. Only one benchmark
# runs at a time.
. "$(dirname "$0")/../dev/lib.sh"

work=$CACHE/bench/$(basename "$0")
# With RECORD=1, record() writes into the repository, and draws the pictures again.
results=${OUT:-${RECORD:+$ROOT/bench/results}}
results=${results:-$CACHE/bench/results}
[ -z "${RECORD:-}" ] || [ -z "${ONLY:-}${SKIP:-}" ] || die 'RECORD=1 records all parts; leave out ONLY and SKIP'
config=$ROOT/vm/config
# The processors, for a header.
machine="$(nproc) processors, $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | sort -u)"
export BASE VM FRAGMENT STOCK CPUS
mkdir -p "$results" || die "cannot create $results; set OUT to a folder you may write"
with_lock bench
rm -rf "$work"
mkdir -p "$work/rounds"

# The programs of the guests, which are the same for all kernels.
programs=$CACHE/bench/programs
mkdir -p "$programs"
gcc -O2 -Wall -Werror -o "$programs/tenant" "$ROOT/bench/tenant.c" -libverbs -lpthread ||
	die 'bench/tenant.c does not compile; is libibverbs-dev installed?'

# build NAME KERNEL: build a kernel with FRAGMENT in $work/NAME.KERNEL. KERNEL is "ours", "stock", or the name of a file
# vm/config/KERNEL.config, which our kernel then has in addition. If the kernel has a controller, also build the modules
# of the benchmarks.
build() (
	side=$work/$1.$2
	[ ! -e "$side" ] || return 0
	tree=$("$ROOT/dev/tree")
	case $2 in
	ours) ;;
	stock) STOCK=1 tree=$("$ROOT/dev/base") ;;
	*) FRAGMENT="${FRAGMENT:-} $config/$2.config" ;;
	esac
	kernel=$("$ROOT/dev/kernel")
	build=${kernel%/arch/x86/boot/bzImage}
	build=${build%/linux}
	mkdir -p "$build/bench"
	ln -sfn "$build/bench" "$side"
	ln -sf "$kernel" "$side/linux"
	grep -qx CONFIG_CGROUP_RDMA=y "$build/.config" || return 0
	rm -f "$side"/*.[co]
	cp "$ROOT/bench/Kbuild" "$ROOT/bench/charge.c" "$ROOT/bench/queue.c" "$side/"
	make -s -C "$tree" O="$build" ARCH="$(arch_of "$VM")" CC='ccache gcc' M="$build/bench" modules >"$side/build.log" 2>&1 ||
		build_failed "$side/build.log" "the benchmark's modules do not build"
)

# boot GROUP.KERNEL LINUX SCRIPT ARG...: run a script in the guest for a round of a group's measurements.
boot() {
	output=$work/rounds/$1 linux=$2 script=$ROOT/bench/$3
	say "Measuring ${output##*/} in $VM"
	shift 3
	echo round >>"$output"
	"$ROOT/vm/run" -t 3600 -g none -o "$work/guest" "$linux" "$script" "$programs" "$@" >>"$output" ||
		die "the guest did not end (output: $output): $(tail -n 3 "$output")"
}

# measure GROUP NAME KERNELS ROUNDS ARG...: build the kernels, and boot each of them for parts of
# bench/guest-charge. Boot in the order A B, then B A, so that a machine that becomes slower favours
# no kernel.
measure() {
	group=$1 name=$2 kernels=$3 count=$4
	shift 4
	for kernel in $kernels; do
		build "$name" "$kernel"
	done
	for _ in $(seq "$count"); do
		turned=''
		for kernel in $kernels; do
			boot "$group.$kernel" "$work/$name.$kernel/linux" guest-charge "$work/$name.$kernel" "$@"
			turned="$kernel $turned"
		done
		kernels=$turned
	done
}

# record VERDICT FILE: write the header from standard input and the tables to FILE in the folder of
# results, and print them with the judgements.
record() {
	status=0
	{ cat && "$ROOT/bench/report" "$1" "$work"/rounds/*; } >"$work/report" || status=$?
	cat "$work/report"
	sed '/^$/N; /^\n\(not \)*ok /,$d' "$work/report" >"$results/$2"
	[ -z "${RECORD:-}" ] || "$ROOT/bench/plot" || status=$?
	exit "$status"
}
