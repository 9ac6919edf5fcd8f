# SPDX-License-Identifier: GPL-2.0
# gnuplot -e "csv='FILE'; prefix='DIR/NAME'" bench/plots.gp: three pictures of a table
# that bench/report wrote, PREFIX-depth, PREFIX-threads and PREFIX-files, each as .svg
# and .png. Points are medians, bars reach from the least to the most.

# "X MEDIAN LEAST MOST" of each measurement that is named HEAD, X, TAIL.
rows(group, head, tail, kernel) = "<awk -F, -v OFS=' ' '$1 == \"".group."\" && $4 == \"".kernel."\" && ".\
	"$2 ~ \"^".head."[0-9]+".tail."$\" { sub(\"^".head."\", \"\", $2); sub(\"/.*\", \"\", $2); ".\
	"print $2, $6, $7, $8 }' ".csv." | sort -n"
terminals = "svg png"
options(t) = t eq "svg" ? "svg size 720,450 dynamic background '#ffffff' font 'sans,13'" : \
	"pngcairo size 1080,675 font 'sans,13'"
set grid
set key top left
set style line 1 lc rgb '#0060ad' lw 2 pt 7
set style line 2 lc rgb '#6fa8dc' lw 2 pt 6
set style line 3 lc rgb '#c0392b' lw 2 pt 5
set style line 4 lc rgb '#7f8c8d' lw 2 pt 4 dt 2
set style line 5 lc rgb '#27ae60' lw 2 pt 9
set style line 6 lc rgb '#8e44ad' lw 2 pt 11
set style line 7 lc rgb '#e67e22' lw 2 pt 13

do for [t in terminals] {
	eval "set terminal ".options(t)
	set output prefix."-depth.".t
	set title 'Charge and uncharge, one processor'
	set xlabel 'levels below the root'
	set ylabel 'ns per pair'
	unset logscale
	# A thousand levels would leave no room for the others.
	set xrange [0:16]
	set yrange [0:*]
	plot rows('charge', 'pair/depth=', '', 'stock') with yerrorlines ls 3 title "stock", \
		rows('charge', 'pair/depth=', '', 'ours') with yerrorlines ls 1 title 'ours', \
		rows('charge', 'slots=3/depth=', '', 'ours') with yerrorlines ls 2 title 'ours, three resources at once', \
		rows('charge', 'page_counter/depth=', '', 'ours') with yerrorlines ls 4 title 'page\_counter, no reference'

	set output prefix."-threads.".t
	set title sprintf('Throughput on %s processors, four levels deep', cpus)
	set xlabel 'processes that charge'
	set ylabel 'million pairs a second, all together'
	set key outside right
	set logscale x 2
	set xrange [*:*]
	plot for [i = 1:4] rows('charge', word("own-trees own-devices siblings same-cgroup", i).'/threads=', '/depth=4', 'ours') \
			using 1:(1000 / $2) with linespoints ls word("1 5 6 7", i) \
			title 'ours, '.word("own-trees own-devices siblings same-cgroup", i), \
		for [i = 1:4] rows('charge', word("own-trees own-devices siblings same-cgroup", i).'/threads=', '/depth=4', 'stock') \
			using 1:(1000 / $2) with linespoints ls word("1 5 6 7", i) dt 3 \
			title "base's, ".word("own-trees own-devices siblings same-cgroup", i)

	set output prefix."-files.".t
	set title 'Reading rdma.current of one cgroup'
	set xlabel 'devices'
	set ylabel 'µs'
	set key top left inside
	set logscale xy 10
	set yrange [*:*]
	plot rows('files', 'read-current/devices=', '/cgroups=1', 'stock') \
			using 1:($2 / 1000):($3 / 1000):($4 / 1000) with yerrorlines ls 3 title "stock", \
		rows('files', 'read-current/devices=', '/cgroups=1', 'ours') \
			using 1:($2 / 1000):($3 / 1000):($4 / 1000) with yerrorlines ls 1 title 'ours'
}
