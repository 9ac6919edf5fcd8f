// SPDX-License-Identifier: GPL-2.0
/* Keeps a pod's namespaces while its containers start and end. */
#include <unistd.h>

int main(void)
{
	pause();
	return 0;
}
