/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Macros that spatch must expand to parse the functions which the hooks name.
 */
#define UVERBS_HANDLER(method_id) uverbs_handler
