/* SPDX-License-Identifier: GPL-2.0 */
/* As in the kernel, which also takes a char below zero. */
static inline int isdigit(int c)
{
	return c >= '0' && c <= '9';
}

static inline int islower(int c)
{
	return c >= 'a' && c <= 'z';
}

static inline int isprint(int c)
{
	return c >= ' ' && c <= '~';
}
