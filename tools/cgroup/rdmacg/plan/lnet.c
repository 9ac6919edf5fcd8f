// SPDX-License-Identifier: GPL-2.0
/*
 * rdmacg plan lnet: the objects of Lustre's o2iblnd on a device in each release, and the sizes on
 * which two nodes agree. o2iblnd is a kernel user, so no cgroup is charged for its objects. The
 * output has no limits, but the objects to subtract from the capacity before the device is shared.
 *
 * Formulas: lnet/klnds/o2iblnd/ of lustre-release, tags 2.11.0 to 2.17.0 and master at
 * c881f8ebcb; each source names the function. The names in formulas: qd is the queue depth, F is
 * the number of fragments, and W is the device's max_qp_wr.
 */
#include "plan/plan.h"

#define LNET_SETUP	"o2iblnd_modparams.c, kiblnd_tunables_setup()"
#define LNET_CONN	"o2iblnd.c, kiblnd_create_conn()"
#define LNET_SEND	"o2iblnd.c, kiblnd_send_wrs() (LU-10213); a transfer has 2 requests for FastReg"
#define LNET_CQ		"o2iblnd.h, IBLND_CQ_ENTRIES"

/* One node: its parameters and other inputs, and the sizes that follow from them. */
struct lnet_side {
	const char *name;
	__int128 peer_credits, credits, conns_per_peer;
	__int128 map_on_demand;		/* has no effect; -1: not given */
	__int128 ntx, fmr_pool_size;
	__int128 peers, cpts;
	__int128 max_qp_wr, max_cqe;	/* 0 if they are not given */
	__int128 self;
	unsigned int release;		/* the N of Lustre 2.N */
	/* Set by lnet_setup(). */
	uint64_t own_depth, own_frags;
	uint64_t wanted, asked;	/* the depth of its connection before and after it is reduced */
	uint64_t ask_frags;
	uint64_t depth, frags, send_wr;	/* the node's largest connection so far */
};

/* The first inputs are the parameters of the module. */
#define LNET_NR_PARAMETERS	6

/* The releases whose source was read. */
#define LNET_OLDEST	11
#define LNET_NEWEST	17

#define LNET_DEFAULTS \
	.peer_credits = 8, .credits = 256, .conns_per_peer = 1, .map_on_demand = -1, \
	.ntx = 512, .fmr_pool_size = 512, .peers = 1, .cpts = 1, .self = 1, .release = LNET_NEWEST

/* This node, whose numbers are the inputs of the form, and the other end. */
static struct lnet_side lnet_near = { .name = "this node", LNET_DEFAULTS };
static struct lnet_side lnet_far = { .name = "the other end", LNET_DEFAULTS };
static const char *lnet_release;
static struct plan_texts lnet_remote;

