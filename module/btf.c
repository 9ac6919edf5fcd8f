// SPDX-License-Identifier: GPL-2.0-only
/*
 * Checks of the prototypes of hooked functions. No header declares the static
 * functions of the IB core, so a kernel may change one without a build error. The
 * type information of the kernel and of its modules (BTF) has them.
 */
#define pr_fmt(fmt) "rdmacg: " fmt
#include <linux/bpf.h>
#include <linux/btf.h>
#include <linux/string.h>

#include "hook.h"

RDMACG_CALLED(find_btf, s32, const char *name, u32 kind, struct btf **btf);
RDMACG_CALLED(put_btf, void, struct btf *btf);
RDMACG_CALLED(btf_name, const char *, const struct btf *btf, u32 offset);

/* The type information of vmlinux, ib_core, ib_uverbs and so on, and the first type of each. */
static struct {
	struct btf	*btf;
	u32		first;
} rdmacg_btfs[6];
static unsigned int rdmacg_nr_btfs;

/* Returns the number of types, which btf_type_by_id() does not know any more. */
static u32 rdmacg_btf_count(const struct btf *btf)
{
	u32 low = 0, high = BIT(24), middle;

	while (high - low > 1) {
		middle = (low + high) / 2;
		if (btf_type_by_id(btf, middle))
			low = middle;
		else
			high = middle;
	}
	return high;
}

static const struct btf_type *rdmacg_find_function(unsigned int i, const char *name)
{
	const struct btf_type *type;
	u32 id;

	for (id = rdmacg_btfs[i].first; (type = btf_type_by_id(rdmacg_btfs[i].btf, id)); id++)
		if (BTF_INFO_KIND(type->info) == BTF_KIND_FUNC &&
		    !strcmp(rdmacg_call(btf_name)(rdmacg_btfs[i].btf, type->name_off), name))
			return type;
	return NULL;
}

/* Returns the number in rdmacg_btfs[], or an error. */
static int rdmacg_find_btf(const char *name, const struct btf_type **function)
{
	struct btf *btf;
	unsigned int i;
	s32 id;

	for (i = 0; i < rdmacg_nr_btfs; i++) {
		*function = rdmacg_find_function(i, name);
		if (*function)
			return i;
	}
	if (i == ARRAY_SIZE(rdmacg_btfs))
		return -E2BIG;
	id = rdmacg_call(find_btf)(name, BTF_KIND_FUNC, &btf);
	if (id < 0)
		return id;
	rdmacg_btfs[i].btf = btf;
	/* The types of a module follow those of vmlinux. */
	rdmacg_btfs[i].first = i ? rdmacg_btfs[0].first : 1;
	*function = btf_type_by_id(btf, id);
	rdmacg_nr_btfs++;
	return i;
}

/* Append the name of a type, with a * for each pointer. */
static void rdmacg_append_type(char *text, size_t size, const struct btf *btf, u32 id)
{
	const struct btf_type *type = btf_type_by_id(btf, id);
	unsigned int pointers = 0;

	while (type && id && !btf_type_is_struct(type) && !btf_type_is_int(type) &&
	       BTF_INFO_KIND(type->info) != BTF_KIND_ENUM &&
	       BTF_INFO_KIND(type->info) != BTF_KIND_FWD) {
		pointers += btf_type_is_ptr(type);
		id = type->type;
		type = btf_type_by_id(btf, id);
	}
	strlcat(text, id && type ? rdmacg_call(btf_name)(btf, type->name_off) : "void", size);
	while (pointers--)
		strlcat(text, "*", size);
}

static void rdmacg_print_prototype(char *text, size_t size, const struct btf *btf,
				   const struct btf_type *function)
{
	const struct btf_type *prototype = btf_type_by_id(btf, function->type);
	const struct btf_param *params = (const struct btf_param *)(prototype + 1);
	unsigned int i;

	rdmacg_append_type(text, size, btf, prototype->type);
	for (i = 0; i < btf_type_vlen(prototype); i++) {
		strlcat(text, i ? "," : "(", size);
		rdmacg_append_type(text, size, btf, params[i].type);
	}
	strlcat(text, ")", size);
}

/**
 * rdmacg_check_prototype() - check that a function of the kernel is what its hook expects
 * @name: the function
 * @prototype: the expected prototype, without "const", "struct" and "enum"
 *
 * Context: Process context; may sleep. Only while the module is loaded.
 * Return: 0; -EINVAL for another prototype or -ENOENT without type information, both after a
 * message.
 */
int rdmacg_check_prototype(const char *name, const char *prototype)
{
	const struct btf_type *function;
	char found[160] = "";
	int i;

	i = rdmacg_find_btf(name, &function);
	if (i < 0) {
		pr_err("this kernel has no type information (BTF) for %s: error %d\n", name, i);
		return -ENOENT;
	}
	rdmacg_print_prototype(found, sizeof(found), rdmacg_btfs[i].btf, function);
	if (!strcmp(found, prototype))
		return 0;
	pr_err("%s is %s on this kernel, and not %s\n", name, found, prototype);
	return -EINVAL;
}

int rdmacg_btf_init(void)
{
	struct btf *vmlinux;
	s32 id;

	if (!rdmacg_find_called(find_btf, "bpf_find_btf_id") ||
	    !rdmacg_find_called(put_btf, "btf_put") ||
	    !rdmacg_find_called(btf_name, "btf_name_by_offset"))
		return -ENOENT;
	/* A function of vmlinux itself, so that the types of vmlinux are skipped later. */
	id = rdmacg_call(find_btf)("kernfs_break_active_protection", BTF_KIND_FUNC, &vmlinux);
	if (id < 0) {
		pr_err("this kernel has no type information (BTF): error %d\n", id);
		return -ENOENT;
	}
	rdmacg_btfs[0].btf = vmlinux;
	rdmacg_btfs[0].first = rdmacg_btf_count(vmlinux);
	rdmacg_nr_btfs = 1;
	return 0;
}

/* Drop the references. */
void rdmacg_btf_exit(void)
{
	while (rdmacg_nr_btfs)
		rdmacg_call(put_btf)(rdmacg_btfs[--rdmacg_nr_btfs].btf);
}
