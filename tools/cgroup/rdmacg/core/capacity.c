// SPDX-License-Identifier: GPL-2.0
/*
 * rdmacg: the capacity of the devices, from rdma.capacity and rdma netlink, and the objects of
 * processes, from rdma netlink.
 */
#include <libmnl/libmnl.h>
#include <rdma/rdma_netlink.h>

#include "core/core.h"

struct capacity capacity;

/* Objects of one kind on a device, which one process has created; sorted by cgroup at the end. */
static struct owner {
	const struct pool *pool;	/* in capacity.pools */
	const char *key;
	pid_t pid;
	char *cgroup;			/* of the process; all owners of a process share it */
	uint64_t count;
} *owners;

static size_t nr_owners;

/* From enum rdma_nldev_attr, which is ABI. The header of Debian 12 does not have the number. */
#define NETLINK_ATTR_SUMMARY_MAX	118

/* An answer of the kernel has at most 16 KiB. */
#define NETLINK_BUFFER	32768

/* The commands that list objects. */
static const struct {
	const char *key;
	uint32_t get;
} netlink_kinds[] = {
	{ "hca_handle", RDMA_NLDEV_CMD_RES_CTX_GET },
	{ "pd", RDMA_NLDEV_CMD_RES_PD_GET },
	{ "cq", RDMA_NLDEV_CMD_RES_CQ_GET },
	{ "qp", RDMA_NLDEV_CMD_RES_QP_GET },
	{ "mr", RDMA_NLDEV_CMD_RES_MR_GET },
	{ "srq", RDMA_NLDEV_CMD_RES_SRQ_GET },
	{ "cm_id", RDMA_NLDEV_CMD_RES_CM_ID_GET },
};

/* Send @command for all devices or for @device, and pass each answer to @take. */
static bool netlink_ask(uint32_t command, const struct device *device, mnl_cb_t take, void *data)
{
	char *buffer __autofree = memory_zeroed(NETLINK_BUFFER, 1);
	struct mnl_socket *socket = mnl_socket_open(NETLINK_RDMA);
	struct nlmsghdr *header = mnl_nlmsg_put_header(buffer);
	int got = 1;

	if (!socket)
		return false;
	header->nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command);
	header->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_DUMP;
	if (device)
		mnl_attr_put_u32(header, RDMA_NLDEV_ATTR_DEV_INDEX, device->index);
	if (mnl_socket_bind(socket, 0, MNL_SOCKET_AUTOPID) < 0 ||
	    mnl_socket_sendto(socket, header, header->nlmsg_len) < 0)
		got = -1;
	while (got > 0) {
		got = mnl_socket_recvfrom(socket, buffer, NETLINK_BUFFER);
		if (got > 0)
			got = mnl_cb_run(buffer, got, 0, mnl_socket_get_portid(socket), take, data);
	}
	mnl_socket_close(socket);
	return !got;
}

static bool netlink_has(const struct nlattr *attr, uint16_t type, enum mnl_attr_data_type data)
{
	return mnl_attr_get_type(attr) == type && mnl_attr_validate(attr, data) >= 0;
}

/* Take one resource: its name, the number of objects, and the capacity. */
static void netlink_take_entry(const struct device *device, const struct nlattr *entry)
{
	uint64_t count = 0, most = NUMBER_MAX;
	const char *name = NULL;
	struct nlattr *attr;
	struct slot *slot;

	mnl_attr_for_each_nested(attr, entry) {
		if (netlink_has(attr, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME, MNL_TYPE_NUL_STRING))
			name = mnl_attr_get_str(attr);
		if (netlink_has(attr, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR, MNL_TYPE_U64))
			count = mnl_attr_get_u64(attr);
		if (netlink_has(attr, NETLINK_ATTR_SUMMARY_MAX, MNL_TYPE_U64))
			most = mnl_attr_get_u64(attr);
	}
	if (!name)
		return;
	/* Except "ctx", a resource has the same name in netlink and in the controller. */
	if (!strcmp(name, "ctx"))
		name = "hca_handle";
	if (!filter_has(&filter_devices, device->name) || !filter_has(&filter_keys, name))
		return;
	slot = pools_get_slot(&capacity.pools, device, name);
	slot->pool->device.index = device->index;
	slot->has |= POOL_BIT(POOL_MAX) | POOL_BIT(POOL_CURRENT);
	slot->usage = count;
	if (slot->max == NUMBER_MAX)
		slot->max = most;
}

static int netlink_take_device(const struct nlmsghdr *header, void *data)
{
	char *name __autofree = NULL;
	struct device device = { .has_index = true };
	const struct nlattr *summary = NULL;
	struct nlattr *attr, *entry;

	mnl_attr_for_each(attr, header, 0) {
		if (netlink_has(attr, RDMA_NLDEV_ATTR_DEV_INDEX, MNL_TYPE_U32))
			device.index = mnl_attr_get_u32(attr);
		if (netlink_has(attr, RDMA_NLDEV_ATTR_DEV_NAME, MNL_TYPE_NUL_STRING))
			name = device_escape(mnl_attr_get_str(attr));
		if (mnl_attr_get_type(attr) == RDMA_NLDEV_ATTR_RES_SUMMARY)
			summary = attr;
	}
	if (!summary || !name)
		return MNL_CB_OK;
	capacity.nr_devices++;
	/* rdma.capacity has no index for a unique name. */
	device.name = name;
	device.has_index = pools_find(&capacity.pools, &device);
	mnl_attr_for_each_nested(entry, summary)
		netlink_take_entry(&device, entry);
	return MNL_CB_OK;
}

