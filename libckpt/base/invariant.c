/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * invariant.c - the first false invariant of this process.
 */
#include "base/invariant.h"

#include "base/text.h"
#include "sys/syscall.h"

#include <errno.h>

enum {
    SOUND,
    WRITING,
    UNSOUND
}; /* values of `state`, in this order */

static int state;
static char reason[300];
static ckpt_invariant_handler *other_handler;

static void say(void)
{
    char line[sizeof reason + 100];
    const size_t length =
        ckpt_text_format(line, sizeof line,
                         "ckpt: internal error, no more checkpoints of this process: %s\n",
                         reason);

    (void)ckpt_sys_write(2, line, length);
}

int ckpt_invariant_failed(const char *file, int line, const char *condition)
{
    int sound = SOUND;

    if (other_handler != NULL) {
        return other_handler(file, line, condition);
    }
    if (__atomic_compare_exchange_n(&state, &sound, WRITING, 0, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE)) {
        ckpt_text_format(reason, sizeof reason, "%s:%d: %s", file, line, condition);
        __atomic_store_n(&state, UNSOUND, __ATOMIC_RELEASE);
        say();
    }
    return 0;
}

const char *ckpt_unsound(void)
{
    switch (__atomic_load_n(&state, __ATOMIC_ACQUIRE)) {
    case SOUND:
        return NULL;
    case UNSOUND:
        return reason;
    default: /* the thread that found it was parked while it wrote the text */
        return "an invariant does not hold";
    }
}

int ckpt_unsound_refuse(struct ckpt_failure *failure)
{
    const char *text = ckpt_unsound();

    return text == NULL ? 0
                        : ckpt_refuse(failure, CKPT_REFUSAL_INTERNAL_ERROR, -ENOTRECOVERABLE,
                                      "internal error of ckpt in this process: %s", text);
}

void ckpt_invariant_report_to(ckpt_invariant_handler *handler)
{
    other_handler = handler != NULL && handler != ckpt_invariant_failed ? handler
                                                                        : other_handler;
}
