// SPDX-License-Identifier: GPL-2.0-only
/*
 * The memory of transfers: what the other end writes into, for as long as a transfer is under
 * way, and the messages, which the NI has from the beginning.
 */
#include <linux/dma-mapping.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "lnd.h"

/* What each byte of the source is, and of a transfer once it is filled. */
#define LND_PATTERN	0x5a

/* Where memory is short, transfers can wait for others, and nobody is to be killed for them. */
#define LND_GFP		(GFP_KERNEL_ACCOUNT | __GFP_NORETRY | __GFP_NOWARN)

static int lnd_tx_alloc_pages(struct lnd_tx *tx, unsigned int bytes)
{
	struct scatterlist *sg;
	struct page *page;
	unsigned int i;
	int ret;

	ret = sg_alloc_table(&tx->sgt, DIV_ROUND_UP(bytes, PAGE_SIZE), LND_GFP);
	if (ret)
		return ret;
	for_each_sgtable_sg(&tx->sgt, sg, i) {
		page = alloc_page(LND_GFP | __GFP_ZERO);
		if (!page)
			return -ENOMEM;
		sg_set_page(sg, page, min(bytes, PAGE_SIZE), 0);
		bytes -= sg->length;
	}
	return 0;
}

static void lnd_tx_free_pages(struct lnd_tx *tx)
{
	struct scatterlist *sg;
	unsigned int i;

	/* A table that was freed, or could not be made whole, has a length and no entries. */
	if (!tx->sgt.sgl)
		return;
	for_each_sgtable_sg(&tx->sgt, sg, i)
		if (sg_page(sg))
			__free_page(sg_page(sg));
	sg_free_table(&tx->sgt);
}

static int lnd_tx_map_mr(struct lnd_ni *ni, struct lnd_tx *tx)
{
	struct ib_mr *mr = tx->mr->mr;
	int ret = ib_map_mr_sg(mr, tx->sgt.sgl, tx->sgt.nents, NULL, PAGE_SIZE);

	if (ret != tx->sgt.nents)
		return ret < 0 ? ret : -EINVAL;
	ib_update_fast_reg_key(mr, ib_inc_rkey(mr->rkey));
	tx->msg->addr = cpu_to_le64(mr->iova);
	tx->msg->rkey = cpu_to_le32(mr->rkey);
	tx->msg->bytes = cpu_to_le32(ni->bytes);
	return 0;
}

/**
 * lnd_tx_unmap() - let the processor look at what the other end has written
 * @ni: an NI
 * @tx: a transfer that is mapped, and that the device does not write to any more
 */
void lnd_tx_unmap(struct lnd_ni *ni, struct lnd_tx *tx)
{
	ib_dma_unmap_sgtable_attrs(ni->device, &tx->sgt, DMA_FROM_DEVICE, 0);
}

static int lnd_tx_map_pages(struct lnd_ni *ni, struct lnd_tx *tx)
{
	int ret = lnd_tx_alloc_pages(tx, ni->bytes);

	if (!ret)
		ret = ib_dma_map_sgtable_attrs(ni->device, &tx->sgt, DMA_FROM_DEVICE, 0);
	if (ret)
		return ret;
	ret = lnd_tx_map_mr(ni, tx);
	if (ret)
		lnd_tx_unmap(ni, tx);
	return ret;
}

/**
 * lnd_tx_free() - give back all that lnd_tx_map() took
 * @ni: an NI
 * @tx: a transfer that is not mapped any more
 */
void lnd_tx_free(struct lnd_ni *ni, struct lnd_tx *tx)
{
	const struct ib_rdmacg_objects objects = { .mr_mem = tx->charged };

	lnd_tx_free_pages(tx);
	lnd_mr_put(ni, tx->cpt, tx->mr);
	tx->mr = NULL;
	tx->is_asked = false;
	if (tx->charged)
		ib_rdmacg_uncharge_objects(ni->cg, ni->device, &objects);
	tx->charged = 0;
	list_move_tail(&tx->entry, &tx->cpt->free_txs);
}

/**
 * lnd_tx_map() - let the other end write into new memory
 * @ni: an NI with a command that says how much
 * @tx: a free transfer
 *
 * The memory region was charged with its pool; what others can reach through it is now.
 *
 * Return: 0; -EAGAIN if there is no memory region now, or no room in the cgroup; -ENOMEM; or
 * the device's error.
 */