static void owner_add(const struct slot *slot, pid_t pid)
{
	struct owner *last = nr_owners ? &owners[nr_owners - 1] : NULL;

	if (last && last->key == slot->key && last->pid == pid)
		last->count++;
	else
		*memory_append(owners, nr_owners) =
			(struct owner){ slot->pool, slot->key, pid, NULL, 1 };
}

static int netlink_count_objects(const struct nlmsghdr *header, void *data)
{
	struct nlattr *attr, *entry, *field;
	struct slot *slot = data;

	mnl_attr_for_each(attr, header, 0) {
		/* The only other attribute is the table of objects. */
		if (mnl_attr_get_type(attr) == RDMA_NLDEV_ATTR_DEV_INDEX ||
		    mnl_attr_get_type(attr) == RDMA_NLDEV_ATTR_DEV_NAME)
			continue;
		/* An object of a kernel user has the user's name, not a process's number. */
		mnl_attr_for_each_nested(entry, attr) {
			mnl_attr_for_each_nested(field, entry) {
				if (mnl_attr_get_type(field) == RDMA_NLDEV_ATTR_RES_KERN_NAME)
					slot->tally++;
				if (netlink_has(field, RDMA_NLDEV_ATTR_RES_PID, MNL_TYPE_U32))
					owner_add(slot, mnl_attr_get_u32(field));
			}
		}
	}
	return MNL_CB_OK;
}

static int owner_compare_pids(const void *a, const void *b)
{
	const struct owner *one = a, *other = b;

	return (one->pid > other->pid) - (one->pid < other->pid);
}

/* Compare so that the descendants of a cgroup directly follow it: a slash is before all bytes. */
static int owner_compare_names(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	if (*a && *b && (*a == '/' || *b == '/'))
		return *a == '/' ? -1 : 1;
	return (unsigned char)*a - (unsigned char)*b;
}

static int owner_compare(const void *a, const void *b)
{
	return owner_compare_names(((const struct owner *)a)->cgroup,
				   ((const struct owner *)b)->cgroup);
}

void capacity_count_owners(void)
{
	struct slot *slot = NULL;
	size_t i, kept = 0;

	if (capacity.is_counted)
		return;
	capacity.is_counted = true;
	while ((slot = pools_next(&capacity.pools, slot)))
		for (i = 0; i < ARRAY_SIZE(netlink_kinds); i++)
			if (slot->has & POOL_BIT(POOL_CURRENT) && slot->usage &&
			    !strcmp(slot->key, netlink_kinds[i].key))
				netlink_ask(netlink_kinds[i].get, &slot->pool->device,
					    netlink_count_objects, slot);
	if (nr_owners)
		qsort(owners, nr_owners, sizeof(*owners), owner_compare_pids);
	for (i = 0; i < nr_owners; i++) {
		bool is_known = kept && owners[kept - 1].pid == owners[i].pid;

		owners[i].cgroup = is_known ? owners[kept - 1].cgroup :
				   hierarchy_find_process(owners[i].pid);
		/* The process may have ended. */
		if (owners[i].cgroup)
			owners[kept++] = owners[i];
	}
	nr_owners = kept;
	if (nr_owners)
		qsort(owners, nr_owners, sizeof(*owners), owner_compare);
}

void capacity_add_owned(struct cgroup *cgroup)
{
	size_t low = 0, high, middle;
	struct slot *slot;

	capacity_count_owners();
	for (high = nr_owners; low < high; ) {
		middle = low + (high - low) / 2;
		if (owner_compare_names(owners[middle].cgroup, cgroup->name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < nr_owners && (!*cgroup->name ||
				   hierarchy_below(owners[low].cgroup, cgroup->name)); low++) {
		slot = pools_get_slot(&cgroup->pools, &owners[low].pool->device, owners[low].key);
		/* The controller counts contexts itself. */
		if (slot->class == POOL_HCA)
			continue;
		slot->class = POOL_NETLINK;
		slot->has |= POOL_BIT(POOL_CURRENT);
		slot->usage += owners[low].count;
	}
}

void capacity_read(void)
{
	pools_free(&capacity.pools);
	capacity.nr_devices = 0;
	capacity.has_file = !pools_read_file(&capacity.pools, hierarchy.dir, "rdma.capacity");
	/* Do not read the devices of this machine if a tree for tests has devices of its own. */
	if (!*hierarchy_path("RDMACG_ROOT", ""))
		capacity.has_netlink = netlink_ask(RDMA_NLDEV_CMD_RES_GET, NULL,
						   netlink_take_device, NULL);
}

uint64_t capacity_of(const struct device *device, const char *key)
{
	const struct slot *slot = pools_find_slot(&capacity.pools, device, key);

	return slot ? slot->max : NUMBER_MAX;
}
