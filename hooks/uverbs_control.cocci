// SPDX-License-Identifier: GPL-2.0
/// Let a command begin once the limits of its cgroup allow it, and end when its objects are
/// settled: around the method of an ioctl, around the handler of write(2), and around the same
/// handler where an ioctl calls it. Nothing is held there but disassociate_srcu, for which only
/// the removal of the device waits: it lets nobody wait first. Each method and command keeps
/// how it is counted.
//
// Finds: ib_uverbs_cmd_verbs ib_uverbs_write UVERBS_METHOD_INVOKE_WRITE uverbs_alloc_api
// Finds: uverbs_api_ioctl_method
// Expect: 3 +uverbs_begin_command
// Expect: 3 +uverbs_end_command
// Expect: 1 +uverbs_classify
// Expect: 1 +uverbs_stop_waiting
// Expect: 1 +uverbs_resume_waiting
// Expect: 2 +control;

@@
@@
struct uverbs_api_ioctl_method {
	...
	u8 destroy_bkey;
+	/* enum uverbs_command_class */
+	u8 control;
};

@@
@@
struct uverbs_api_write_method {
	...
	u8 resp_size;
+	/* enum uverbs_command_class */
+	u8 control;
};

@ api @
identifier uapi;
@@
uverbs_alloc_api(...)
{
	<...
	rc = uapi_finalize(uapi);
	if (rc)
		goto err;
+	uverbs_classify(uapi);
	...>
}

@ ioctl @
identifier pbundle, ufile, hdr, method_elm;
@@
ib_uverbs_cmd_verbs(struct ib_uverbs_file *ufile, ...)
{
	const struct uverbs_api_ioctl_method *method_elm;
+	struct rdmacg_command command;
	...
+	ret = uverbs_begin_command(&command, ufile, method_elm->control);
-	ret = ib_uverbs_run_method(pbundle, hdr->num_attrs);
+	if (!ret)
+		ret = ib_uverbs_run_method(pbundle, hdr->num_attrs);
	bundle_destroy(pbundle, ret == 0);
+	uverbs_end_command(&command);
	return ret;
}

@ write @
identifier file, method_elm, bundle;
@@
ib_uverbs_write(...)
{
	struct ib_uverbs_file *file = ...;
	const struct uverbs_api_write_method *method_elm;
+	struct rdmacg_command command;
	<...
+	ret = uverbs_begin_command(&command, file, method_elm->control);
+	if (ret)
+		goto out_unlock;
	ret = method_elm->handler(&bundle);
	if (bundle.uobject)
		uverbs_finalize_object(...);
+	uverbs_end_command(&command);
	...>
}

@ invoke @
identifier attrs, method_elm, cmd;
@@
uverbs_handler(struct uverbs_attr_bundle *attrs)
{
	...
	const struct uverbs_api_write_method *method_elm;
+	struct rdmacg_command command;
	<...
+	rc = uverbs_begin_command(&command, attrs->ufile, method_elm->control);
+	if (rc)
+		return rc;
	attrs->uobject = NULL;
	rc = method_elm->handler(attrs);
	if (attrs->uobject)
		uverbs_finalize_object(...);
+	uverbs_end_command(&command);
	return rc;
	...>
}

@ add @
identifier device;
@@
ib_uverbs_add_one(struct ib_device *device)
{
	<...
+	uverbs_resume_waiting(device);
	ret = ib_uverbs_create_uapi(device, ...);
	...>
}

@ remove @
identifier device;
@@
ib_uverbs_remove_one(struct ib_device *device, ...)
{
	...
	int wait_clients = 1;
+
+	uverbs_stop_waiting(device);
	cdev_device_del(...);
	...
}

@ depends on api || ioctl || write || invoke @
@@
 #include "uverbs.h"
+#include "uverbs_control.h"
