# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Completion of rdmacg(8) for bash.

# Print the folder of the controller's hierarchy.
_rdmacg_root() {
	local root=${RDMACG_ROOT:-/sys/fs/cgroup}
	if [[ ! -e $root/rdma.capacity && -d $root/rdma ]]; then
		root=$root/rdma
	fi
	printf '%s' "$root"
}

# Complete names of cgroups, one level at a time.
_rdmacg_cgroups() {
	local root folder
	root=$(_rdmacg_root)
	COMPREPLY=()
	compopt -o nospace -o filenames 2>/dev/null || :
	while IFS= read -r folder; do
		COMPREPLY+=("${folder#"$root"/}/")
	done < <(compgen -d -- "$root/$cur")
}

# Print "DEVICE KEY=VALUE..." for each device. A kernel without rdma.capacity has two keys.
# bash expands the words of compgen -W, and any user may choose the name of a device, so
# leave out lines with special characters.
_rdmacg_capacity() {
	local device
	{
		if ! cat "$(_rdmacg_root)/rdma.capacity" 2>/dev/null; then
			for device in /sys/class/infiniband/*; do
				[[ ! -e $device ]] || printf '%s hca_handle= hca_object=\n' "${device##*/}"
			done
		fi
	} | grep -x '[A-Za-z0-9_. =-]*'
}

_rdmacg_devices() {
	mapfile -t COMPREPLY < <(compgen -W "$(_rdmacg_capacity | cut -d ' ' -f 1) default" -- "$cur")
}

# Complete keys of the device $1.
_rdmacg_keys() {
	local device rest keys=''
	while read -r device rest; do
		[[ $device != "$1" && $1 != default ]] || keys+=" $rest"
	done < <(_rdmacg_capacity)
	keys=$(tr ' ' '\n' <<<"$keys" | sed -n 's/^\([a-z0-9_]*\)=.*/\1=/p')
	compopt -o nospace 2>/dev/null || :
	mapfile -t COMPREPLY < <(compgen -W "$keys max default" -- "$cur")
}

_rdmacg_options() {
	local common='--json --pretty --help'
	case $1 in
	show) printf '%s' "$common --recursive --all --bytes --pid --unit --container --pod --depth --device --resource --columns --no-headings" ;;
	why) printf '%s' "$common --all --pid --unit --container --pod --device --resource" ;;
	set) printf '%s' "$common --dry-run --pid --unit --container --pod" ;;
	save) printf '%s' "$common --recursive --pid --unit --container --pod" ;;
	doctor) printf '%s' "$common --module" ;;
	apply) printf '%s' "$common --check --watch" ;;
	top) printf '%s' "$common --batch --iterations --delay --order --device --resource --columns --no-headings" ;;
	watch) printf '%s' "$common --exec --count --pid --unit --container --pod" ;;
	export) printf '%s' "$common --format --output --depth --series --device --resource" ;;
	plan) _rdmacg_plan_options ;;
	run) printf '%s' "$common --limit --in --margin --kill --output" ;;
	*) printf '%s' "$common" ;;
	esac
}

_rdmacg_plan_forms='lnet qemu nccl ucx libfabric ceph share'

# Print the options of a form of plan. Read the options from the help of the form, so that there is
# only one list.
_rdmacg_plan_options() {
	local form=
	[[ ${COMP_WORDS[2]:-} == -* ]] || form=${COMP_WORDS[2]:-}
	[[ -z $form || " $_rdmacg_plan_forms " == *" $form "* ]] || return
	# shellcheck disable=SC2086 # no word where there is no form
	"${COMP_WORDS[0]}" plan $form --help 2>/dev/null | grep -o -e '--[a-z-]*' | sort -u
}

# Complete the form, and then the words without an option.
_rdmacg_plan() {
	if ((COMP_CWORD == 2)); then
		mapfile -t COMPREPLY < <(compgen -W "$_rdmacg_plan_forms" -- "$cur")
	elif [[ ${COMP_WORDS[2]} == share ]] && ((COMP_CWORD == 3)); then
		_rdmacg_devices
	elif [[ ${COMP_WORDS[2]} == share ]]; then
		_rdmacg_cgroups
	fi
}

