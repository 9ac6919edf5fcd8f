/* SPDX-License-Identifier: GPL-2.0 */
/* As the kernel has it: of a char below zero, too. */
static inline int isdigit(int c)
{
	return c >= '0' && c <= '9';
}

static inline int islower(int c)
{
	return c >= 'a' && c <= 'z';
}
