// SPDX-License-Identifier: GPL-2.0-only
/*
 * The yardstick. The kernel exports nothing of it, so it is compiled in here once more;
 * apart from the rest, so that it is the same code beside both controllers.
 */
#include "../mm/page_counter.c"
