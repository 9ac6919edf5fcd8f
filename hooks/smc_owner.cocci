// SPDX-License-Identifier: GPL-2.0
/// Keep who pays for what an SMC socket takes: workers do most of it later, when the process
/// that made the socket may be elsewhere. A worker makes the sockets that a listener accepts.
//
// Finds: smc_sk_init smc_init_saved_callbacks
// Expect: 1 +cg
// Expect: 1 +smc_rdmacg_init_sock
// Expect: 1 +smc_rdmacg_inherit
// Expect: 1 +smc_rdmacg_exit_sock

@@ @@
struct smc_sock {
	...
+	/*
+	 * Who pays, with a reference. An accepted socket gets it from its listener, before
+	 * anybody else can see it; set once otherwise.
+	 */
+	struct rdma_cgroup	*cg;
	struct smc_connection	conn;
	...
};

@ init @
identifier smc, sk;
@@
smc_sk_init(struct net *net, struct sock *sk, int protocol)
{
	...
	struct smc_sock *smc = smc_sk(sk);
+
+	smc_rdmacg_init_sock(smc);
	...
}

@ depends on init @
identifier sk;
@@
smc_destruct(struct sock *sk)
{
+	smc_rdmacg_exit_sock(smc_sk(sk));
	...
}

@ depends on init @
identifier lsmc, new_smc, new_sk;
@@
smc_clcsock_accept(struct smc_sock *lsmc, struct smc_sock **new_smc)
{
	<...
	*new_smc = smc_sk(new_sk);
+	smc_rdmacg_inherit(*new_smc, lsmc);
	...>
}

@ depends on init @
@@
 #include "smc_pnet.h"
+#include "smc_rdmacg.h"
