# SPDX-License-Identifier: GPL-2.0
# awk -v names='NAME...' -f dev/without-rst.awk FILE: print a document without the items whose text begins
# with these names, in which "_" stands for a blank. An item is a section, a paragraph, an entry of a list,
# a row of a table or a command of an example, with the indented lines below it. ",_NAME" stands for words
# in a line that begin with NAME, each with the comma before it. Each name must be that of an item.
BEGIN {
	count = split(names, list, " ")
	for (i = 1; i <= count; i++) {
		gsub("_", " ", list[i])
		if (sub(/^, /, "", list[i]))
			words[list[i]] = 1
		else
			item[list[i]] = 1
	}
}

function is_unwanted(text, name, found) {
	gsub("_", " ", text)
	for (name in item)
		if (index(text, name) == 1)
			found = used[name] = 1
	return found
}

function without_words(text, name, at, end) {
	for (name in words)
		while ((at = index(text, ", " name))) {
			used[name] = 1
			end = match(substr(text, at + 2), /,|$/) + at + 1
			text = substr(text, 1, at - 1) substr(text, end)
		}
	return text
}

# The order in which the kinds of underlines appear gives the levels of the sections.
function level(underline, kind) {
	kind = substr(underline, 1, 1)
	if (!(kind in levels))
		levels[kind] = ++kinds
	return levels[kind]
}

function indent(line) {
	gsub("\t", "        ", line)
	match(line, /^ */)
	return RLENGTH
}

{ line[NR] = $0 }

END {
	for (i = 1; i <= NR; i++) {
		text = line[i]
		is_entry = text ~ /^[ \t]*[-*#] /
		sub(/^[ \t]*([-*#] )?/, "", text)
		is_title = line[i] ~ /^[^ \t=~-]/ && line[i + 1] ~ /^(==+|--+|~~+)$/
		is_row = text ~ /^([^ \t]+|[^.]*[^ .] )(\t|  +)[^ ]/
		begins = is_row || is_entry || line[i - 1] == "" || indent(line[i]) < indent(line[i - 1])
		unwanted = begins && is_unwanted(text)
		if (is_title && level(line[i + 1]) <= section)
			section = 0
		if (section)
			continue
		if (is_title && unwanted) {
			section = level(line[i + 1])
			continue
		}
		if (below != "" && line[i] != "" && indent(line[i]) <= below && !in_paragraph)
			below = ""
		in_paragraph = in_paragraph && line[i] != ""
		if (below != "") {
			blank = blank || line[i] == ""
			continue
		}
		if (unwanted) {
			below = indent(line[i])
			in_paragraph = !is_row && !is_entry
			continue
		}
		if (line[i] != "") {
			if (blank)
				print ""
			print without_words(line[i])
		}
		blank = line[i] == ""
	}
	for (name in item)
		unused = unused (name in used ? "" : " \"" name "\"")
	for (name in words)
		unused = unused (name in used ? "" : " \", " name "\"")
	if (unused) {
		print FILENAME " has no item that begins with" unused >"/dev/stderr"
		exit 1
	}
}
