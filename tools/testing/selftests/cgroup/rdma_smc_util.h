/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Helpers for the netlink families of SMC. They add a user EID, without which SMC does not use
 * Soft-RoCE. They also read the devices of SMC and the state of sockets.
 */
#ifndef RDMA_SMC_UTIL_H
#define RDMA_SMC_UTIL_H

#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/smc.h>
#include <linux/smc_diag.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef AF_SMC
#define AF_SMC 43
#endif

/* A user EID. It has 32 characters, with blanks at the end. */
#define RDMACG_EID "RDMACG                          "

struct rdmacg_genl {
	struct nlmsghdr header;
	struct genlmsghdr genl;
	char attributes[128];
};

/* Find an attribute in @length bytes of attributes. Returns NULL if there is none. */
static inline void *rdmacg_find_attribute(void *attributes, ssize_t length, int type)
{
	struct nlattr *attribute = attributes;

	for (; length >= NLA_HDRLEN && attribute->nla_len >= NLA_HDRLEN;
	     length -= NLA_ALIGN(attribute->nla_len),
	     attribute = (void *)attribute + NLA_ALIGN(attribute->nla_len))
		if ((attribute->nla_type & NLA_TYPE_MASK) == type)
			return attribute;
	return NULL;
}

/* Find an attribute in @nest, which may be NULL. */
static inline void *rdmacg_find_nested(struct nlattr *nest, int type)
{
	return nest ? rdmacg_find_attribute((void *)nest + NLA_HDRLEN, nest->nla_len - NLA_HDRLEN,
					    type) : NULL;
}

/* Returns the value of an attribute. */
static inline void *rdmacg_attribute_data(struct nlattr *attribute)
{
	return (void *)attribute + NLA_HDRLEN;
}

/* Add a string attribute, including the NUL. */
static inline void rdmacg_add_string(struct rdmacg_genl *message, int type, const char *text)
{
	struct nlattr *attribute = (void *)message + NLMSG_ALIGN(message->header.nlmsg_len);

	attribute->nla_type = type;
	attribute->nla_len = NLA_HDRLEN + strlen(text) + 1;
	memcpy((char *)attribute + NLA_HDRLEN, text, strlen(text) + 1);
	message->header.nlmsg_len = NLMSG_ALIGN(message->header.nlmsg_len) +
				    NLA_ALIGN(attribute->nla_len);
}

/* Send a request. @text is NULL or a string attribute. Returns the length of the answer, or -1. */
static inline ssize_t rdmacg_ask_genl(int family, int command, int flags, int type,
				      const char *text, char *answer, size_t size)
{
	struct rdmacg_genl message = {
		.header = {
			.nlmsg_len = NLMSG_LENGTH(GENL_HDRLEN),
			.nlmsg_type = family,
			.nlmsg_flags = NLM_F_REQUEST | flags,
		},
		.genl = { .cmd = command, .version = 1 },
	};
	int fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_GENERIC);
	ssize_t length = -1;

	if (text)
		rdmacg_add_string(&message, type, text);
	if (send(fd, &message, message.header.nlmsg_len, 0) > 0)
		length = recv(fd, answer, size, 0);
	close(fd);
	return length;
}

/* These functions return the attributes of a generic netlink message, and their length. */
static inline void *rdmacg_genl_attributes(struct nlmsghdr *header)
{
	return NLMSG_DATA(header) + GENL_HDRLEN;
}

static inline ssize_t rdmacg_genl_length(struct nlmsghdr *header)
{
	return NLMSG_PAYLOAD(header, GENL_HDRLEN);
}

/* Returns the number of a family, or 0 if there is none. */
static inline int rdmacg_find_genl(const char *name)
{
	char answer[4096];
	struct nlmsghdr *header = (struct nlmsghdr *)answer;
	ssize_t length = rdmacg_ask_genl(GENL_ID_CTRL, CTRL_CMD_GETFAMILY, NLM_F_ACK,
					 CTRL_ATTR_FAMILY_NAME, name, answer, sizeof(answer));
	struct nlattr *id;

	if (length < 0 || header->nlmsg_type != GENL_ID_CTRL)
		return 0;
	id = rdmacg_find_attribute(rdmacg_genl_attributes(header), rdmacg_genl_length(header),
				   CTRL_ATTR_FAMILY_ID);
	return id ? *(__u16 *)rdmacg_attribute_data(id) : 0;
}