#define LNET_PARAMETER(name, parameter, least, most, is) \
	{ name, &lnet_near.parameter, least, most, "module parameter " #parameter " (" is ")" }

static struct plan_input lnet_inputs[] = {
	LNET_PARAMETER("peer-credits", peer_credits, 0, INT32_MAX, "8"),
	LNET_PARAMETER("credits", credits, 1, INT32_MAX, "256"),
	LNET_PARAMETER("conns-per-peer", conns_per_peer, 0, 127, "1"),
	LNET_PARAMETER("map-on-demand", map_on_demand, 0, INT32_MAX, "changes no size"),
	LNET_PARAMETER("ntx", ntx, 0, INT32_MAX, "512"),
	LNET_PARAMETER("fmr-pool-size", fmr_pool_size, 0, INT32_MAX, "512"),
	/* Other inputs, from LNET_NR_PARAMETERS on. */
	{ "peers", &lnet_near.peers, 1, PLAN_MOST,
	  "peers of the node's interface", .is_needed = true },
	{ "cpts", &lnet_near.cpts, 1, 4096, "CPTs of the interface (1)" },
	{ "self", &lnet_near.self, 0, 1,
	  "1 if the node also connects to itself, as its recovery does (1)" },
	{ "max-qp-wr", &lnet_near.max_qp_wr, 1, INT32_MAX, "max_qp_wr of the device (enough)" },
	{ "max-cqe", &lnet_near.max_cqe, 1, INT32_MAX, "max_cqe of the device (enough)" },
	{ "release", .text = &lnet_release, .arg = "2.N", .doc = "release of Lustre (2.17)" },
	{ "remote", .texts = &lnet_remote, .arg = "KEY=VALUE[,KEY=VALUE...]",
	  .doc =
	  "parameters of the other end, with the names of these options, to plan for both ends" },
	{ 0 }
};

/* No size depends on these parameters of o2iblnd_modparams.c in 2.11 to 2.17. */
#define LNET_IDLE "cksum concurrent_sends dev_failover dyndbg fmr_cache fmr_flush_trigger ib_mtu ipif_name keepalive nscheds peer_buffer_credits peer_credits_hiw peer_timeout pmr_pool_size require_privileged_port retry_count rnr_retry_count service timeout tos use_fastreg_gaps use_privileged_port wrq_sge"

static unsigned int lnet_parse_release(const char *text)
{
	uint64_t minor = 0;
	int end;

	/* sscanf() would accept a blank or a sign. */
	if (sscanf(text, "2.%" SCNu64 "%n", &minor, &end) != 1 || !isdigit(text[2]) || !minor ||
	    !strchr(".", text[end]))
		options_fail(text, "is not a release of Lustre; write a release such as 2.15");
	if (minor < LNET_OLDEST || minor > LNET_NEWEST)
		options_fail(text, "is unknown; the sources that were read are 2.%d to 2.%d",
			     LNET_OLDEST, LNET_NEWEST);
	return minor;
}

/*
 * Set an input of a side. Skip a parameter without effect, because files may have such parameters.
 * Only the other end has inputs besides the module's parameters. @where is an option or a place.
 */
static bool lnet_set(struct lnet_side *side, const char *where, const char *name, const char *value)
{
	char *place __autofree = NULL;
	const struct plan_input *input = plan_find_input(name);
	bool is_far = side == &lnet_far;
	uint64_t number;

	if (hierarchy_has_word(LNET_IDLE, name))
		return true;
	if (!input || !input->to || (!is_far && input >= lnet_inputs + LNET_NR_PARAMETERS))
		return false;
	place = memory_format("%s: %s=%s", where, input->name, value);
	/* For the kernel, 010 is 8, and it knows no units. */
	if (!is_far && (!*value || value[strspn(value, "0123456789")] ||
			(*value == '0' && value[1])))
		options_fail(place, "write a decimal number without a unit");
	number = plan_parse_number(place, value, input->min, max(input->max, 1));
	/* The inputs are those of this node. An option replaces its parameters. */
	if (is_far)
		*(input->to - &lnet_near.peer_credits + &lnet_far.peer_credits) = number;
	else if (!input->is_given)
		*input->to = number;
	return true;
}

/* Set the parameters of --remote or, up to a comment, of a line of modprobe.d. */
static void lnet_set_parameters(struct lnet_side *side, const char *where, const char *text)
{
	char *line __autofree = memory_string(text);
	bool is_far = side == &lnet_far;
	char *rest = line, *word, *value, *dash;

	while ((word = strtok_r(NULL, is_far ? ", " : " \t\r", &rest)) && *word != '#') {
		word += strspn(word, "\"");
		value = strchr(word, '=');
		if (!value)
			options_fail(where, "%s: a parameter is KEY=VALUE", word);
		*value++ = '\0';
		while ((dash = strchr(word, '-')))
			*dash = '_';
		value += strspn(value, "\"");
		value[strcspn(value, "\"")] = '\0';
		if (is_far && !strcmp(word, "release"))
			lnet_far.release = lnet_parse_release(value);
		else if (!lnet_set(side, where, word, value))
			options_fail(where, "%s: there is no such parameter", word);
	}
}

/* Set the parameters of a line. Returns whether the line has options for the module. */
static bool lnet_set_line(const char *where, const char *line)
{
	char module[16];
	int end;

	if (sscanf(line, " options %15s%n", module, &end) != 1 || strcmp(module, "ko2iblnd"))
		return false;
	lnet_set_parameters(&lnet_near, where, line + end);
	return true;
}

static void lnet_set_file(const char *path)
{
	char *whole __autofree = file_read(AT_FDCWD, path);
	char *text = whole, *line;
	bool has_any = false;
	size_t number;

	if (!text)
		options_fail(path,
			     "%s; give a file of modprobe.d, or options ko2iblnd KEY=VALUE...",
			     strerror(errno));
	for (number = 1; (line = file_next_line(&text)); number++) {
		char *where __autofree = memory_format("%s:%zu", path, number);

		has_any |= lnet_set_line(where, line);
	}
	if (!has_any)
		options_fail(path, "has no line 'options ko2iblnd ...'");
}

/* Set parameters of files, of "options ko2iblnd KEY=VALUE...", or of KEY=VALUE... */
static void lnet_set_words(void)
{
	char *line __autofree = NULL, **word;

	for (word = plan.words; *word; word++) {
		if (!line && !strchr(*word, '=') && strcmp(*word, "options"))
			lnet_set_file(*word);
		else
			memory_extend(&line, "%s ", *word);
	}
	if (line && strncmp(line, "options", strlen("options")))
		lnet_set_parameters(&lnet_near, "options", line);
	else if (line && !lnet_set_line("options", line))
		options_fail("options", "write 'options ko2iblnd KEY=VALUE...'");
}

/* The numbers of the end that is being added, as the formulas name them. */
static __int128 qd, F, W, queue_depth, send_wr, recv_wr, rx_bytes;

/* Apply the parameters as o2iblnd does. Must be the first call for a side. */
static void lnet_setup(struct lnet_side *side)
{
	PLAN_NAME(peer_credits, side->peer_credits);
	PLAN_NAME(credits, side->credits);

	if (side->fmr_pool_size < side->ntx / 4)
		say_failure(plan.form->name,
			    "%s: the interface does not start, for fmr_pool_size=%s is less than a quarter of ntx=%s (kiblnd_net_init_pools()); raise fmr_pool_size",
			    side->name, plan_text(side->fmr_pool_size), plan_text(side->ntx));
	/* The largest value is 255, because peer_credits is u8 on the wire. */
	PLAN_SET(STEP, qd, min(min(max(peer_credits, 8), 255), credits), LNET_SETUP);
	if (qd != peer_credits)
		plan_notice("peer_credits=%s becomes %s: it must be 8 to 255, and at most credits.",
			    plan_text(peer_credits), plan_text(qd));
	if (side->release >= 15)
		PLAN_SET(STEP, F, 257, "2.15 on: o2iblnd.h, IBLND_MAX_RDMA_FRAGS (LU-15092)");
	else
		PLAN_SET(STEP, F, 256, "up to 2.14: o2iblnd.h, IBLND_MAX_RDMA_FRAGS");
	side->own_depth = qd;
	side->own_frags = F;
	if (side->map_on_demand >= 0)
		plan_notice("map_on_demand changes no size since 2.11.");
}

/* Reduce @depth to a depth that the device supports, or to 0 if it cannot create the QP. */
static uint64_t lnet_reduce(const struct lnet_side *side, uint64_t frags, uint64_t depth)
{
	return side->max_qp_wr ? min(depth, side->max_qp_wr / (1 + frags + 2)) : depth;
}

/* o2iblnd creates the CQ before the QP, so its size is for the queues before they are reduced. */
static void lnet_add_cqe(const struct lnet_side *side)
{
	__int128 cqe;

	if (side->release == 12)
		cqe = PLAN_OF_KEY(FIGURE, "cqe", 2 * qd + 2 + 2 * qd,
				  "2.12: " LNET_CQ " (LU-9810)");
	else if (side->release >= 13 && W)
		/* C does not define whether the receive queue shrinks first, so count all of it. */
		cqe = PLAN_OF_KEY(FIGURE, "cqe", 2 * qd + 2 + min((1 + F + 2) * qd, W),
				  "2.13 on: " LNET_CQ);
	else
		cqe = PLAN_OF_KEY(FIGURE, "cqe", 2 * qd + 2 + (1 + F + 2) * qd,
				  "2.11 and from 2.13 on: " LNET_CQ);
	if (side->max_cqe && cqe > side->max_cqe)
		say_failure(plan.form->name,
			    "%s: a CQ needs %s entries, and the device has at most max_cqe=%s, so no connection is possible; lower peer_credits",
			    side->name, plan_text(cqe), plan_text(side->max_cqe));
}

/* Add the queues that @side creates for a connection with @depth and @frags. */
static void lnet_add_end(struct lnet_side *side, uint64_t depth, uint64_t frags)
{
	PLAN_SET(NAME, qd, depth, NULL);
	PLAN_SET(NAME, F, frags, NULL);
	PLAN_SET(NAME, W, side->max_qp_wr, NULL);
	if (!lnet_reduce(side, frags, depth))
		say_failure(plan.form->name,
			    "%s: max_qp_wr=%s is too small for any connection; the device cannot be used",
			    side->name, plan_text(W));
	if (W)
		PLAN_SET(FIGURE, queue_depth, min(qd, W / (1 + F + 2)),
			 "2.13 on: o2iblnd.c, kiblnd_send_wrs() (LU-12279); in 2.11 and 2.12, one less until the device creates the QP");
	else
		PLAN_SET(FIGURE, queue_depth, qd, LNET_CONN);
	PLAN_SET(FIGURE, send_wr, (1 + F + 2) * queue_depth, LNET_SEND);
	lnet_add_cqe(side);
	PLAN_SET(FIGURE, recv_wr, 2 * queue_depth + 2, "o2iblnd.h, IBLND_RECV_WRS, protocol 2");
	PLAN_SET(FIGURE, rx_bytes, (2 * qd + 2) * 4096, "o2iblnd.h, IBLND_RX_MSG_BYTES");
	if (send_wr > side->send_wr) {
		side->depth = depth;
		side->frags = frags;
		side->send_wr = send_wr;
	}
}

/* Add all objects of a node, with @conns connections of the last lnet_add_end() for each peer. */
static void lnet_add_node(const struct lnet_side *side, uint64_t conns)
{
	PLAN_NAME(peers, side->peers);
	PLAN_NAME(self, side->self);
	PLAN_NAME(conns_per_peer, conns);
	PLAN_NAME(ntx, side->ntx);
	PLAN_NAME(cpts, side->cpts);
	PLAN_NAME(fmr_pool_size, side->fmr_pool_size);

	PLAN_FIGURE(connections, (peers + 2 * self) * max(conns_per_peer, 1),
		    "o2iblnd_cb.c, kiblnd_launch_tx(): the active side's conns_per_peer, on both ends; the node pings its own NID, and has both ends");
	PLAN_FIGURE(pd, 1, "for an interface: o2iblnd.c, kiblnd_dev_failover()");
	PLAN_FIGURE(qp, connections, "1 RC QP without an SRQ: " LNET_CONN);
	PLAN_FIGURE(cq, connections, "1 CQ for both directions: " LNET_CONN);
	PLAN_FIGURE(mr, cpts * max(256, fmr_pool_size / cpts),
		    "at start: o2iblnd.c, kiblnd_init_fmr_poolset(), kiblnd_fmr_pool_size()");
	plan_notice("An empty pool grows by another %s MRs on its CPT, without an upper bound.",
		    plan_text(mr / cpts));
	plan_notice("No cgroup is charged for a kernel user. Subtract these objects before the device is shared, with");
	plan_notice("rdmacg plan share DEVICE --kernel pd=1,qp=%s,cq=%s,mr=%s --among CGROUP...",
		    plan_text(qp), plan_text(cq), plan_text(mr));
	PLAN_FIGURE(objects, pd + mr + qp + cq, "the sum; o2iblnd creates no AH, SRQ or MW");
	PLAN_FIGURE(wrs, qp * (send_wr + recv_wr), "the sum of all send and receive queues");
	PLAN_FIGURE(cm_id, 1 + connections,
		    "1 to listen: kiblnd_dev_failover(); 1 for each connection: kiblnd_connect_peer()");
	PLAN_FIGURE(rx_memory, connections * rx_bytes, "o2iblnd.h, IBLND_RX_MSG_BYTES");
	PLAN_FIGURE(tx_memory, cpts * max(256, ntx / cpts) * 4096,
		    "o2iblnd.c, kiblnd_tx_pool_size(); messages of 4 KiB: o2iblnd.h, IBLND_MSG_SIZE");
}

/*
 * Let @active connect as in o2iblnd_cb.c, and return the depth on which they agree, or 0. The
 * active node creates its QP before it sends a request. The passive node accepts numbers up to its
 * own, and answers a larger number with its own: kiblnd_passive_connect(). The active node may then
 * try again: kiblnd_check_reconnect(). The limits of the passive node's device do not count before
 * that. The loop ends, because each number is rejected at most once.
 */
static uint64_t lnet_ask(struct lnet_side *active, const struct lnet_side *passive)
{
	uint64_t depth = passive->own_depth, frags = passive->own_frags, agreed;

	active->wanted = active->own_depth;
	active->ask_frags = active->own_frags;
	while ((active->asked = lnet_reduce(active, active->ask_frags, active->wanted))) {
		plan_notice("%s asks for a depth of %s and %s fragments.", active->name,
			    plan_text(active->asked), plan_text(active->ask_frags));
		if (active->asked <= depth && active->ask_frags <= frags) {
			agreed = lnet_reduce(passive, active->ask_frags, active->asked);
			if (!agreed)
				plan_notice("%s rejects the request: NO_RESOURCES (2), its device cannot create this QP. There is no second attempt.",
					    passive->name);
			return agreed;
		}
		if (active->asked > depth) {
			plan_notice("%s rejects the request: MSG_QUEUE_SIZE (7), its depth is %s.",
				    passive->name, plan_text(depth));
			active->wanted = depth;
		} else {
			plan_notice("%s rejects the request: RDMA_FRAGS (6), it wants %s fragments.",
				    passive->name, plan_text(frags));
			active->ask_frags = frags;
		}
		plan_notice("%s tries again if it still has messages to send.", active->name);
	}
	plan_notice("%s cannot create its QP for %s fragments on its device: ENOMEM.",
		    active->name, plan_text(active->ask_frags));
	return 0;
}

/* Plan for a connection that @active requests, and for its two ends. */
static void lnet_plan_link(struct lnet_side *active, struct lnet_side *passive)
{
	uint64_t depth, frags;

	plan_add_part(memory_format("%s connects", active->name));
	depth = lnet_ask(active, passive);
	frags = active->ask_frags;
	if (!depth) {
		plan_notice("The nodes do not connect in this direction.");
		return;
	}
	plan_notice("%s accepts: both use a depth of %s and %s fragments.", passive->name,
		    plan_text(depth), plan_text(frags));
	plan_add_part(memory_format("%s connects: its end", active->name));
	lnet_add_end(active, active->wanted, frags);
	plan_add_part(memory_format("%s connects: %s's end", active->name, passive->name));
	lnet_add_end(passive, active->asked, frags);
}

static void lnet_plan_pair(struct lnet_side *near, struct lnet_side *far)
{
	/* The active node determines the number of connections, and each node can be active. */
	struct lnet_side *sides[] = { near, far };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sides); i++) {
		plan_add_part(memory_format("%s, Lustre 2.%u", sides[i]->name, sides[i]->release));
		lnet_setup(sides[i]);
	}
	lnet_plan_link(near, far);
	lnet_plan_link(far, near);
	/* If one node has created no queue, the other has created none either. */
	if (!near->send_wr)
		plan.failure =
			"the nodes cannot connect, as the plan says; give them equal parameters";
	/* Plan as if the connections of both directions had the larger size. */
	for (i = 0; i < ARRAY_SIZE(sides) && near->send_wr; i++) {
		plan_add_part(memory_format("All objects of %s, peers: %s", sides[i]->name,
					    plan_text(sides[i]->peers)));
		lnet_add_end(sides[i], sides[i]->depth, sides[i]->frags);
		lnet_add_node(sides[i], max(near->conns_per_peer, far->conns_per_peer));
	}
}

