# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034,SC2154,SC2317
# Claims that hold for each runtime. Sourced after lib.sh by a guest that has
#   start NAME LIMITS COMMAND...	run the command with the limits of rxe0, until it ends
#   over=CGROUP				the cgroup above all containers
#   below=PATTERN			the part of a process's cgroup below the cgroup with the limits, optional
#   heard				print what was logged about the last container, optional
# and sets restarts and at_once. No limits is an empty word.
below=

# by_file LIMITS: "FILE rxe0 LIMITS" for each file that has some of them.
by_file() {
	local key hca='' verb=''
	for key in $1; do
		case $key in
		hca_*) hca="$hca $key" ;;
		*) verb="$verb $key" ;;
		esac
	done
	[ -z "$hca" ] || echo "rdma.max rxe0$hca"
	[ -z "$verb" ] || echo "rdma.verb.max rxe0$verb"
}

# look NAME LIMITS COUNT: run a container that creates COUNT queue pairs and ends; sets $out and
# $status.
look() {
	status=0
	out=$(start "$1" "$2" verbs-hold rxe0 "$3" </dev/null 2>&1) || status=$?
	! [ "$(type -t heard)" ] || out=$out$(heard)
}

# The file with the output of a running container.
output_of() { echo "/run/$1.out"; }

# hold NAME LIMITS COUNT: start a container that holds COUNT queue pairs until release, because not
# every runtime passes on the end of standard input. Sets $cgroup, with its limits, and $leaf, with
# its processes.
hold() {
	start "$1" "$2" sh -c "sleep 3600 | verbs-hold rxe0 $3" </dev/null >"/run/$1.out" 2>&1 &
	within 60 grep -qs holding "$(output_of "$1")" || { cat "/run/$1.out"; return 1; }
	leaf=$root$(sed -n 's/^0:://p' "/proc/$(pgrep -x verbs-hold)/cgroup")
	# shellcheck disable=SC2295 # a pattern
	cgroup=${leaf%$below}
}

release() {
	pkill -fx 'sleep 3600' || :
	wait
}

no_cgroup() { [ -z "$(find "$over" -mindepth 1 -type d ! -name '*conmon*')" ]; }

# All charges are returned, and no cgroup is left.
nothing_left() {
	within 60 no_cgroup
	none_dying
	is "$over/rdma.verb.current" qp 0
	is "$over/rdma.current" hca_object 0
}

limited() {
	hold c1 'qp=2 mr_mem=1048576 hca_object=50' 2
	is "$cgroup/rdma.verb.max" qp 2
	is "$cgroup/rdma.verb.max" mr_mem 1048576
	is "$cgroup/rdma.max" hca_object 50
	is "$cgroup/rdma.verb.current" qp 2
	release
	nothing_left
}

one_past() {
	look c2 'qp=2' 3
	says 'QP 2 made'
	says 'QP 3 refused: Resource temporarily unavailable (EAGAIN)'
	look c2 'qp=3' 3
	says 'QP 3 made'
	nothing_left
}

# not_started LIMITS REASON: the container fails before the first output of the program.
not_started() {
	look c3 "$1" 1
	[ "$status" != 0 ] || { echo "the status is 0"; return 1; }
	says "$2"
	says_not QP
	says_not holding
	nothing_left
}

killed() {
	hold c5 'qp=2' 2
	pids=$(cat "$leaf/cgroup.procs")
	[ -n "$pids" ]
	# The first kill may end the others.
	# shellcheck disable=SC2086 # words
	kill -9 $pids 2>/dev/null || :
	wait
	nothing_left
}

again() {
	local i
	for ((i = 0; i < restarts; i++)); do
		look c6 'qp=2' 3
		says 'QP 2 made'
		says 'QP 3 refused'
	done
	nothing_left
}

together() {
	local i
	for ((i = 0; i < at_once; i++)); do
		start "d$i" 'qp=2' verbs-hold rxe0 3 </dev/null >"/run/d$i.out" 2>&1 &
	done
	# A container that fails takes nothing from the others.
	look d 'qp=2 nosuch=1' 3
	says_not QP
	wait
	for ((i = 0; i < at_once; i++)); do
		out=$(cat "/run/d$i.out")
		says 'QP 2 made'
		says 'QP 3 refused'
	done
	nothing_left
}

# What is claimed of each.
containers() {
	claim 'the limits are there while it runs; then usage and cgroup go' limited
	claim 'what is one past the limit is refused, and what is not is made' one_past
	claim 'nothing is left of one that is killed' killed
	claim "it is limited each time, started $restarts times" again
	claim "each is limited, started $at_once at once" together
}
