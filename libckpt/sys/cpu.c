/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cpu.c - the CPUID words of a snapshot, and the names of their bits.
 */
#include "sys/cpu.h"

#include "sys/thread_pointer.h"

#include <cpuid.h>

enum word {
    LEAF1_ECX,
    LEAF1_EDX,
    LEAF7_EBX,
    LEAF7_ECX,
    LEAF7_EDX,
    LEAF7_1_EAX,
    LEAFD_1_EAX,
    XCR0,
};
_Static_assert(XCR0 + 1 == CKPT_CPU_FEATURE_WORDS, "each word of a snapshot has a name");

#define OSXSAVE  (1u << 27) /* in LEAF1_ECX: xgetbv may be used */
#define FSGSBASE (1u << 0)  /* in LEAF7_EBX */

struct feature {
    const char *name;
    unsigned char word; /* enum word */
    unsigned char bit;
};

/* Features that programs can use: instructions, not kernel facilities. */
static const struct feature features[] = {
    {"sse3", LEAF1_ECX, 0},
    {"pclmulqdq", LEAF1_ECX, 1},
    {"ssse3", LEAF1_ECX, 9},
    {"fma", LEAF1_ECX, 12},
    {"cx16", LEAF1_ECX, 13},
    {"sse4_1", LEAF1_ECX, 19},
    {"sse4_2", LEAF1_ECX, 20},
    {"movbe", LEAF1_ECX, 22},
    {"popcnt", LEAF1_ECX, 23},
    {"aes", LEAF1_ECX, 25},
    {"xsave", LEAF1_ECX, 26},
    {"osxsave", LEAF1_ECX, 27},
    {"avx", LEAF1_ECX, 28},
    {"f16c", LEAF1_ECX, 29},
    {"rdrand", LEAF1_ECX, 30},
    {"tsc", LEAF1_EDX, 4},
    {"cx8", LEAF1_EDX, 8},
    {"cmov", LEAF1_EDX, 15},
    {"clflush", LEAF1_EDX, 19},
    {"mmx", LEAF1_EDX, 23},
    {"fxsr", LEAF1_EDX, 24},
    {"sse", LEAF1_EDX, 25},
    {"sse2", LEAF1_EDX, 26},
    {"fsgsbase", LEAF7_EBX, 0},
    {"bmi1", LEAF7_EBX, 3},
    {"hle", LEAF7_EBX, 4},
    {"avx2", LEAF7_EBX, 5},
    {"bmi2", LEAF7_EBX, 8},
    {"rtm", LEAF7_EBX, 11},
    {"avx512f", LEAF7_EBX, 16},
    {"avx512dq", LEAF7_EBX, 17},
    {"rdseed", LEAF7_EBX, 18},
    {"adx", LEAF7_EBX, 19},
    {"avx512ifma", LEAF7_EBX, 21},
    {"clflushopt", LEAF7_EBX, 23},
    {"clwb", LEAF7_EBX, 24},
    {"avx512pf", LEAF7_EBX, 26},
    {"avx512er", LEAF7_EBX, 27},
    {"avx512cd", LEAF7_EBX, 28},
    {"sha_ni", LEAF7_EBX, 29},
    {"avx512bw", LEAF7_EBX, 30},
    {"avx512vl", LEAF7_EBX, 31},
    {"avx512vbmi", LEAF7_ECX, 1},
    {"ospke", LEAF7_ECX, 4},
    {"waitpkg", LEAF7_ECX, 5},
    {"avx512_vbmi2", LEAF7_ECX, 6},
    {"gfni", LEAF7_ECX, 8},
    {"vaes", LEAF7_ECX, 9},
    {"vpclmulqdq", LEAF7_ECX, 10},
    {"avx512_vnni", LEAF7_ECX, 11},
    {"avx512_bitalg", LEAF7_ECX, 12},
    {"avx512_vpopcntdq", LEAF7_ECX, 14},
    {"rdpid", LEAF7_ECX, 22},
    {"movdiri", LEAF7_ECX, 27},
    {"movdir64b", LEAF7_ECX, 28},
    {"avx512_4vnniw", LEAF7_EDX, 2},
    {"avx512_4fmaps", LEAF7_EDX, 3},
    {"avx512_vp2intersect", LEAF7_EDX, 8},
    {"serialize", LEAF7_EDX, 14},
    {"tsxldtrk", LEAF7_EDX, 16},
    {"amx_bf16", LEAF7_EDX, 22},
    {"avx512_fp16", LEAF7_EDX, 23},
    {"amx_tile", LEAF7_EDX, 24},
    {"amx_int8", LEAF7_EDX, 25},
    {"avx_vnni", LEAF7_1_EAX, 4},
    {"avx512_bf16", LEAF7_1_EAX, 5},
    {"amx_fp16", LEAF7_1_EAX, 21},
    {"avx_ifma", LEAF7_1_EAX, 23},
    {"xsaveopt", LEAFD_1_EAX, 0},
    {"xsavec", LEAFD_1_EAX, 1},
    {"xgetbv1", LEAFD_1_EAX, 2},
    {"avx-state", XCR0, 2},
    {"mpx-bounds-state", XCR0, 3},
    {"avx512-mask-state", XCR0, 5},
    {"avx512-upper-state", XCR0, 6},
    {"avx512-zmm16-state", XCR0, 7},
    {"pkru-state", XCR0, 9},
    {"amx-config-state", XCR0, 17},
    {"amx-tile-state", XCR0, 18},
};

