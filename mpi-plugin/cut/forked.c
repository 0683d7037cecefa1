/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * forked.c - the child of a fork() in the application: it is not the rank.
 *
 * A program that it executes sees nothing of us, as our descriptors are closed
 * then and the preloaded library does nothing before MPI_Init (alone/identity.h). Without one, the
 * child has the rank's memory and its connection to the agent: if it kept that,
 * the agent would not see the rank end. (posix_spawn, system and popen do not
 * come here: they share memory with the rank until they execute.)
 */
#include "cut/forked.h"

#include "cut/agent_link.h"
#include "cut/service.h"
#include "task/busy.h"

#include <pthread.h>

static void in_child(void)
{
    ckpt_busy_tell(NULL); /* what it told was the rank's */
    ckpt_agent_disconnect();
    ckpt_service_forget();
}

void ckpt_forked_open(void)
{
    (void)pthread_atfork(NULL, NULL, in_child);
}
