// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parameters, by the names that they have in Lustre, and the sizes that follow from them,
 * as in Lustre 2.15 and later; "rdmacg plan lnet" computes the same. What is changed in
 * /sys/module/rdmacg_lnd/parameters holds for NIs that are made afterwards.
 */
#include <linux/cpumask.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/nodemask.h>

#include "lnd.h"

#define LND_MIN_CREDITS	8
#define LND_MAX_CREDITS	255
#define LND_MAX_CONNS	127
#define LND_MIN_POOL	256

static unsigned int credits = 256;
module_param(credits, uint, 0644);
MODULE_PARM_DESC(credits, "most peer_credits (256)");

static unsigned int peer_credits = 8;
module_param(peer_credits, uint, 0644);
MODULE_PARM_DESC(peer_credits, "transfers that a connection may have under way, 8 to 255 (8)");

static unsigned int concurrent_sends;
module_param(concurrent_sends, uint, 0644);
MODULE_PARM_DESC(concurrent_sends, "messages that a connection may have posted (0: peer_credits)");

static unsigned int conns_per_peer = 1;
module_param(conns_per_peer, uint, 0644);
MODULE_PARM_DESC(conns_per_peer, "connections to a peer, 1 to 127 (1)");

static unsigned int map_on_demand = 1;
module_param(map_on_demand, uint, 0644);
MODULE_PARM_DESC(map_on_demand, "taken for the sake of Lustre's profiles; without effect, as there");

static unsigned int ntx = 512;
module_param(ntx, uint, 0644);
MODULE_PARM_DESC(ntx, "transfers that an NI may have under way (512)");

static unsigned int fmr_pool_size = 512;
module_param(fmr_pool_size, uint, 0644);
MODULE_PARM_DESC(fmr_pool_size, "memory regions that an NI begins with, ntx / 4 or more (512)");

static unsigned int cpu_npartitions;
module_param(cpu_npartitions, uint, 0644);
MODULE_PARM_DESC(cpu_npartitions, "parts that pools are kept for (0: one for each NUMA node)");

/* These two are constants in Lustre: the former differs between releases, 256 up to 2.14. */
static unsigned int max_frags = LND_MAX_FRAGS;
module_param(max_frags, uint, 0644);
MODULE_PARM_DESC(max_frags, "fragments that a transfer may have, 1 to 257 (257)");

static unsigned int pool_deadline = 300;
module_param(pool_deadline, uint, 0644);
MODULE_PARM_DESC(pool_deadline, "seconds after which an idle pool goes that is not the first (300)");

/* How many of @total each part gets. */
static unsigned int lnd_share(unsigned int total, unsigned int cpts)
{
	return max(LND_MIN_POOL, total / cpts);
}

/**
 * lnd_param_take() - keep the parameters as they are now, within their bounds
 * @param: what gets them
 *
 * Return: 0, or -EINVAL for pools that are too small for the transfers.
 */
int lnd_param_take(struct lnd_param *param)
{
	unsigned int mrs = READ_ONCE(fmr_pool_size) ?: 512;
	unsigned int txs = READ_ONCE(ntx);
	unsigned int sends = READ_ONCE(concurrent_sends);

	if (mrs < txs / 4)
		return -EINVAL;
	param->depth = clamp(READ_ONCE(peer_credits), LND_MIN_CREDITS, LND_MAX_CREDITS);
	param->depth = max(1, min(param->depth, READ_ONCE(credits)));
	param->sends = clamp(sends ?: param->depth, max(1, param->depth / 2), 2 * param->depth);
	param->frags = clamp(READ_ONCE(max_frags), 1, LND_MAX_FRAGS);
	param->conns = clamp(READ_ONCE(conns_per_peer), 1, LND_MAX_CONNS);
	param->cpts = clamp(READ_ONCE(cpu_npartitions) ?: num_online_nodes(),
			    1, num_online_cpus());
	param->mrs = lnd_share(mrs, param->cpts);
	param->txs = lnd_share(txs, param->cpts);
	return 0;
}

/* In jiffies. */
unsigned long lnd_pool_deadline(void)
{
	return READ_ONCE(pool_deadline) * HZ;
}

/* Each transfer may need its message, its fragments and what goes with a registration. */
unsigned int lnd_send_wrs(unsigned int depth, unsigned int frags)
{
	return depth * (1 + frags + LND_FR_WRS);
}

/* As many requests of the other end as answers to ours, and what needs no credit. */
unsigned int lnd_recv_wrs(unsigned int depth)
{
	return 2 * depth + LND_OOB_MSGS;
}

/**
 * lnd_fit_depth() - cut a depth to what the device's queue pairs take
 * @device: the device
 * @depth: the depth that is wanted
 * @frags: fragments of a transfer
 *
 * Return: the depth, or 0 where not even one transfer fits.
 */
unsigned int lnd_fit_depth(const struct ib_device *device, unsigned int depth,
			   unsigned int frags)
{
	return min(depth, device->attrs.max_qp_wr / lnd_send_wrs(1, frags));
}
