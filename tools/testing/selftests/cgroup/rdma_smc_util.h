/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a test needs of SMC's netlink families: the user EID, without which Soft-RoCE is no
 * device for it, and what became of sockets.
 */
#ifndef RDMA_SMC_UTIL_H
#define RDMA_SMC_UTIL_H

#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/smc.h>
#include <linux/smc_diag.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef AF_SMC
#define AF_SMC 43
#endif

/* 32 characters, with blanks at the end. */
#define RDMACG_EID "RDMACG                          "

struct rdmacg_genl {
	struct nlmsghdr header;
	struct genlmsghdr genl;
	char attributes[128];
};

/* Add a string, with its NUL. */
static inline void rdmacg_add_string(struct rdmacg_genl *message, int type, const char *text)
{
	struct nlattr *attribute = (void *)message + NLMSG_ALIGN(message->header.nlmsg_len);

	attribute->nla_type = type;
	attribute->nla_len = NLA_HDRLEN + strlen(text) + 1;
	memcpy((char *)attribute + NLA_HDRLEN, text, strlen(text) + 1);
	message->header.nlmsg_len = NLMSG_ALIGN(message->header.nlmsg_len) +
				    NLA_ALIGN(attribute->nla_len);
}

/* Ask, and read one answer. Returns its length; -1: there is none. */
static inline ssize_t rdmacg_ask_genl(int family, int command, int type, const char *text,
				      char *answer, size_t size)
{
	struct rdmacg_genl message = {
		.header = {
			.nlmsg_len = NLMSG_LENGTH(GENL_HDRLEN),
			.nlmsg_type = family,
			.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK,
		},
		.genl = { .cmd = command, .version = 1 },
	};
	int fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_GENERIC);
	ssize_t length = -1;

	rdmacg_add_string(&message, type, text);
	if (send(fd, &message, message.header.nlmsg_len, 0) > 0)
		length = recv(fd, answer, size, 0);
	close(fd);
	return length;
}

/* The number of a family; 0: there is none. */
static inline int rdmacg_find_genl(const char *name)
{
	char answer[4096];
	ssize_t length = rdmacg_ask_genl(GENL_ID_CTRL, CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_NAME,
					 name, answer, sizeof(answer));
	struct nlmsghdr *header = (struct nlmsghdr *)answer;
	struct nlattr *attribute = NLMSG_DATA(header) + GENL_HDRLEN;

	if (length < 0 || header->nlmsg_type != GENL_ID_CTRL)
		return 0;
	for (; (char *)attribute < answer + length;
	     attribute = (void *)attribute + NLA_ALIGN(attribute->nla_len))
		if (attribute->nla_type == CTRL_ATTR_FAMILY_ID)
			return *(__u16 *)((char *)attribute + NLA_HDRLEN);
	return 0;
}

/* It may be there already. */
static inline bool rdmacg_add_eid(void)
{
	int family = rdmacg_find_genl(SMC_GENL_FAMILY_NAME);
	char answer[4096];

	return family && rdmacg_ask_genl(family, SMC_NETLINK_ADD_UEID, SMC_NLA_EID_TABLE_ENTRY,
					 RDMACG_EID, answer, sizeof(answer)) > 0;
}

/* What the kernel tells of SMC's sockets. */
struct rdmacg_smc_sockets {
	/* With a connection over RDMA. */
	int smcr;
	/* That fell back to TCP for this reason, or because the peer did so for it. */
	int fallbacks;
	int peer_fallbacks;
};

static inline void rdmacg_count_smc_socket(struct nlmsghdr *header, unsigned int reason,
					   struct rdmacg_smc_sockets *found)
{
	struct smc_diag_msg *message = NLMSG_DATA(header);
	struct nlattr *attribute = (void *)message + NLMSG_ALIGN(sizeof(*message));
	struct smc_diag_fallback *fallback;

	for (; (char *)attribute < (char *)header + header->nlmsg_len;
	     attribute = (void *)attribute + NLA_ALIGN(attribute->nla_len)) {
		if (attribute->nla_type == SMC_DIAG_LGRINFO &&
		    message->diag_mode == SMC_DIAG_MODE_SMCR)
			found->smcr++;
		if (attribute->nla_type != SMC_DIAG_FALLBACK ||
		    message->diag_mode != SMC_DIAG_MODE_FALLBACK_TCP)
			continue;
		fallback = (void *)attribute + NLA_HDRLEN;
		found->fallbacks += fallback->reason == reason;
		found->peer_fallbacks += fallback->peer_diagnosis == reason;
	}
}

/* Count the sockets; those that are closed soon go. */
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