# Complete LIMITS of run: DEVICE:KEY=VALUE,KEY=VALUE;DEVICE:...
_rdmacg_limits() {
	local item=${cur##*;} rest=${cur##*[;:,]} head
	head=${cur%"$rest"}
	local cur=$rest
	if [[ $item == *:* ]]; then
		_rdmacg_keys "${item%%:*}"
	else
		_rdmacg_devices
		COMPREPLY=("${COMPREPLY[@]/%/:}")
		compopt -o nospace 2>/dev/null || :
	fi
	COMPREPLY=("${COMPREPLY[@]/#/"$head"}")
}

# Complete systemd units that have a cgroup. Users choose these names, so do not expand them.
_rdmacg_units() {
	local unit
	COMPREPLY=()
	while IFS= read -r unit; do
		[[ $unit != "$cur"* ]] || COMPREPLY+=("$(printf %q "$unit")")
	done < <(find "$(_rdmacg_root)" -maxdepth 8 -type d -name '?*.*' -printf '%f\n' 2>/dev/null |
		grep -xE '.*\.(service|scope|slice|socket|mount|swap)' | sort -u)
}

# Complete a word of set. Without options, word 0 is the cgroup, word 1 is the device, and all
# further words are keys. An option that selects the cgroup has a value, which is word 0 here.
_rdmacg_set() {
	local i words_before=()
	for ((i = 2; i < COMP_CWORD; i++)); do
		[[ ${COMP_WORDS[i]} == -* ]] || words_before+=("${COMP_WORDS[i]}")
	done
	case ${#words_before[@]} in
	0) _rdmacg_cgroups ;;
	1) _rdmacg_devices ;;
	*) _rdmacg_keys "${words_before[1]}" ;;
	esac
}

# _rdmacg_words WORD...: complete one of the words.
_rdmacg_words() {
	mapfile -t COMPREPLY < <(compgen -W "$*" -- "$cur")
}

# bash ends words at ":" and "=". Join the words that no blank separates.
_rdmacg_join() {
	local line=${COMP_LINE:0:COMP_POINT} word
	local -a joined=()
	for word in "${COMP_WORDS[@]:0:COMP_CWORD+1}"; do
		if [[ ${#joined[@]} == 0 || $line == [[:blank:]]* ]]; then
			joined+=("$word")
		else
			joined[-1]+=$word
		fi
		line=${line#"${line%%[![:blank:]]*}"}
		line=${line#"$word"}
	done
	words=("${joined[@]}")
}

# Complete with joined words. Then bash must not get the part of a reply before the last ":" or "=".
_rdmacg() {
	local words=("${COMP_WORDS[@]}") cur
	[[ -z ${COMP_LINE:-} ]] || _rdmacg_join
	local -a COMP_WORDS=("${words[@]}")
	local COMP_CWORD=$((${#words[@]} - 1))
	_rdmacg_complete
	cur=${words[-1]}
	if [[ -n ${COMP_LINE:-} && $cur == *[:=]* ]]; then
		COMPREPLY=("${COMPREPLY[@]#"${cur%"${cur##*[:=]}"}"}")
	fi
}

_rdmacg_complete() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]}
	if [[ $command == help ]] && ((COMP_CWORD == 3)); then
		[[ $prev != plan ]] || _rdmacg_words "$_rdmacg_plan_forms"
		return
	fi
	if ((COMP_CWORD == 1)) || [[ $command == help ]]; then
		mapfile -t COMPREPLY < <(compgen -W "show set why run plan watch apply save top doctor export help --help --version" -- "$cur")
		return
	fi
	# -o has three meanings.
	case $command$prev in
	show-o | show--columns) _rdmacg_words cgroup device resource usage limit limit_of peak refused by_it; return ;;
	top--columns) _rdmacg_words use% refused/s usage limit resource device cgroup limit_of; return ;;
	top-o | top--order) _rdmacg_words use refusals usage path; return ;;
	esac
	case $prev in
	--pid) mapfile -t COMPREPLY < <(compgen -W "$(cd /proc && printf '%s\n' [0-9]*)" -- "$cur"); return ;;
	--in | --cgroup | --among) _rdmacg_cgroups; return ;;
	--device) _rdmacg_devices; return ;;
	--unit) _rdmacg_units; return ;;
	-l | --limit) _rdmacg_limits; return ;;
	--resource) mapfile -t COMPREPLY < <(compgen -W "$(_rdmacg_capacity | grep -oE '[a-z0-9_]+=' | tr -d = | sort -u)" -- "$cur"); return ;;
	-o | --output | --ramblocks) mapfile -t COMPREPLY < <(compgen -f -- "$cur"); return ;;
	-f | --format) mapfile -t COMPREPLY < <(compgen -W "openmetrics prometheus" -- "$cur"); return ;;
	--container | --pod | --margin | --iterations | --delay | --depth) return ;;
	esac
	if [[ $cur == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$(_rdmacg_options "$command")" -- "$cur")
		return
	fi
	case $command in
	show | why | watch | save | top) _rdmacg_cgroups ;;
	apply) mapfile -t COMPREPLY < <(compgen -f -- "$cur") ;;
	set) _rdmacg_set ;;
	plan) _rdmacg_plan ;;
	run) mapfile -t COMPREPLY < <(compgen -c -- "$cur") ;;
	esac
}
complete -F _rdmacg rdmacg
