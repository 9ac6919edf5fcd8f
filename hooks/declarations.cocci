// SPDX-License-Identifier: GPL-2.0
/// Declare this project's side of the IB core in place of the base's. With the
/// base's declarations gone, a charge of the base that no hook rewrote fails to
/// compile instead of running beside ours.
//
// Finds: ib_device_register_rdmacg
// Expect: 2 -ib_device_register_rdmacg
// Expect: 2 -ib_device_unregister_rdmacg
// Expect: 2 -ib_rdmacg_try_charge
// Expect: 2 -ib_rdmacg_uncharge
// Expect: 2 +ib_rdmacg_register_device
// Expect: 2 +ib_rdmacg_unregister_device
// Expect: 2 +ib_rdmacg_rename_device
// Expect: 2 +ib_rdmacg_charge_ucontext
// Expect: 2 +ib_rdmacg_uncharge_ucontext
// Expect: 2 +ib_rdmacg_charge_uobject
// Expect: 2 +ib_rdmacg_uncharge_uobject

@@ @@
- void ib_device_register_rdmacg(struct ib_device *device);
+ int ib_rdmacg_register_device(struct ib_device *device);

@@ @@
- void ib_device_unregister_rdmacg(struct ib_device *device);
+ void ib_rdmacg_unregister_device(struct ib_device *device);
+ void ib_rdmacg_rename_device(struct ib_device *device);

@@ @@
- int ib_rdmacg_try_charge(struct ib_rdmacg_object *cg_obj, struct ib_device *device, enum rdmacg_resource_type resource_index);
+ int ib_rdmacg_charge_ucontext(struct ib_ucontext *ucontext);
+ void ib_rdmacg_uncharge_ucontext(struct ib_ucontext *ucontext);

@@ @@
- void ib_rdmacg_uncharge(struct ib_rdmacg_object *cg_obj, struct ib_device *device, enum rdmacg_resource_type resource_index);
+ int ib_rdmacg_charge_uobject(struct ib_uobject *uobj);
+ void ib_rdmacg_uncharge_uobject(struct ib_uobject *uobj);

@@ @@
- void ib_device_register_rdmacg(struct ib_device *device)
+ int ib_rdmacg_register_device(struct ib_device *device)
  {
+	return 0;
  }

@@ @@
- void ib_device_unregister_rdmacg(struct ib_device *device)
+ void ib_rdmacg_unregister_device(struct ib_device *device)
  { }
+
+
+ static inline void ib_rdmacg_rename_device(struct ib_device *device)
+ {
+ }

@@ @@
- int ib_rdmacg_try_charge(struct ib_rdmacg_object *cg_obj, struct ib_device *device, enum rdmacg_resource_type resource_index)
+ int ib_rdmacg_charge_ucontext(struct ib_ucontext *ucontext)
  {
	return 0;
  }
+
+
+ static inline void ib_rdmacg_uncharge_ucontext(struct ib_ucontext *ucontext)
+ {
+ }

@@ @@
- void ib_rdmacg_uncharge(struct ib_rdmacg_object *cg_obj, struct ib_device *device, enum rdmacg_resource_type resource_index)
+ void ib_rdmacg_uncharge_uobject(struct ib_uobject *uobj)
  { }
+
+
+ static inline int ib_rdmacg_charge_uobject(struct ib_uobject *uobj)
+ {
+	return 0;
+ }
