/* SPDX-License-Identifier: GPL-2.0-only */
/* The functions with which main.c starts and ends the parts of the module. */
#ifndef _RDMACG_PARTS_H
#define _RDMACG_PARTS_H

/* css.c */
int rdmacg_css_init(void);
int rdmacg_css_on(void);
void rdmacg_css_off(void);
void rdmacg_css_exit(void);

/* device.c */
int rdmacg_devices_init(void);
int rdmacg_devices_on(void);
void rdmacg_devices_stop(void);
void rdmacg_devices_off(void);
void rdmacg_devices_exit(void);
unsigned int rdmacg_devices_count(void);

/* The hooks of object.c, memory.c and command.c. */
int rdmacg_object_init(void);
int rdmacg_memory_init(void);
int rdmacg_command_init(void);

#endif /* _RDMACG_PARTS_H */
