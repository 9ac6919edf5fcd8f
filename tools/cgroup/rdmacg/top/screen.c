// SPDX-License-Identifier: GPL-2.0
/* rdmacg top: the screen and the keys. */
#include <curses.h>
#include <sys/signalfd.h>

#include "top/top.h"

/* The lines above the rows: the title, and perhaps the names of the columns. */
#define TOP_HEAD	(table_bare ? 1 : 2)

static struct {
	struct pollfd inputs[2];	/* the keyboard, and the signals */
	bool helping, ended;
	/* The first error of the last update, or "", or NULL before an update. */
	char *error;
} screen;

static const char top_help[] =
	"q      end\n"
	"space  update at once\n"
	"+ -    more or less time between updates\n"
	"l      sort by use, the closest to a limit first\n"
	"r      sort by refusals\n"
	"u      sort by usage\n"
	"p      sort by cgroup\n"
	"arrows, page up and down, home, end: scroll\n"
	"h      this help; any key ends it\n"
	"\n"
	"USE%       usage as a part of the limit\n"
	"REFUSED/S  refused attempts of the cgroup and its descendants in a second\n"
	"LIMIT      smallest limit of the cgroup and its ancestors\n"
	"LIMIT OF   the cgroup that has this limit\n";

/* Do not scroll beyond the last row. */
static void top_scroll(long rows)
{
	top.first = max(0, min((long)top.first + rows, (long)top.nr_rows - 1));
}

static void top_draw(void)
{
	char *text __autofree = NULL, *cursor, *line;
	size_t size;
	FILE *to = memory_check(open_memstream(&text, &size));
	int y;

	top_scroll(0);
	if (screen.helping)
		fputs(top_help, to);
	else if (screen.error && *screen.error)
		fprintf(to, "%s\n", screen.error);
	else
		fprintf(to, "rdmacg top: %zu row%s by %s, every %g s; h for help\n", top.nr_rows,
			top.nr_rows == 1 ? "" : "s", top_orders[top.order], top.delay_ms / 1000.0);
	if (!screen.helping)
		top_print_table(to, max(LINES - TOP_HEAD, 0), COLS);
	fclose(to);
	erase();
	for (cursor = text, y = 0; (line = file_next_line(&cursor)); y++) {
		const struct top_row *row = screen.helping || y < TOP_HEAD ? NULL :
					    &top.rows[top.first + y - TOP_HEAD];

		if (row && (top_use(row) >= 1 || row->refused))
			attrset(A_BOLD);
		else if (!screen.helping && !row && y)
			attrset(A_REVERSE);
		text_clip(line, COLS, false);
		mvaddstr(y, 0, line);
		attrset(A_NORMAL);
	}
	refresh();
}

/* Act on a key. KEY_RESIZE is a new size of the terminal. Returns true to update at once. */
static bool top_press(int key)
{
	static const char orders[TOP_ORDERS + 1] = "lrup";
	long page = max(LINES - TOP_HEAD - 1, 1), all = top.nr_rows;
	const struct {
		int key;
		long rows;
	} scrolls[] = {
		{ KEY_DOWN, 1 }, { KEY_UP, -1 }, { KEY_NPAGE, page }, { KEY_PPAGE, -page },
		{ KEY_HOME, -all }, { KEY_END, all - page - (long)top.first },
	};
	size_t i;

	if (screen.helping || key == KEY_RESIZE) {
		screen.helping &= key == KEY_RESIZE;
		return false;
	}
	for (i = 0; i < ARRAY_SIZE(scrolls); i++)
		if (scrolls[i].key == key)
			top_scroll(scrolls[i].rows);
	/* Change the delay by a second, or by a quarter of a second below one second. */
	if (key == '+')
		top.delay_ms += top.delay_ms < 1000 ? 250 : 1000;
	if (key == '-')
		top.delay_ms = max(250, (int64_t)top.delay_ms - (top.delay_ms > 1000 ? 1000 : 250));
	if (key == '\f')
		clearok(curscr, TRUE);
	if (key > 0 && key < 0x80 && strchr(orders, key)) {
		top.order = strchr(orders, key) - orders;
		top.first = 0;
		top_sort();
	}
	screen.helping = key == 'h' || key == '?';
	screen.ended = key == 'q';
	return key == 'q' || key == ' ';
}

/* Act on all keys and signals. Returns true to update at once. */
static bool top_take_inputs(void)
{
	struct pollfd *keyboard = &screen.inputs[0];
	bool pressed = false, now = false;
	int key;

	while (!now && (key = getch()) != ERR) {
		now = top_press(key);
		pressed = true;
	}
	if (pressed)
		top_draw();
	else if (keyboard->revents & (POLLHUP | POLLERR))
		screen.ended = true;
	else if (keyboard->revents)
		/* The input is ready, but has no key. It is not a keyboard, so ignore it. */
		keyboard->fd = -1;
	screen.ended |= screen.inputs[1].revents;
	return now;
}

/* Wait until the next update, or until the end. */
static void top_wait(void)
{
	int64_t end = clock_now() + top.delay_ms, left;
	bool now = false;

	while (!now && !screen.ended && (left = end - clock_now()) > 0) {
		screen.inputs[0].revents = 0;
		if (poll(screen.inputs, ARRAY_SIZE(screen.inputs), left) != 0)
			now = top_take_inputs();
	}
}

/* Show the first error in the first line, because no other line is free. */
static void top_look(void)
{
	size_t size;
	FILE *to;

	free(screen.error);
	to = memory_check(open_memstream(&screen.error, &size));
	say_errors = to;
	top_read();
	say_errors = NULL;
	fclose(to);
	screen.error[strcspn(screen.error, "\n")] = '\0';
}

/* Keep signals pending, so that they end the process after the terminal is restored. */
static void top_hold_signals(sigset_t *before)
{
	sigset_t held;

	sigemptyset(&held);
	sigaddset(&held, SIGINT);
	sigaddset(&held, SIGTERM);
	sigaddset(&held, SIGHUP);
	sigaddset(&held, SIGQUIT);
	sigprocmask(SIG_BLOCK, &held, before);
	screen.inputs[0] = (struct pollfd){ STDIN_FILENO, POLLIN };
	screen.inputs[1] = (struct pollfd){ signalfd(-1, &held, SFD_CLOEXEC), POLLIN };
	if (screen.inputs[1].fd < 0)
		say_failure("signalfd", "%s", strerror(errno));
}

bool top_screen(void)
{
	uint64_t looks = 0;
	SCREEN *terminal;
	sigset_t signals;

	/* Read before the screen is cleared for the first time, so that an error stays visible. */
	if (!top_read())
		return false;
	top_hold_signals(&signals);
	terminal = newterm(NULL, stdout, stdin);
	/* newterm() accepts a terminal that can only print lines. */
	if (!terminal || !tigetstr("cup")) {
		endwin();
		say_failure("TERM",
			    "the terminal %s is unknown or has no screen; top -b needs none",
			    getenv("TERM") ?: "without a name");
	}
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	curs_set(0);
	while (!screen.ended) {
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
	/* ncurses has handlers of its own for these signals. */
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	sigprocmask(SIG_SETMASK, &signals, NULL);
	return true;
}
