/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * participant.h - parts of this library above cut/ that take part in checkpoints: the
 * program's own wishes (user/), independent checkpoints (independent/).
 *
 * start/connect.c adds them. The functions below call each participant that has the function,
 * in the order in which they were added.
 */
#ifndef CKPT_PARTICIPANT_H
#define CKPT_PARTICIPANT_H

#include "ckpt/refusals.h"
#include "ckpt/wire.h"

/* What a participant does; NULL: nothing. Context: any place that answers the agent, also
 * quiesced, unless stated otherwise. */
struct ckpt_participant {
    /* 1: this rank must not be saved now. Context: any */
    int (*forbids)(void);
    /* tells the agent so, and why; set if forbids is */
    void (*refuse)(void);
    /* sends what the application's threads have changed */
    void (*tell)(void);
    void (*told)(const struct ckpt_message *message); /* HELD, ANSWER or RESUME came */
    /* 1: this rank's waits must return now and then */
    int (*needs_turns)(void);
    void (*poll_failed)(void); /* as ckpt_poll_failed() */
    void (*wait_over)(void);   /* as ckpt_poll_succeeded() */
    /* the agent was lost, and all requests with it */
    void (*forget)(enum ckpt_refusal identity, const char *reason);
    void (*restarted)(void);        /* the process was restored from an image */
    void (*before_image)(void);     /* the process is about to be described: pages may be discarded.
                                       Context: quiesced */
    const char *(*excluded)(void);  /* memory not to save: ckpt_snapshot.excluded */
    int (*owns_descriptor)(int fd); /* 1: not the application's. Context: any */
    int (*shared_page)(void);       /* for each agent (CKPT_SHARED_PAGE); -1: none */
};

/* Adds a participant, for good. *participant: not copied. Context: normal, before the first
 * checkpoint. */
void ckpt_participant_add(const struct ckpt_participant *participant);

/* Returns the first participant that forbids that this rank is saved now, or NULL. The caller
 * has it tell the agent: refuse(). */
const struct ckpt_participant *ckpt_participant_forbidding(void);

void ckpt_participants_tell(void);
void ckpt_participants_told(const struct ckpt_message *message);
int ckpt_participants_need_turns(void);
void ckpt_participants_poll_failed(void);
void ckpt_participants_wait_over(void);
void ckpt_participants_forget(enum ckpt_refusal identity, const char *reason);
void ckpt_participants_restarted(void);
void ckpt_participants_before_image(void);
int ckpt_participants_own_descriptor(int fd);

/* Return the first participant's: "" or -1 if there is none. */
const char *ckpt_participants_excluded(void);
int ckpt_participants_shared_page(void);

#endif
