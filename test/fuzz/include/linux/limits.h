/* SPDX-License-Identifier: GPL-2.0 */
#define U8_MAX ((unsigned char)~0)
#define U32_MAX (~0u)
#define U64_MAX (~0ull)
#define S64_MAX ((long long)(U64_MAX >> 1))
