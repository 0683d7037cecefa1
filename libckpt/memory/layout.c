/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * layout.c - reads struct ckpt_process_layout from /proc/self/stat and auxv.
 */
#include "memory/layout.h"

#include "base/invariant.h"
#include "base/text.h"
#include "memory/maps.h"
#include "memory/regions.h"
#include "sys/syscall.h"

#include <errno.h>

/* Fields of /proc/self/stat, with their numbers in proc(5). */
enum {
    FIELD_STATE = 3, /* the first one after the command, which may contain any
                        character */
    FIELD_START_CODE = 26,
    FIELD_END_CODE = 27,
    FIELD_START_STACK = 28,
    FIELD_START_DATA = 45,
    FIELD_END_DATA = 46,
    FIELD_START_BRK = 47,
    FIELD_ARG_START = 48,
    FIELD_ARG_END = 49,
    FIELD_ENV_START = 50,
    FIELD_ENV_END = 51,
    FIELD_COUNT,
};

/* Fills field[FIELD_STATE...]; a field that is not an unsigned number becomes
 * 0. */
static int parse_stat(const char *text, uint64_t field[FIELD_COUNT])
{
    const char *at = NULL;
    int number = FIELD_STATE;

    for (const char *c = text; *c != '\0'; c++) {
        at = *c == ')' ? c + 1 : at;
    }
    if (at == NULL) {
        return -EINVAL;
    }
    while (*at == ' ' && number < FIELD_COUNT) {
        field[number] = 0;
        ckpt_text_decimal(++at, &field[number++]);
        while (*at != ' ' && *at != '\0' && *at != '\n') {
            at++;
        }
    }
    return number == FIELD_COUNT ? 0 : -EINVAL;
}

int ckpt_process_layout_read(struct ckpt_arena *arena,
                             struct ckpt_process_layout *layout,
                             struct ckpt_failure *failure)
{
    struct ckpt_range vdso = ckpt_regions_vdso();
    uint64_t field[FIELD_COUNT];
    size_t size;
    char *text;
    int error;

    error = ckpt_proc_read(arena, "/proc/self/stat", &text, &size, failure);
    if (error != 0) {
        return error;
    }
    error = parse_stat(text, field);
    if (error != 0) {
        return ckpt_fail(failure, error, "/proc/self/stat is not understood");
    }
    error = ckpt_proc_read(arena, "/proc/self/auxv", &text, &size, failure);
    if (error != 0) {
        return error;
    }
    CKPT_INVARIANT(size % (2 * sizeof(uint64_t)) == 0); /* pairs of type and value */
    *layout = (struct ckpt_process_layout){
        .start_code = field[FIELD_START_CODE],
        .end_code = field[FIELD_END_CODE],
        .start_data = field[FIELD_START_DATA],
        .end_data = field[FIELD_END_DATA],
        .start_brk = field[FIELD_START_BRK],
        .brk = (uint64_t)ckpt_sys_brk(NULL),
        .start_stack = field[FIELD_START_STACK],
        .arg_start = field[FIELD_ARG_START],
        .arg_end = field[FIELD_ARG_END],
        .env_start = field[FIELD_ENV_START],
        .env_end = field[FIELD_ENV_END],
        .auxv = (uint64_t)text,
        .auxv_size = size,
        .vdso_start = vdso.start,
        .vdso_end = vdso.end,
    };
    return 0;
}
