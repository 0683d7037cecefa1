/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fault_injection.c - the chosen place, and how often the rank must still reach it.
 */
#include "independent/fault_injection.h"

#include "independent/page.h"
#include "independent/replay.h"
#include "runtime/runtime.h"
#include "sys/syscall.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum ckpt_rank_fault ckpt_rank_fault;

static long left; /* times until the fault strikes */

static const char *const names[] = {
    [CKPT_FAULT_NOWHERE] = "",
#define CKPT_RANK_FAULT(symbol, name) [CKPT_FAULT_##symbol] = name,
    CKPT_RANK_FAULTS(CKPT_RANK_FAULT)
#undef CKPT_RANK_FAULT
};

static enum ckpt_rank_fault find(const char *name, size_t length)
{
    for (size_t i = 1; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strlen(names[i]) == length && memcmp(names[i], name, length) == 0) {
            return (enum ckpt_rank_fault)i;
        }
    }
    return CKPT_FAULT_NOWHERE;
}

/* The agents have already refused malformed values. */
void ckpt_rank_fault_open(int rank)
{
    const char *text = ckpt_runtime_getenv("CKPT_FAULT");
    const size_t length = text == NULL ? 0 : strcspn(text, ":@");
    const char *at = text == NULL ? NULL : strchr(text, '@');

    ckpt_rank_fault = CKPT_FAULT_NOWHERE;
    if (length > 0 && (at == NULL || strtol(at + 1, NULL, 10) == rank)) {
        ckpt_rank_fault = find(text, length);
        left = text[length] == ':' ? strtol(text + length + 1, NULL, 10) : 1;
    }
}

/* Returns whether this rank would be replayed if it were killed now. */
static int would_be_replayed(void)
{
    const struct ckpt_independent_rank *self = ckpt_independent_self;

    return self->kept > 0 && self->kept_uncovered == self->uncovered && !self->lost &&
           !ckpt_replaying;
}

void ckpt_rank_fault_reached(void)
{
    if (would_be_replayed() && --left == 0) {
        (void)ckpt_sys_kill(ckpt_sys_getpid(), SIGKILL);
    }
}