/* Components of XCR0 that glibc's lazy binding saves, beyond those it always
 * has room for (STATE_SAVE_MASK in its sysdeps/x86/sysdep.h). */
#define LAZY_BINDING_STATE (1u << 2 | 1u << 3 | 1u << 5 | 1u << 6 | 1u << 7)

static uint32_t read_xcr0(void)
{
    uint32_t low;
    uint32_t high;

    __asm__ volatile("xgetbv"
                     : "=a"(low), "=d"(high)
                     : "c"(0));
    return low;
}

void ckpt_cpu_read(uint32_t words[CKPT_CPU_FEATURE_WORDS])
{
    uint32_t unused_a = 0;
    uint32_t unused_b = 0;
    uint32_t unused_c = 0;

    for (int i = 0; i < CKPT_CPU_FEATURE_WORDS; i++) {
        words[i] = 0;
    }
    __get_cpuid(1, &unused_a, &unused_b, &words[LEAF1_ECX], &words[LEAF1_EDX]);
    __get_cpuid_count(7, 0, &unused_a, &words[LEAF7_EBX], &words[LEAF7_ECX],
                      &words[LEAF7_EDX]);
    if (!ckpt_kernel_allows_fsgsbase()) {
        words[LEAF7_EBX] &= ~FSGSBASE;
    }
    if (unused_a >= 1) {
        __get_cpuid_count(7, 1, &words[LEAF7_1_EAX], &unused_a, &unused_b,
                          &unused_c);
    }
    if ((words[LEAF1_ECX] & OSXSAVE) != 0) {
        __get_cpuid_count(13, 1, &words[LEAFD_1_EAX], &unused_a, &unused_b,
                          &unused_c);
        words[XCR0] = read_xcr0();
    }
}

/* Appends " name", as much of it as fits. */
static size_t append(char *text, size_t size, size_t used, const char *name)
{
    if (used > 0 && used + 1 < size) {
        text[used++] = ' ';
    }
    while (*name != '\0' && used + 1 < size) {
        text[used++] = *name++;
    }
    return used;
}

static int list_lost(const uint32_t *from, const uint32_t *to,
                     int (*counts)(const struct feature *), char *text,
                     size_t size)
{
    size_t used = 0;
    int count = 0;

    for (size_t i = 0; i < sizeof features / sizeof features[0]; i++) {
        const struct feature *feature = &features[i];
        uint32_t lost = from[feature->word] & ~to[feature->word];

        if ((lost >> feature->bit & 1u) != 0 && counts(feature)) {
            used = append(text, size, used, feature->name);
            count++;
        }
    }
    if (size > 0) {
        text[used] = '\0';
    }
    return count;
}

static int any_feature(const struct feature *feature)
{
    (void)feature;
    return 1;
}

static int lazy_binding_saves(const struct feature *feature)
{
    return feature->word == XCR0 &&
           (LAZY_BINDING_STATE >> feature->bit & 1u) != 0;
}

int ckpt_cpu_missing(const uint32_t recorded[CKPT_CPU_FEATURE_WORDS],
                     const uint32_t here[CKPT_CPU_FEATURE_WORDS], char *text,
                     size_t size)
{
    return list_lost(recorded, here, any_feature, text, size);
}

int ckpt_cpu_unexpected(const uint32_t recorded[CKPT_CPU_FEATURE_WORDS],
                        const uint32_t here[CKPT_CPU_FEATURE_WORDS], char *text,
                        size_t size)
{
    return list_lost(here, recorded, lazy_binding_saves, text, size);
}
