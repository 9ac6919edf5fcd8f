// SPDX-License-Identifier: GPL-2.0
/* rdmacg top: the screen and the keys. */
#include <curses.h>
#include <poll.h>
#include <signal.h>

#include "top/top.h"

/* This include must be the last, because it defines macros such as columns. */
#include <term.h>

/* The lines above the rows: the title, and the names of the columns. */
#define TOP_HEAD	2

static struct top_screen {
	/* A wait ends at a key, or at a signal that was not blocked at the start. */
	struct pollfd keyboard;
	sigset_t unblocked;
	bool helping;
	bool ended;
	/* The first error of the last update, or "", or NULL before an update. */
	char *error;
} screen = {
	.keyboard = { .fd = STDIN_FILENO, .events = POLLIN },
};

static volatile sig_atomic_t top_signal;

static void top_take_signal(int signal)
{
	top_signal = signal;
}

static const char * const top_help[] = {
	"q      end",
	"space  update at once",
	"+ -    more or less time between updates",
	"l      sort by use, the closest to a limit first",
	"r      sort by refusals",
	"u      sort by usage",
	"p      sort by cgroup",
	"arrows, page up and down, home, end: scroll",
	"h      this help; any key ends it",
	"",
	"USE%       usage as a part of the limit",
	"REFUSED/S  refused attempts of the cgroup and its descendants in a second",
	"LIMIT      smallest limit of the cgroup and its ancestors",
	"LIMIT OF   the cgroup that has this limit",
};

/* Block signals except during a wait, so that the terminal can be restored. */
static void top_hold_signals(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	struct sigaction action = { .sa_handler = top_take_signal };
	sigset_t blocked;
	size_t i;

	sigemptyset(&blocked);
	for (i = 0; i < ARRAY_SIZE(signals); i++)
		sigaddset(&blocked, signals[i]);
	sigprocmask(SIG_BLOCK, &blocked, &screen.unblocked);
	for (i = 0; i < ARRAY_SIZE(signals); i++)
		sigaction(signals[i], &action, NULL);
}

/* newterm() does not report why a terminal is unsuitable, and accepts one that only prints. */
static void top_check_terminal(void)
{
	const char *name = getenv("TERM");
	int known = 0;

	if (!name || !*name)
		say_failure("TERM", "is not set, so the terminal is unknown; top -b needs none");
	if (setupterm(NULL, STDOUT_FILENO, &known) != OK)
		say_failure("TERM", "the terminal %s is unknown; top -b needs none", name);
	if (!cursor_address || !clear_screen)
		say_failure("TERM", "the terminal %s cannot do this; top -b needs none", name);
	del_curterm(cur_term);
}

/* Draw a line, cut to the width of the screen. */
static void top_draw_line(int y, const char *line, attr_t attributes)
{
	char *text __autofree = memory_string(line);

	text_clip(text, COLS, false);
	attrset(attributes);
	mvaddstr(y, 0, text);
	attrset(A_NORMAL);
}

/* Do not scroll beyond the last row. */
static void top_scroll(long rows)
{
	long last = (long)top.nr_shown - 1, first = (long)top.first + rows;

	if (first > last)
		first = last;
	top.first = first < 0 ? 0 : first;
}

static void top_draw_rows(void)
{
	char *text __autofree = NULL;
	size_t room = LINES - TOP_HEAD > 0 ? LINES - TOP_HEAD : 0;
	char *cursor, *line;
	int y = TOP_HEAD - 1;
	struct table table;
	size_t size;
	FILE *to = memory_check(open_memstream(&text, &size));

	top_scroll(0);
	top_fill(&table, room, COLS);
	table_print(&table, to);
	fclose(to);
	cursor = text;
	while ((line = file_next_line(&cursor))) {
		const struct top_row *row = &top.rows[top.first + y - TOP_HEAD];
		bool heading = y < TOP_HEAD;
		bool alarm = !heading && (row->use >= 1 || row->rate > 0);

		top_draw_line(y++, line, heading ? A_REVERSE : alarm ? A_BOLD : A_NORMAL);
	}
}

static void top_draw(void)
{
	char *title __autofree =
		memory_format("rdmacg top: %zu row%s by %s, every %g s; h for help", top.nr_shown,
			      top.nr_shown == 1 ? "" : "s", top_orders[top.order],
			      top.delay_ms / 1000.0);
	int y;

	erase();
	for (y = 0; screen.helping && y < (int)ARRAY_SIZE(top_help) && y < LINES; y++)
		top_draw_line(y, top_help[y], A_NORMAL);
	if (!screen.helping) {
		top_draw_line(0, screen.error && *screen.error ? screen.error : title, A_NORMAL);
		top_draw_rows();
	}
	refresh();
}

