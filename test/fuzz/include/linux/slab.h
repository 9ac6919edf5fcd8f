/* SPDX-License-Identifier: GPL-2.0 */
/* The parser needs nothing of it. */
