/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * participant.c - call the parts of this library that take part in checkpoints.
 */
#include "cut/participant.h"

#include "base/invariant.h"

#include <stddef.h>

#define CAPACITY 4

static const struct ckpt_participant *all[CAPACITY];
static int count;

/* Calls `function` of all that have it. */
#define CALL(function, ...)                \
    for (int i = 0; i < count; i++) {      \
        if (all[i]->function != NULL) {    \
            all[i]->function(__VA_ARGS__); \
        }                                  \
    }

/* Returns 1 from the calling function if `function` of any does; else 0. */
#define RETURN_IF_ANY(function, ...)                                     \
    for (int i = 0; i < count; i++) {                                    \
        if (all[i]->function != NULL && all[i]->function(__VA_ARGS__)) { \
            return 1;                                                    \
        }                                                                \
    }                                                                    \
    return 0

void ckpt_participant_add(const struct ckpt_participant *participant)
{
    CKPT_INVARIANT(participant->forbids == NULL || participant->refuse != NULL);
    for (int i = 0; i < count; i++) { /* nobody would ask the second one */
        CKPT_INVARIANT(participant->excluded == NULL || all[i]->excluded == NULL);
        CKPT_INVARIANT(participant->shared_page == NULL || all[i]->shared_page == NULL);
    }
    if (CKPT_INVARIANT(count < CAPACITY)) { /* see start/connect.c */
        all[count++] = participant;
    }
}

const struct ckpt_participant *ckpt_participant_forbidding(void)
{
    for (int i = 0; i < count; i++) {
        if (all[i]->forbids != NULL && all[i]->forbids()) {
            return all[i];
        }
    }
    return NULL;
}

void ckpt_participants_tell(void)
{
    CALL(tell);
}

void ckpt_participants_told(const struct ckpt_message *message)
{
    CKPT_INVARIANT(message->type == CKPT_MSG_HELD || message->type == CKPT_MSG_ANSWER ||
                   message->type == CKPT_MSG_RESUME);
    CALL(told, message);
}

int ckpt_participants_need_turns(void)
{
    RETURN_IF_ANY(needs_turns);
}

void ckpt_participants_poll_failed(void)
{
    CALL(poll_failed);
}

void ckpt_participants_wait_over(void)
{
    CALL(wait_over);
}

void ckpt_participants_forget(enum ckpt_refusal identity, const char *reason)
{
    CALL(forget, identity, reason);
}

void ckpt_participants_restarted(void)
{
    CALL(restarted);
}

void ckpt_participants_before_image(void)
{
    CALL(before_image);
}

int ckpt_participants_own_descriptor(int fd)
{
    RETURN_IF_ANY(owns_descriptor, fd);
}

const char *ckpt_participants_excluded(void)
{
    for (int i = 0; i < count; i++) {
        if (all[i]->excluded != NULL) {
            return all[i]->excluded();
        }
    }
    return "";
}

int ckpt_participants_shared_page(void)
{
    for (int i = 0; i < count; i++) {
        if (all[i]->shared_page != NULL) {
            return all[i]->shared_page();
        }
    }
    return -1;
}
