// SPDX-License-Identifier: GPL-2.0
/// Tell the controller a device's name after each rename, and after a move to
/// another network namespace, which can rename it, too. The base lets the
/// controller read the name while these rewrite it.
//
// Finds: ib_device_rename rdma_dev_change_netns
// Expect: 2 +ib_rdmacg_rename_device

@@
identifier device;
@@
int ib_device_rename(struct ib_device *device, ...)
{
	<...
	strscpy(device->name, ...);
+	ib_rdmacg_rename_device(device);
	...>
}

@@
identifier device, ret;
@@
int rdma_dev_change_netns(struct ib_device *device, ...)
{
	<...
+	ib_rdmacg_rename_device(device);
	ret = enable_device_and_get(device);
	...>
}