/* Change the delay in steps of a second, or of a quarter of a second below one second. */
static void top_change_delay(bool longer)
{
	uint64_t step = top.delay_ms < 1000 || (top.delay_ms == 1000 && !longer) ? 250 : 1000;

	if (longer)
		top.delay_ms += step;
	else
		top.delay_ms = top.delay_ms > step + 250 ? top.delay_ms - step : 250;
}

/* Scroll if @key is a key that scrolls. */
static void top_press_scroll(int key)
{
	long rows = LINES - TOP_HEAD - 1;
	long page = rows > 1 ? rows : 1, first = top.first, last = top.nr_shown;
	const struct {
		int key;
		long rows;
	} keys[] = {
		{ KEY_DOWN, 1 }, { KEY_UP, -1 }, { KEY_NPAGE, page }, { KEY_PPAGE, -page },
		{ KEY_HOME, -first }, { KEY_END, last - page - first },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(keys); i++)
		if (keys[i].key == key)
			top_scroll(keys[i].rows);
}

/* Act on a key. Returns true to update at once. */
static bool top_press(int key)
{
	static const char orders[TOP_ORDERS + 1] = "lrup";

	if (screen.helping || key == KEY_RESIZE) {
		screen.helping &= key == KEY_RESIZE;
		return false;
	}
	top_press_scroll(key);
	if (key == '+' || key == '-')
		top_change_delay(key == '+');
	else if (key == '\f')
		clearok(curscr, TRUE);
	else if (key > 0 && key < 0x80 && strchr(orders, key))
		top_set_order(strchr(orders, key) - orders);
	screen.helping = key == 'h' || key == '?';
	screen.ended = key == 'q';
	return key == 'q' || key == ' ';
}

/* Act on all keys. KEY_RESIZE is a new size of the terminal. Returns true to update at once. */
static bool top_take_keys(void)
{
	bool pressed = false, now = false;
	int key;

	while (!now && (key = getch()) != ERR) {
		now = top_press(key);
		pressed = true;
	}
	if (pressed)
		top_draw();
	else if (screen.keyboard.revents & (POLLHUP | POLLERR))
		screen.ended = true;
	else if (screen.keyboard.revents)
		/* The input is ready, but has no key. It is not a keyboard, so ignore it. */
		screen.keyboard.fd = -1;
	return now;
}

/* Wait until the next update, or until the end. */
static void top_wait(void)
{
	int64_t begin = clock_now();
	bool now = false;

	while (!now && !screen.ended && !top_signal) {
		int64_t left = begin + (int64_t)top.delay_ms - clock_now();
		struct timespec timeout = { left / 1000, left % 1000 * 1000000 };

		if (left <= 0)
			return;
		screen.keyboard.revents = 0;
		if (ppoll(&screen.keyboard, 1, &timeout, &screen.unblocked) != 0)
			now = top_take_keys();
	}
}

/* Show the first error in the first line, because no other line is free. */
static void top_look(void)
{
	size_t size;
	FILE *to;

	free(screen.error);
	to = memory_check(open_memstream(&screen.error, &size));
	say_errors_to(to);
	top_read();
	say_errors_to(NULL);
	fclose(to);
	screen.error[strcspn(screen.error, "\n")] = '\0';
}

bool top_screen(void)
{
	uint64_t looks = 0;
	SCREEN *terminal;

	/* Read before the screen is cleared for the first time, so that an error stays visible. */
	if (!top_read())
		return false;
	top_check_terminal();
	top_hold_signals();
	terminal = newterm(NULL, stdout, stdin);
	if (!terminal)
		say_failure("terminal", "%s; top -b needs none", strerror(errno));
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	curs_set(0);
	while (!screen.ended && !top_signal) {
		if (looks++)
			top_look();
		top_draw();
		if (looks == top.count)
			break;
		top_wait();
	}
	endwin();
	delscreen(terminal);
	free(screen.error);
	/* A signal that has arrived ends the process. Signal 0 does nothing. */
	signal(top_signal, SIG_DFL);
	raise(top_signal);
	sigprocmask(SIG_SETMASK, &screen.unblocked, NULL);
	return true;
}
