/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * deferred_completion.h - completions that the application must not see before this rank's cut,
 * in a checkpoint during which the ranks run on (docs/consistent-cuts.md, section 1).
 *
 * From REQUEST on, a rank that has not been cut cannot know whether others have. An
 * operation that then completes below may depend on a rank that was cut. Examples are
 * a synchronous send whose message was taken into a log, and a nonblocking collective
 * that a member began after its cut. Such a completion is *deferred*, and the rank
 * reports and holds. RUN says that no rank had been cut: the completion counts. CUT
 * says that it does not: at the cut the operation is pending. cut/messages/synchronous_send.h
 * and cut/collectives/nonblocking.h handle the operation afterwards.
 */
#ifndef CKPT_DEFERRED_COMPLETION_H
#define CKPT_DEFERRED_COMPLETION_H

#include "handles/request.h"

/* Returns 1 while another rank may have been cut and this one has not. Context:
 * any. */
int ckpt_deferral_is_due(void);

/* Called for a request that is complete below (status and code are set). Returns 1 if
 * it must stay incomplete for the application. Context: place for lower-half calls;
 * with the lower thread pointer if the request is a message. */
int ckpt_defer_completion(MPI_Request request);

/* Called before this rank's first synchronous send: its reports say so from now on.
 * The rank holds until the coordinator knows, or has the rank cut. Context: normal,
 * outside of calls. */
void ckpt_defer_synchronous(void);

/* Called before this rank answers the agent: reports, and holds, if any completion is
 * deferred. Context: service. */
void ckpt_deferred_report(void);

/* Called at the cut: completes what all members have begun before it. The other
 * collectives are pending there. Context: service. */
void ckpt_deferred_cut(void);

/* Makes all deferred completions count. Context: service. */
void ckpt_deferred_confirm(void);

#endif
