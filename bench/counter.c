// SPDX-License-Identifier: GPL-2.0-only
/*
 * Page counters, for comparison. The kernel does not export them, so they are compiled here once
 * more, in a file of their own so that both controllers are measured beside the same code.
 */
#include "../mm/page_counter.c"
