// SPDX-License-Identifier: GPL-2.0
/* What keeps a pod's namespaces while its containers come and go. */
#include <unistd.h>

int main(void)
{
	pause();
	return 0;
}
