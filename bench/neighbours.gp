# SPDX-License-Identifier: GPL-2.0
# gnuplot -e "csv='FILE'; prefix='DIR/NAME'" bench/neighbours.gp: PREFIX.svg and PREFIX.png, of a
# table that bench/neighbours-report wrote. Points are medians, bars reach from the least to the
# most of the rounds.

# "THREADS MEDIAN LEAST MOST", in microseconds, of the victim's p99 beside such an attacker.
rows(limits) = "<awk -F, '$1 == \"queue\" && $2 == \"".limits."\" && $4 == \"all\" && ".\
	"$5 == \"create\" && $6 == \"p99\" { print $3, $7 / 1000, $8 / 1000, $9 / 1000 }' ".csv
alone = real(system("awk -F, '$1 == \"queue\" && $2 == \"none\" && $5 == \"create\" && $6 == \"p99\" { print $7 / 1000 }' ".csv))

set title 'A victim that registers and frees 4 KiB, behind a queue of 50 µs a command'
set xlabel 'threads of an attacker in another cgroup'
set ylabel "victim's p99, µs"
set grid
set key top left
set logscale x 2
set xtics (1, 2, 4, 8)
set xrange [0.9:9]
set yrange [0:*]

do for [t in "svg png"] {
	if (t eq "svg") {
		set terminal svg size 720,450 dynamic background '#ffffff' font 'sans,13'
	} else {
		set terminal pngcairo size 1080,675 font 'sans,13'
	}
	set output prefix.".".t
	plot rows('unlimited') with yerrorlines lc rgb '#c0392b' lw 2 pt 5 title 'without limits', \
		rows('inflight=1') with yerrorlines lc rgb '#e67e22' lw 2 pt 13 title 'inflight=1', \
		rows('ops=500') with yerrorlines lc rgb '#6fa8dc' lw 2 pt 6 title 'ops=500', \
		rows('ops=50') with yerrorlines lc rgb '#0060ad' lw 2 pt 7 title 'ops=50', \
		alone with lines lc rgb '#7f8c8d' lw 2 dt 2 title 'no attacker'
}
