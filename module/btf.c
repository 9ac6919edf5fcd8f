// SPDX-License-Identifier: GPL-2.0-only
/*
 * Checks of the prototypes of hooked functions. A kernel may change a static
 * function of the IB core without a build error. The type information (BTF) of
 * the kernel and its modules has them.
 */
#define pr_fmt(fmt) "rdmacg: " fmt
#include <linux/bpf.h>
#include <linux/btf.h>
#include <linux/string.h>

#include "hook.h"

RDMACG_CALLED(find_btf, s32, const char *name, u32 kind, struct btf **btf);
RDMACG_CALLED(put_btf, void, struct btf *btf);
RDMACG_CALLED(btf_name, const char *, const struct btf *btf, u32 offset);

/* Find the functions that read BTF. */
int rdmacg_btf_init(void)
{
	return rdmacg_find_called(find_btf, "bpf_find_btf_id") &&
	       rdmacg_find_called(put_btf, "btf_put") &&
	       rdmacg_find_called(btf_name, "btf_name_by_offset") ? 0 : -ENOENT;
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

/*
 * Check that a function has the prototype that its hook expects, which has no
 * "const", "struct" and "enum". Returns 0; or, after a message, -EINVAL for
 * another prototype, or -ENOENT without type information.
 */
int rdmacg_check_prototype(const char *name, const char *prototype)
{
	const struct btf_param *params;
	const struct btf_type *type;
	char found[160] = "";
	struct btf *btf;
	unsigned int i;
	s32 id;

	id = rdmacg_call(find_btf)(name, BTF_KIND_FUNC, &btf);
	if (id < 0) {
		pr_err("this kernel has no type information (BTF) of %s: error %d; its modules must be those of its package\n",
		       name, id);
		return -ENOENT;
	}
	type = btf_type_by_id(btf, btf_type_by_id(btf, id)->type);
	params = (const struct btf_param *)(type + 1);
	rdmacg_append_type(found, sizeof(found), btf, type->type);
	for (i = 0; i < btf_type_vlen(type); i++) {
		strlcat(found, i ? "," : "(", sizeof(found));
		rdmacg_append_type(found, sizeof(found), btf, params[i].type);
	}
	strlcat(found, ")", sizeof(found));
	rdmacg_call(put_btf)(btf);
	if (!strcmp(found, prototype))
		return 0;
	pr_err("%s is %s on this kernel, and not %s; this version of the module does not fit\n",
	       name, found, prototype);
	return -EINVAL;
}
