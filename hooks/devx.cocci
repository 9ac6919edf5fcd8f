// SPDX-License-Identifier: GPL-2.0
/// Let the controller know what objects of mlx5's DevX count as: cgroup.c of mlx5 says so.
//
// Finds: mlx5_ib_defs
// Expect: 1 +ib_rdmacg_set_object_defs

@ defs @
identifier dev;
@@
mlx5_ib_stage_caps_init(struct mlx5_ib_dev *dev)
{
	<...
+	ib_rdmacg_set_object_defs(&dev->ib_dev, mlx5_ib_object_defs);
	if (IS_ENABLED(CONFIG_INFINIBAND_USER_ACCESS))
		dev->ib_dev.driver_def = mlx5_ib_defs;
	...>
}

@ depends on defs @
@@
 #include "mlx5_ib.h"
+#include "cgroup.h"
