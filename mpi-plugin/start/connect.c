/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * connect.c - give the lower folders what they need of the higher ones, before any other code
 * of this library runs: the one place that knows who answers whom.
 */
#include "cut/collectives/collective.h"
#include "cut/image/process_image.h"
#include "cut/messages/synchronous_send.h"
#include "cut/participant.h"
#include "cut/service/request_calls.h"
#include "cut/service/service.h"
#include "cut/service/world.h"
#include "handles/kinds.h"
#include "handles/message_log.h"
#include "independent/participant.h"
#include "independent/replay.h"
#include "runtime/hooks.h"
#include "start/change_world.h"
#include "start/init.h"
#include "process/frozen_copy.h"
#include "start/resume.h"
#include "start/thaw.h"
#include "user/participant.h"

static const struct ckpt_world_calls world_calls = {.change = ckpt_change_world,
                                                    .go_on = ckpt_change_world_go_on};

static const struct ckpt_frozen_copy_calls copy_calls = {.may_live = ckpt_may_thaw,
                                                         .may_stand = ckpt_may_stand,
                                                         .live = ckpt_thaw};

/* 101: the first priority that programs may use (GCC manual, constructor). */
__attribute__((constructor(101))) static void connect_folders(void)
{
    ckpt_runtime_hooks = (struct ckpt_runtime_hooks){
        .serve = ckpt_service_serve,
        .notice = ckpt_service_notice,
        .poll_failed = ckpt_gate_poll_failed,
        .poll_succeeded = ckpt_gate_poll_succeeded,
        .end_replay = ckpt_replay_end,
        .need_library = ckpt_start_library,
        .begin = ckpt_start,
        .leave = ckpt_start_leave,
    };
    ckpt_kind_calls_fill();
    ckpt_request_calls_fill();
    ckpt_log_tell(ckpt_synchronous_consumed);
    ckpt_participant_add(&ckpt_user_participant);
    ckpt_participant_add(&ckpt_independent_participant);
    ckpt_world_calls_set(&world_calls);
    ckpt_frozen_copy_calls_set(&copy_calls);
    ckpt_process_image_resume(ckpt_resume, ckpt_resume_stack());
}
