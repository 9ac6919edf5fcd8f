# SPDX-License-Identifier: GPL-2.0
# awk -v names='NAME...' -f dev/without.awk FILE: print a C file without the definitions and declarations
# of these names, and without the comments above them. A comment that stands alone belongs to the
# statement after it. CONFIG_X stands for each region from "#ifdef CONFIG_X" to its "#endif", HEADER.h
# for the line that includes it, and the function of a KUnit case also for the line that lists it. Each name
# must be in the file.
BEGIN {
	count = split(names, list, " ")
	for (i = 1; i <= count; i++)
		unwanted[list[i]] = 1
}

function is_unwanted(name) {
	if (name in unwanted)
		used[name] = 1
	return name in unwanted
}

# Print a blank line only before another line, and only one where something is left out.
function put(line) {
	if (line == "") {
		if (!(skipped && blanks))
			blanks++
		return
	}
	if (!printed)
		blanks = 0
	for (; blanks; blanks--)
		print ""
	print line
	printed = 1
	skipped = 0
}

# Print the lines of the item that has ended, or leave them out.
function end_item(name, i) {
	for (i = 1; i <= lines; i++)
		if (is_unwanted(name))
			skipped = 1
		else
			put(item[i])
	lines = 0
	head = ""
	in_statement = 0
}

# Returns the name that a statement defines or declares. "struct NAME;" has no name.
function name_of(text) {
	if (text ~ /^(struct|union|enum) [a-z0-9_]+;/)
		return ""
	if (text ~ /^#define/) {
		sub(/^#define[ \t]+/, "", text)
		sub(/[^A-Za-z0-9_].*/, "", text)
		return text
	}
	sub(/^DEFINE_EVENT\([a-z_]+, */, "EVENT(", text)
	if (sub(/^([A-Z_]*EVENT|EXPORT_SYMBOL[_A-Z]*|KUNIT_ARRAY[_A-Z]*)\(/, "", text)) {
		sub(/[^A-Za-z0-9_].*/, "", text)
		return text
	}
	sub(/[({;=[].*/, "", text)
	sub(/[ \t]+$/, "", text)
	sub(/.*[^A-Za-z0-9_]/, "", text)
	return text
}

# Without strings, characters and comments in one line.
function code_of(line) {
	gsub(/\\\\|\\"|\\'/, "", line)
	gsub(/"[^"]*"|'[^']*'/, "", line)
	gsub(/\/\*.*\*\//, "", line)
	return line
}

function times(text, char) {
	return gsub(char, "", text)
}

in_region {
	in_region += /^#if/
	in_region -= /^#endif/
	skipped = 1
	next
}

/^#ifdef CONFIG_/ && is_unwanted($2) {
	if (!in_statement)
		end_item("")
	in_region = 1
	skipped = 1
	next
}

in_comment || (!in_statement && /^\/[*\/]/) {
	item[++lines] = $0
	in_comment = !/\*\/|^\/\//
	next
}

!in_statement && $0 == "" {
	if (lines)
		item[++lines] = ""
	else
		put("")
	next
}

!in_statement && /^#/ && !/^#define/ {
	end_item("")
	header = $2
	gsub(/.*\/|[<>"]/, "", header)
	if (is_unwanted(header))
		next
	put($0)
	next
}

/^\tKUNIT_CASE/ || in_case {
	name = $0
	if (!in_case)
		leaves_out = sub(/^\tKUNIT_CASE[_A-Z]*\(/, "", name) && sub(/[,)].*/, "", name) && is_unwanted(name)
	in_case = !/\),$/
	if (leaves_out)
		next
}

{
	item[++lines] = $0
	code = code_of($0)
	if (!in_statement)
		depth = 0
	in_statement = 1
	if (head !~ /[{;=]/)
		head = head code " "
	depth += times(code, "[{(]") - times(code, "[})]")
	sub(/[ \t]+$/, "", code)
	if (head ~ /^#define/ ? code !~ /\\$/ : depth == 0 && code ~ /[;}]$/)
		end_item(name_of(head))
}

END {
	end_item("")
	for (name in unwanted)
		if (!(name in used))
			unknown = unknown " " name
	if (unknown) {
		print FILENAME " does not define" unknown >"/dev/stderr"
		exit 1
	}
}