static void lnet_add(void)
{
	struct lnet_side *near = &lnet_near;
	size_t i;

	if (lnet_release)
		near->release = lnet_parse_release(lnet_release);
	lnet_set_words();
	for (i = 0; i < lnet_remote.count; i++)
		lnet_set_parameters(&lnet_far, "--remote", lnet_remote.text[i]);
	if (lnet_remote.count) {
		lnet_plan_pair(near, &lnet_far);
		return;
	}
	/* Without --remote, connections have the sizes that the node itself would choose. */
	plan_add_part(memory_format("One connection of Lustre 2.%u", near->release));
	lnet_setup(near);
	lnet_add_end(near, near->own_depth, near->own_frags);
	plan_add_part(memory_format("All objects of the node, peers: %s", plan_text(near->peers)));
	lnet_add_node(near, near->conns_per_peer);
}

const struct plan_form lnet_form = {
	.name = "plan lnet",
	.example = "rdmacg plan lnet --peers 100 /etc/modprobe.d/ko2iblnd.conf",
	.doc =
	"Print the objects of Lustre's o2iblnd on a device. They are not charged to a cgroup. The module's parameters are options, a line of /etc/modprobe.d, or a FILE of such lines; - is standard input.",
	.read = "Lustre 2.11.0 to 2.17.0, lnet/klnds/o2iblnd; a model of it was run",
	.args_doc = "[FILE...]\noptions ko2iblnd KEY=VALUE...",
	.inputs = lnet_inputs, .add = lnet_add,
};
