/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * forked.c - the child of a fork() in the application: it is not the rank.
 *
 * A program that the child executes has no trace of ckpt: our descriptors are close-on-exec, and
 * the preloaded library does nothing before MPI_Init (link/identity.h). A child that executes
 * nothing has the rank's memory and its connection to the agent. If it kept the connection, the
 * agent would not see the rank end. (posix_spawn, system and popen do not come here: they share
 * memory with the rank until they execute.)
 */
#include "cut/service/forked.h"

#include "cut/service/service.h"
#include "link/agent_link.h"
#include "memory/lazy_pages.h"
#include "task/busy.h"

#include <pthread.h>

static void in_child(void)
{
    ckpt_busy_tell(NULL); /* it pointed to the rank's page */
    ckpt_agent_disconnect();
    ckpt_service_forget();
    ckpt_lazy_pages_forget();
}

void ckpt_forked_open(void)
{
    (void)pthread_atfork(NULL, NULL, in_child);
}
