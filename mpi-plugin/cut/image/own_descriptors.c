/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * own_descriptors.c - the descriptors of this process that are not the application's.
 */
#include "cut/image/own_descriptors.h"

#include "cut/messages/log_file.h"
#include "cut/participant.h"
#include "journal/journal.h"
#include "link/agent_link.h"
#include "link/rank_page.h"
#include "lower/discard.h"
#include "memory/lazy_pages.h"
#include "runtime/crossing.h"

int ckpt_own_descriptor(int fd)
{
    return fd == ckpt_rank_page_descriptor() || fd == ckpt_agent_descriptor() ||
           fd == ckpt_log_file_descriptor() || ckpt_lazy_pages_own_descriptor(fd) ||
           ckpt_journal_owns_descriptor(fd) || ckpt_discard_kept(fd) ||
           ckpt_participants_own_descriptor(fd) || ckpt_lower.owns_descriptor(fd);
}
