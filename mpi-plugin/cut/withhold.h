/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * withhold.h - completions that the application must not see before this rank's
 * cut, in a checkpoint that nobody stands still for (docs/consistent-cuts.md,
 * section 1).
 *
 * From REQUEST on a rank that has not been cut cannot know whether others have.
 * What then completes below may be the work of one that has: a synchronous send
 * whose message was taken into a log, a nonblocking collective that a member
 * began after its cut. Such a completion is *withheld*, and the rank reports
 * and holds. RUN says that nobody had been cut: it counts. With CUT it does
 * not: at the cut the operation is pending. What becomes of it afterwards is
 * the affair of cut/synchronous_send.h and cut/nonblocking.h.
 */
#ifndef CKPT_WITHHOLD_H
#define CKPT_WITHHOLD_H

#include "handles/request.h"

/* 1 while another rank may have been cut and this one has not. Context: any. */
int ckpt_withhold_is_due(void);

/* A request that is complete below (status and code are set): 1 if it is to
 * stay incomplete for the application. Context: place for lower-half calls;
 * with the lower thread pointer if it is a message. */
int ckpt_withhold(MPI_Request request);

/* This rank's first synchronous send is about to begin: its reports say so from now
 * on. It holds until the coordinator knows, or has it cut. Context: normal, outside of
 * calls. */
void ckpt_withhold_synchronous(void);

/* Before this rank answers the agent: reports, and holds, if anything is
 * withheld. Context: service. */
void ckpt_withheld_report(void);

/* At the cut: lets complete what all members have begun before it. The other
 * collectives are pending there. Context: service. */
void ckpt_withheld_cut(void);

/* All that is withheld is complete. Context: service. */
void ckpt_withheld_confirm(void);

#endif