/* Add the user EID, unless it already exists. */
static inline bool rdmacg_add_eid(void)
{
	int family = rdmacg_find_genl(SMC_GENL_FAMILY_NAME);
	char answer[4096];

	return family && rdmacg_ask_genl(family, SMC_NETLINK_ADD_UEID, NLM_F_ACK,
					 SMC_NLA_EID_TABLE_ENTRY, RDMACG_EID, answer,
					 sizeof(answer)) > 0;
}

/* Returns whether the message describes @device with a port that SMC would use. */
static inline bool rdmacg_is_active_port(struct nlmsghdr *header, const char *device)
{
	struct nlattr *nest = rdmacg_find_attribute(rdmacg_genl_attributes(header),
						    rdmacg_genl_length(header), SMC_GEN_DEV_SMCR);
	struct nlattr *name = rdmacg_find_nested(nest, SMC_NLA_DEV_IB_NAME);
	struct nlattr *port = rdmacg_find_nested(nest, SMC_NLA_DEV_PORT);
	struct nlattr *state = rdmacg_find_nested(port, SMC_NLA_DEV_PORT_STATE);

	return name && !strcmp(rdmacg_attribute_data(name), device) && state &&
	       *(__u8 *)rdmacg_attribute_data(state);
}

/*
 * Returns whether SMC can already use a port of the device. A worker of SMC finds ports with a
 * delay.
 */
static inline bool rdmacg_smc_sees(const char *device)
{
	int family = rdmacg_find_genl(SMC_GENL_FAMILY_NAME);
	char answer[32768];
	struct nlmsghdr *header = (struct nlmsghdr *)answer;
	ssize_t length = rdmacg_ask_genl(family, SMC_NETLINK_GET_DEV_SMCR, NLM_F_DUMP, 0, NULL,
					 answer, sizeof(answer));

	for (; length > 0 && NLMSG_OK(header, length); header = NLMSG_NEXT(header, length))
		if (header->nlmsg_type == family && rdmacg_is_active_port(header, device))
			return true;
	return false;
}

/* The numbers of SMC's sockets, as the kernel reports them. */
struct rdmacg_smc_sockets {
	/* Sockets with a connection over RDMA. */
	int smcr;
	/*
	 * Sockets that use TCP for the given reason, and sockets whose peer reported this reason.
	 */
	int fallbacks;
	int peer_fallbacks;
};

static inline void rdmacg_count_smc_socket(struct nlmsghdr *header, unsigned int reason,
					   struct rdmacg_smc_sockets *found)
{
	struct smc_diag_msg *message = NLMSG_DATA(header);
	void *attributes = (void *)message + NLMSG_ALIGN(sizeof(*message));
	ssize_t length = NLMSG_PAYLOAD(header, sizeof(*message));
	struct smc_diag_fallback *fallback;
	struct nlattr *attribute;

	if (message->diag_mode == SMC_DIAG_MODE_SMCR)
		found->smcr += !!rdmacg_find_attribute(attributes, length, SMC_DIAG_LGRINFO);
	attribute = rdmacg_find_attribute(attributes, length, SMC_DIAG_FALLBACK);
	if (!attribute || message->diag_mode != SMC_DIAG_MODE_FALLBACK_TCP)
		return;
	fallback = rdmacg_attribute_data(attribute);
	found->fallbacks += fallback->reason == reason;
	found->peer_fallbacks += fallback->peer_diagnosis == reason;
}

/* Count the sockets. The kernel still reports a socket for a moment after it is closed. */
static inline struct rdmacg_smc_sockets rdmacg_smc_sockets(unsigned int reason)
{
	struct {
		struct nlmsghdr header;
		struct smc_diag_req request;
	} message = {
		.header = {
			.nlmsg_len = sizeof(message),
			.nlmsg_type = SOCK_DIAG_BY_FAMILY,
			.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
		},
		.request = {
			.diag_family = AF_SMC,
			.diag_ext = 1 << (SMC_DIAG_LGRINFO - 1) | 1 << (SMC_DIAG_FALLBACK - 1),
		},
	};
	int fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_SOCK_DIAG);
	struct rdmacg_smc_sockets found = { };
	struct nlmsghdr *header;
	char answer[32768];
	ssize_t length;
	int left = 1;

	send(fd, &message, sizeof(message), 0);
	while (left && (length = recv(fd, answer, sizeof(answer), 0)) > 0) {
		for (header = (void *)answer; NLMSG_OK(header, length);
		     header = NLMSG_NEXT(header, length)) {
			left = header->nlmsg_type == SOCK_DIAG_BY_FAMILY;
			if (!left)
				break;
			rdmacg_count_smc_socket(header, reason, &found);
		}
	}
	close(fd);
	return found;
}

#endif /* RDMA_SMC_UTIL_H */
