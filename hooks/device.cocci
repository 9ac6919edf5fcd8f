// SPDX-License-Identifier: GPL-2.0
/// Register each device with the controller before user space can open it, and
/// let the registration of the device fail when that fails: a device without
/// accounting would be one without limits. Before there are any, the controller knows
/// what they may have.
//
// Finds: ib_core_init ib_register_device __ib_unregister_device
// Expect: 1 -ib_device_register_rdmacg
// Expect: 2 -ib_device_unregister_rdmacg
// Expect: 1 +ib_rdmacg_register_device
// Expect: 2 +ib_rdmacg_unregister_device
// Expect: 1 +ib_rdmacg_init

@@
@@
int ib_core_init(void)
{
	...
	rdma_nl_init();
+	ib_rdmacg_init();
	...
}

@@
identifier device, ret;
@@
int ib_register_device(struct ib_device *device, ...)
{
	<...
	ret = ib_setup_device_attrs(device);
	if (ret)
		goto cache_cleanup;
-	ib_device_register_rdmacg(device);
+	ret = ib_rdmacg_register_device(device);
+	if (ret)
+		goto cache_cleanup;
	...>
}

@@
identifier f = { ib_register_device, __ib_unregister_device };
expression device;
@@
f(...)
{
	<...
-	ib_device_unregister_rdmacg(device);
+	ib_rdmacg_unregister_device(device);
	...>
}
