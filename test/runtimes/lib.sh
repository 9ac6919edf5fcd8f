# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034,SC2154,SC2317
# The scripts of the runtimes' guests source this file. The arguments of such a script are PROGRAMS
# KIND RESTARTS. Each claim prints "ok NAME" or "not ok NAME". containers() has the claims for each
# runtime whose script defines
#   start NAME LIMITS COMMAND...	run the command with the limits, until it ends
#   over=CGROUP				the cgroup above all containers
#   below=PATTERN			the part of a process's cgroup below the cgroup with the limits, optional
#   heard				print the log of the last container, optional
# LIMITS may be empty. If they do not begin with a device, they are for rxe0.
set -u
programs=$1 kind=$2 restarts=$3 at_once=$(($3 / 2)) below=
here=$(dirname "$(readlink -f "$0")")
root=/sys/fs/cgroup
export PATH=/usr/local/sbin:$PATH
. "$here/../../dev/report.sh"
. "$here/../../tools/cgroup/rdmacg/tests/claims.sh"
CTR='ctr --address /run/containerd.sock'

# layer FOLDER [PLACE]: mount a writable layer over this machine's folder.
layer() {
	local name=${1//\//_}
	mkdir -p "/run/layers/$name/upper" "/run/layers/$name/work" "${2:-$1}"
	mount -t overlay -o "lowerdir=$1,upperdir=/run/layers/$name/upper,workdir=/run/layers/$name/work" \
		layer "${2:-$1}"
}

# install_programs: install $programs, and change to the project's folder.
install_programs() {
	layer /usr/local
	mount -t tmpfs none /usr/local/sbin
	mkdir -p /usr/local/libexec/rdmacg
	cp "$programs"/* /usr/local/sbin/
	for name in oci-hook slurm-step; do ln -sf ../../sbin/rdmacg /usr/local/libexec/rdmacg/$name; done
	mkdir -p /dev/shm /dev/pts /dev/mqueue
	mount -t tmpfs none /dev/shm
	mount -t devpts none /dev/pts
	cd "$here/../.." || exit
}

make_rootfs() {
	layer / "$ROOTFS"
	cp "$programs/verbs-hold" "$ROOTFS/usr/local/bin/"
}

# start_containerd CONFIG: start containerd, but not as a child of this shell, so that "wait" does not
# wait for containerd.
start_containerd() {
	(setsid containerd --config "$1" --root /run/containerd/root --state /run/containerd/state \
		--address /run/containerd.sock >/run/out/containerd.log 2>&1 &)
	within 60 containerd_answers
}
# Look for the socket first, because a request before containerd listens gets no answer.
# shellcheck disable=SC2086 # a command and its option
containerd_answers() {
	[ -S /run/containerd.sock ] && timeout 5 $CTR version >/dev/null 2>&1
}

pid_of() { systemctl show --value -p MainPID "$1"; }

# is_running_again UNIT PID: succeed if the unit runs, with another process than PID.
is_running_again() { systemctl is-active -q "$1" && [ "$(pid_of "$1")" != "$2" ]; }

# value FILE KEY: print the value of rxe0.
value() { sed -n 's/^rxe0 //p' "$1" | tr ' ' '\n' | sed -n "s/^$2=//p"; }

is() {
	[ "$(value "$1" "$2")" = "$3" ] || {
		echo "$1: $2 is $(value "$1" "$2"), wanted $3"
		return 1
	}
}

# Wait until the controller keeps no removed cgroup. After a minute, print the controllers that keep
# a removed cgroup.
none_dying() {
	within 60 grep -qx 'nr_dying_subsys_rdma 0' "$root/cgroup.stat" || {
		awk '/^nr_dying/ && $2' "$root/cgroup.stat"
		return 1
	}
}

# claim NAME FUNCTION: "ok" if the function and all its commands succeed.
claim() {
	local name=$1
	shift
	judge "$kind/$name" "$@"
}

# of_device LIMITS: print the limits, and add the device rxe0 if LIMITS have no device.
of_device() {
	case $1 in
	'' | rxe* | '{'*) echo "$1" ;;
	*) echo "rxe0 $1" ;;
	esac
}

# by_file LIMITS: print "FILE DEVICE LIMITS" for each file that has some of these limits.
by_file() {
	local key device=rxe0 hca='' verb=''
	for key in $1; do
		case $key in
		rxe*) device=$key ;;
		hca_*) hca="$hca $key" ;;
		*) verb="$verb $key" ;;
		esac
	done
	[ -z "$hca" ] || echo "rdma.max $device$hca"
	[ -z "$verb" ] || echo "rdma.verb.max $device$verb"
}

# run COMMAND...: sets $out and $status.
run() {
	status=0
	out=$("$@" 2>&1 </dev/null) || status=$?
}

# conf LINE...: write the administrator's file.
conf() {
	mkdir -p /etc/rdmacg
	printf '%s\n' "$@" >/etc/rdmacg/oci.conf
}

# fresh FUNCTION: call the function without an administrator's file.
fresh() {
	rm -rf /etc/rdmacg
	"$@"
}

# look NAME LIMITS COUNT: run() a container that creates COUNT queue pairs and ends.
look() {
	run start "$1" "$2" verbs-hold rxe0 "$3"
	! [ "$(type -t heard)" ] || out=$out$(heard)
}

# made N: succeed if the container has created N queue pairs, and a limit refused the next.
made() { says "QP $1 created" && says "QP $(($1 + 1)) refused"; }

# Print the path of the file with the output of a running container.
output_of() { echo "/run/$1.out"; }

# find_cgroup PID: set $cgroup, which has the limits of the process, and $leaf, which has the process.
find_cgroup() {
	leaf=$root$(sed -n 's/^0:://p' "/proc/$1/cgroup")
	# shellcheck disable=SC2295 # a pattern
	cgroup=${leaf%$below}
}

# hold NAME LIMITS COUNT: start a container that holds COUNT queue pairs until release() ends its
# "sleep". Not every runtime passes on the end of standard input. Sets $cgroup and $leaf.
hold() {
	# An earlier container of the name has left its output.
	rm -f "$(output_of "$1")"
	start "$1" "$2" sh -c "sleep 3600 | verbs-hold rxe0 $3" </dev/null >"/run/$1.out" 2>&1 &
	within 60 grep -qs holding "$(output_of "$1")" || { cat "/run/$1.out"; return 1; }
	find_cgroup "$(pgrep -x verbs-hold)"
}

release() {
	pkill -fx 'sleep 3600' || :
	wait
}

no_cgroup() { [ -z "$(find "$over" -mindepth 1 -type d ! -name '*conmon*')" ]; }

# Check that all charges are returned, and that no cgroup is left.
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
	says 'QP 2 created'
	says 'QP 3 refused: Resource temporarily unavailable (EAGAIN)'
	within 60 no_cgroup
	out=$(rdmacg why "${over#"$root/"}")
	says 'The limit of a removed descendant refused 1 attempt for qp on rxe0.'
	look c2 'qp=3' 3
	says 'QP 3 created'
	nothing_left
}

# not_started LIMITS REASON: check that the container fails before the first output of the program.
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
	# Ignore errors, because a process may already have ended with another process.
	# shellcheck disable=SC2086 # words
	kill -9 $pids 2>/dev/null || :
	wait
	nothing_left
}

again() {
	local i
	for ((i = 0; i < restarts; i++)); do
		look c6 'qp=2' 3
		made 2
	done
	nothing_left
}

together() {
	local i
	for ((i = 0; i < at_once; i++)); do
		start "d$i" 'qp=2' verbs-hold rxe0 3 </dev/null >"/run/d$i.out" 2>&1 &
	done
	# Check that a container that fails takes nothing from the other containers.
	look d 'qp=2 nosuch=1' 3
	says_not QP
	wait
	for ((i = 0; i < at_once; i++)); do
		out=$(cat "/run/d$i.out")
		made 2
	done
	nothing_left
}

# Check that the administrator's default and ceiling apply to annotations.
administrator() {
	conf '[default]' 'rxe0 qp=1' '[ceiling]' 'default qp=4'
	look c4 '' 2
	made 1
	look c4 'qp=4' 5
	made 4
	not_started 'qp=5' 'qp: 5 on rxe0 is more than 4, the ceiling of /etc/rdmacg/oci.conf:4'
}

# node COMMAND...: run a command outside of a runtime's own root.
node() { chroot /proc/1/root "$@"; }

# Create the device rxe7 in another network namespace, where a tenant can give it any name.
tenant() {
	node rdma system set netns exclusive
	node ip netns add other
	node ip link add dummy7 type dummy
	node rdma link add rxe7 type rxe netdev dummy7
	node rdma dev set rxe7 netns other
}

# no_tenant NAME: remove the tenant's device, which has this name now.
no_tenant() {
	node ip netns exec other rdma link delete "$1"
	node ip netns del other
	node ip link delete dummy7
	within 60 node rdma system set netns shared
}

# renaming FROM TO COMMAND...: rename a device and back until /run/renaming is removed. COMMAND runs rdma.
renaming() {
	local from=$1 to=$2
	shift 2
	while [ -e /run/renaming ]; do
		node "$@" dev set "$from" name "$to"
		node "$@" dev set "$to" name "$from"
	done >/dev/null 2>&1
	# If the last command has failed, the device still has the other name.
	node "$@" dev set "$to" name "$from" 2>/dev/null || :
}

# The command of the next containers, which systemd and Slurm run by its path.
held='([^ ]*/)?sleep 3597'

# starts_or_ends PID: succeed if the command of a container runs, or PID has ended.
starts_or_ends() { pgrep -fx "$held" >/dev/null || ! kill -0 "$1" 2>/dev/null; }

# limited_or_refused NAME: start a container. It must have its limit, or not start.
limited_or_refused() {
	local starter result=0
	start "$1" 'qp=2' sleep 3597 </dev/null >"/run/$1.out" 2>&1 &
	starter=$!
	within 60 starts_or_ends "$starter" || return
	! pgrep -ofx "$held" >/run/pid || {
		find_cgroup "$(cat /run/pid)"
		# A request without a device, as with Slurm, also limits the device of the tenant, in a line of its own.
		grep -m 1 -E '^rxe[09] .*\bqp=2\b' "$cgroup/rdma.verb.max" >>/run/limited || { cat "$cgroup/rdma.verb.max"; result=1; }
	}
	# The first process of a container ignores SIGTERM.
	pkill -KILL -fx "$held"
	wait "$starter" || :
	return "$result"
}

# while_renaming FROM TO COMMAND...: start 20 containers meanwhile. Some must start.
while_renaming() {
	local result=0 i renamer
	: >/run/limited
	: >/run/renaming
	renaming "$@" &
	renamer=$!
	for ((i = 0; i < 20 && result == 0; i++)); do
		limited_or_refused "r$i" || result=1
	done
	rm /run/renaming
	wait "$renamer"
	[ "$result" = 0 ] && [ -s /run/limited ]
}

# A pod with the node's network can rename the node's device. Other tenants can give their devices its name, which
# stops no container.
renamed() {
	while_renaming rxe0 rxe9 rdma
	nothing_left
	tenant
	while_renaming rxe7 rxe0 ip netns exec other rdma
	[ "$(wc -l </run/limited)" = 20 ]
	no_tenant rxe7
	nothing_left
}

# The claims of each runtime.
containers() {
	claim 'a container has its limits, and leaves no usage and no cgroup' limited
	claim 'an attempt above the limit is refused with the reason, and an attempt within the limit succeeds' one_past
	claim 'a killed container leaves no usage and no cgroup' killed
	claim "a container has its limits at each of $restarts starts" again
	claim "each of $at_once containers that start at once has its limits" together
	claim 'while a tenant renames a device, a container has its limits or does not start' renamed
}
