/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * golden_messages.h - one message of each type, all fields different where their ranges allow
 * it; compiled as C and as C++. messages.golden has their bytes.
 */
#ifndef CKPT_GOLDEN_MESSAGES_H
#define CKPT_GOLDEN_MESSAGES_H

#include "ckpt/messages.h"

#define GOLDEN(TYPE, EPOCH, MEMBER, TEXT, ...)                                 \
    {                                                                          \
        .magic = 0, .version = 0, .type = TYPE, .reserved = 0, .epoch = EPOCH, \
        .as = {.MEMBER = {__VA_ARGS__}}, .text = TEXT                          \
    }

#define GOLDEN_REPORT                                                       \
    .place = CKPT_PLACE_INSIDE, .slot = 0x1234, .inside = CKPT_INSIDE_REDO, \
    .holds = 1, .of_thread = 0, .entered = 0, .needs = CKPT_NEEDS_FILES,    \
    .traffic = CKPT_REPORT_SYNCHRONOUS

static const struct ckpt_message golden_messages[] = {
    GOLDEN(CKPT_MSG_HELLO, 0, hello, "namespace", .rank = 0x102, .rank_count = 0x10203,
           .pid = 0x1234567, .thread = 0x1234568, .signal = 63, .restarted = 1,
           .last_cut = 0x1122334455667788, .state = CKPT_STATE_IN_DOUBT),
    GOLDEN(CKPT_MSG_JOIN, 0, field, "local n1", 0),
    GOLDEN(CKPT_MSG_REPORT, 7, report, "", GOLDEN_REPORT),
    GOLDEN(CKPT_MSG_STOPPED, 8, report, "", GOLDEN_REPORT),
    GOLDEN(CKPT_MSG_DRAINED, 9, total, "", .messages = 0x21, .bytes = 0x2223),
    GOLDEN(CKPT_MSG_READY, 10, ready, "", .snapshot = 0x7f0011223344,
           .flags = CKPT_READY_LEADS_OUT,
           .cut = {.kind = CKPT_CUT_MARKERS, .channels = 5, .has_sent = 0}),
    GOLDEN(CKPT_MSG_REFUSED, 11, refused, "not now", .identity = 0x31, .for_now = 1,
           .safe_points = 0x32,
           .cut = {.kind = CKPT_CUT_QUIET, .channels = 0, .has_sent = 1}),
    GOLDEN(CKPT_MSG_FINALIZED, 0, field, "", 0),
    GOLDEN(CKPT_MSG_COMPLETE, 12, complete, "", .kind = CKPT_CUT_MARKERS, .channels = 6,
           .all = 1),
    GOLDEN(CKPT_MSG_LOGGED, 13, total, "", .messages = 0x24, .bytes = 0x2526),
    GOLDEN(CKPT_MSG_FROZEN, 14, frozen, "no copy", .pid = 0),
    GOLDEN(CKPT_MSG_WATCHED, 15, watched, "", .state = CKPT_WATCHED_FAILED, .error = 38),
    GOLDEN(CKPT_MSG_ASK, 0, ask, "", .number = 0x41, .of_all = 1),
    GOLDEN(CKPT_MSG_ALLOWED, 0, allowed, "", .safe_points = 0x42),
    GOLDEN(CKPT_MSG_HOLD_BLOCKED, 0, allowed, "", .safe_points = 0x43),
    GOLDEN(CKPT_MSG_COW_SNAPSHOT, 0, cow_snapshot, "", .pid = 0x44, .snapshot = 0x7f0011223355,
           .number = 0x45, .interval = 0x46),
    GOLDEN(CKPT_MSG_SHARED, 0, shared, "a log", .kind = CKPT_SHARED_LOG),
    GOLDEN(CKPT_MSG_WORLD_READY, 16, field, "", 0),
    GOLDEN(CKPT_MSG_SHELL, 17, shell, "", .rank = 0x61, .pid = 0x62, .resident = 0x63),
    GOLDEN(CKPT_MSG_WELCOME, 3, welcome, "local n1", .restarted_from = 3, .pid = 0x51),
    GOLDEN(CKPT_MSG_REQUEST, 7, request, "/journal", .runs_on = 1, .files_mark = 0x52),
    GOLDEN(CKPT_MSG_RUN, 7, run, "", .unclocked = 1),
    GOLDEN(CKPT_MSG_STOP, 7, field, "", 0),
    GOLDEN(CKPT_MSG_DRAIN, 7, field, "", 0),
    GOLDEN(CKPT_MSG_SAVE, 7, field, "", 0),
    GOLDEN(CKPT_MSG_RESUME, 7, end, "disk full", .outcome = CKPT_GIVEN_UP),
    GOLDEN(CKPT_MSG_CUT, 7, cut, "/log", .kind = CKPT_CUT_SWEEP, .synchronous = 1),
    GOLDEN(CKPT_MSG_PROGRESS, 7, field, "", 0),
    GOLDEN(CKPT_MSG_CLOSE, 7, end, "lost", .outcome = CKPT_LEFT_OPEN),
    GOLDEN(CKPT_MSG_COUNTS, 7, field, "", 0),
    GOLDEN(CKPT_MSG_SWEPT, 7, swept, "", .messages = 0x53),
    GOLDEN(CKPT_MSG_FREEZE, 7, freeze, "", .pid = 0x54),
    GOLDEN(CKPT_MSG_WATCH, 7, watch, "", .flags = 0x80001),
    GOLDEN(CKPT_MSG_HELD, 7, held, "", .safe_point = 0x55),
    GOLDEN(CKPT_MSG_ANSWER, 7, answer, "no space", .number = 0x56),
    GOLDEN(CKPT_MSG_WHERE, 7, field, "", 0),
    GOLDEN(CKPT_MSG_CHANGE_WORLD, 7, field, "", 0),
    GOLDEN(CKPT_MSG_BECOME_SHELL, 7, become_shell, "", .successor = 0x57),
    GOLDEN(CKPT_MSG_END_SHELL, 7, end_shell, "", .code = 0x58),
};

#define GOLDEN_COUNT (sizeof golden_messages / sizeof golden_messages[0])

#endif
