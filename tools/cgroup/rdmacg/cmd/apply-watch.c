// SPDX-License-Identifier: GPL-2.0
/*
 * rdmacg apply --watch: apply again when a device or a cgroup is added.
 *
 * A new device causes a visit of all cgroups. A new cgroup causes a visit of this cgroup and its
 * descendants.
 */
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <systemd/sd-daemon.h>

#include "cmd/apply.h"
#include "lib/lib.h"

/*
 * Pause after each action, so that a tenant that always creates cgroups does not keep a processor
 * busy.
 */
#define APPLY_PAUSE_MS		20
#define APPLY_PAUSE_FACTOR	3

/* Notify systemd that the limits of present cgroups are in effect, if NOTIFY_SOCKET is set. */
static void apply_tell_ready(void)
{
	int ret = sd_notify(false, "READY=1");

	if (ret < 0)
		say_warning("NOTIFY_SOCKET", "%s", strerror(-ret));
}

/* Block signals, so that they are read only between two complete actions. */
static int apply_open_signals(void)
{
	sigset_t signals;
	int fd;

	sigemptyset(&signals);
	sigaddset(&signals, SIGHUP);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0)
		say_error("signalfd", "%s", strerror(errno));
	return fd;
}

/* Read the files again. If a file is malformed, the limits do not change. */
static bool apply_reload(void)
{
	struct config config = { 0 };

	if (!config_read(&config, apply.files, apply.nr_files)) {
		say_note("a file is malformed; the earlier limits stay in effect");
		return true;
	}
	config_free(&apply.config);
	apply.config = config;
	say_text("files read: %zu line%s of limits", config.nr_rules,
		 config.nr_rules == 1 ? "" : "s");
	/* The new files may have sections for other cgroups. */
	hotplug_close(apply.hotplug);
	if (!hotplug_open(apply.hotplug))
		return false;
	apply.hotplug->everything = true;
	return true;
}

/* Take the signals. Returns false to end the program. */
static bool apply_take_signals(int signals)
{
	struct signalfd_siginfo info;

	while (read(signals, &info, sizeof(info)) == sizeof(info))
		if (info.ssi_signo != SIGHUP || !apply_reload())
			return false;
	return true;
}

/*
 * A new device needs limits in all cgroups. If all limits are applied, new cgroups need no visit of
 * their own.
 */
static void apply_arrivals(void)
{
	struct hotplug *hotplug = apply.hotplug;
	bool everything = hotplug->everything;
	size_t i;

	if (everything)
		apply_below("");
	for (i = 0; i < hotplug->nr_names && !everything; i++)
		apply_below(hotplug->names[i]);
	hotplug_drop(hotplug);
}

static bool apply_loop(int signals)
{
	struct pollfd fds[] = {
		{ .fd = signals, .events = POLLIN },
		{ .events = POLLIN },
		{ .events = POLLIN },
	};
	int64_t begin;

	while (say_finish() && apply_take_signals(signals)) {
		fds[1].fd = apply.hotplug->devices;
		fds[2].fd = apply.hotplug->inotify;
		if (!apply.hotplug->everything &&
		    poll(fds, ARRAY_SIZE(fds), -1) < 0 && errno != EINTR) {
			say_error("poll", "%s", strerror(errno));
			return false;
		}
		begin = clock_now();
		hotplug_take(apply.hotplug);
		apply_arrivals();
		if (!say_finish())
			return false;
		/* A signal ends the pause. */
		poll(fds, 1, (clock_now() - begin) * APPLY_PAUSE_FACTOR + APPLY_PAUSE_MS);
	}
	return !ferror(stdout);
}

bool apply_watch(void)
{
	int signals = apply_open_signals();
	struct hotplug hotplug;
	bool done;

	if (signals < 0 || !hotplug_open(&hotplug))
		return false;
	apply.hotplug = &hotplug;
	apply_below("");
	done = say_finish();
	if (done) {
		apply_tell_ready();
		done = apply_loop(signals);
	}
	hotplug_close(&hotplug);
	return done;
}