int lnd_tx_map(struct lnd_ni *ni, struct lnd_tx *tx)
{
	const struct ib_rdmacg_objects objects = { .mr_mem = ni->bytes };
	struct lnd_mr *mr = lnd_mr_get(ni, tx->cpt);
	int ret;

	if (IS_ERR(mr))
		return PTR_ERR(mr);
	tx->mr = mr;
	ret = ib_rdmacg_try_charge_objects(ni->cg, ni->device, &objects);
	if (!ret)
		tx->charged = ni->bytes;
	if (!ret)
		ret = lnd_tx_map_pages(ni, tx);
	if (ret)
		lnd_tx_free(ni, tx);
	return ret;
}

/**
 * lnd_tx_is_filled() - tell whether the other end has written what it was to
 * @tx: a transfer that is not mapped any more
 *
 * Return: true if all bytes are the source's.
 */
bool lnd_tx_is_filled(const struct lnd_tx *tx)
{
	struct scatterlist *sg;
	unsigned int i;

	for_each_sgtable_sg(&tx->sgt, sg, i)
		if (memchr_inv(sg_virt(sg), LND_PATTERN, sg->length))
			return false;
	return true;
}

static int lnd_tx_make(struct lnd_ni *ni, unsigned int cookie)
{
	struct lnd_tx *tx = &ni->txs[cookie];

	tx->msg = kzalloc(LND_MSG_SIZE, GFP_KERNEL_ACCOUNT);
	if (!tx->msg)
		return -ENOMEM;
	tx->dma = ib_dma_map_single(ni->device, tx->msg, LND_MSG_SIZE, DMA_TO_DEVICE);
	if (ib_dma_mapping_error(ni->device, tx->dma)) {
		kfree(tx->msg);
		tx->msg = NULL;
		return -EIO;
	}
	tx->msg->type = cpu_to_le32(LND_MSG_GET);
	tx->msg->cookie = cpu_to_le32(cookie);
	lnd_tx_init(tx);
	tx->cpt = &ni->cpts[cookie / ni->param.txs];
	list_add_tail(&tx->entry, &tx->cpt->free_txs);
	return 0;
}

static int lnd_source_make(struct lnd_ni *ni)
{
	void *source = kmalloc(PAGE_SIZE, GFP_KERNEL_ACCOUNT);

	if (!source)
		return -ENOMEM;
	memset(source, LND_PATTERN, PAGE_SIZE);
	ni->source_dma = ib_dma_map_single(ni->device, source, PAGE_SIZE, DMA_TO_DEVICE);
	if (ib_dma_mapping_error(ni->device, ni->source_dma)) {
		kfree(source);
		return -EIO;
	}
	ni->source = source;
	ni->writes = kvcalloc(LND_MAX_FRAGS, sizeof(*ni->writes), GFP_KERNEL_ACCOUNT);
	return ni->writes ? 0 : -ENOMEM;
}

/**
 * lnd_txs_make() - make the memory of all messages that transfers begin with
 * @ni: an NI with its parts
 *
 * Return: 0, or an error; then the caller frees what there is.
 */
int lnd_txs_make(struct lnd_ni *ni)
{
	unsigned int i, count = ni->param.cpts * ni->param.txs;
	int ret;

	ni->txs = kvcalloc(count, sizeof(*ni->txs), GFP_KERNEL_ACCOUNT);
	if (!ni->txs)
		return -ENOMEM;
	ret = lnd_source_make(ni);
	for (i = 0; !ret && i < count; i++)
		ret = lnd_tx_make(ni, i);
	return ret;
}

/**
 * lnd_txs_free() - free what lnd_txs_make() made, also of a failed attempt
 * @ni: an NI without connections
 */
void lnd_txs_free(struct lnd_ni *ni)
{
	unsigned int i, count = ni->param.cpts * ni->param.txs;

	for (i = 0; ni->txs && i < count && ni->txs[i].msg; i++) {
		ib_dma_unmap_single(ni->device, ni->txs[i].dma, LND_MSG_SIZE, DMA_TO_DEVICE);
		kfree(ni->txs[i].msg);
	}
	if (ni->source)
		ib_dma_unmap_single(ni->device, ni->source_dma, PAGE_SIZE, DMA_TO_DEVICE);
	kfree(ni->source);
	ni->source = NULL;
	kvfree(ni->writes);
	ni->writes = NULL;
	kvfree(ni->txs);
	ni->txs = NULL;
}
