/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hooks.h - what the lower folders need of the higher ones. start/connect.c fills the table
 * before anything else runs. The functions that call a hook keep their own names:
 * ckpt_service() ...
 */
#ifndef CKPT_RUNTIME_HOOKS_H
#define CKPT_RUNTIME_HOOKS_H

struct ckpt_runtime_hooks {
    void (*serve)(void);          /* cut/service/service.c: ckpt_service() */
    void (*notice)(void);         /* cut/service/service.c: ckpt_notice() */
    void (*poll_failed)(void);    /* cut/collectives/gate.c: ckpt_poll_failed() */
    void (*poll_succeeded)(void); /* cut/collectives/gate.c: ckpt_poll_succeeded() */
    void (*end_replay)(void);     /* independent/replay.c: ckpt_replay_begin_present() */
    void (*need_library)(void);   /* start/init.c: ckpt_runtime_need_library() */
    void (*begin)(int required);  /* start/init.c: ckpt_runtime_begin() */
    void (*leave)(void);          /* start/init.c: ckpt_runtime_leave() */
};
extern struct ckpt_runtime_hooks ckpt_runtime_hooks __attribute__((visibility("hidden")));

#endif
