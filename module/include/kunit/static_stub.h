/* SPDX-License-Identifier: GPL-2.0-only */
/* Linux before 6.3 has no such header; module/core.h has the macro. */
