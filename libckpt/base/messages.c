/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * messages.c - the format of each message between a rank and its agent, and what of it is valid.
 */
#include "ckpt/messages.h"

#include <errno.h>
#include <string.h>

#define ANY  UINT64_MAX
#define PIDS 0x7fffffffu /* pid_t */
/* Of what a rank counts from 0 on. So the agent can go on counting from there. */
#define COUNTS (UINT64_MAX / 2)

#define NUMBER(name, least, most) \
    {                             \
        name, least, most, 0      \
    }
#define YES_OR_NO(name) \
    {                   \
        name, 0, 1, 0   \
    }
#define FLAGS(name, mask) \
    {                     \
        name, 0, mask, 1  \
    }

#define REPORT_FIELDS                                                              \
    8,                                                                             \
    {                                                                              \
        NUMBER("place", CKPT_PLACE_FREE, CKPT_PLACE_WAIT),                         \
            NUMBER("slot", 0, UINT32_MAX),                                         \
            FLAGS("inside", CKPT_INSIDE_CLOCKED | CKPT_INSIDE_REDO),               \
            YES_OR_NO("holds"), YES_OR_NO("of_thread"), NUMBER("entered", 0, ANY), \
            FLAGS("needs", CKPT_NEEDS_CHANNELS | CKPT_NEEDS_WINDOWS |              \
                               CKPT_NEEDS_PENDING | CKPT_NEEDS_FILES |             \
                               CKPT_NEEDS_THREADS),                                \
            FLAGS("traffic", CKPT_REPORT_SENT | CKPT_REPORT_SYNCHRONOUS)           \
    }
#define TOTAL_FIELDS                                        \
    2,                                                      \
    {                                                       \
        NUMBER("messages", 0, ANY), NUMBER("bytes", 0, ANY) \
    }
#define ALLOWED_FIELDS                   \
    1,                                   \
    {                                    \
        NUMBER("safe_points", 0, COUNTS) \
    }
#define END_FIELDS                                       \
    1,                                                   \
    {                                                    \
        NUMBER("outcome", CKPT_CAPTURED, CKPT_LEFT_OPEN) \
    }
#define NO_FIELDS         \
    0,                    \
    {                     \
        {                 \
            NULL, 0, 0, 0 \
        }                 \
    }
#define CUT_REPORT                                \
    NUMBER("cut", CKPT_CUT_NONE, CKPT_CUT_QUIET), \
        NUMBER("channels", 0, CKPT_RANKS_MOST), YES_OR_NO("has_sent")

const struct ckpt_message_format ckpt_message_formats[] = {
    {CKPT_MSG_HELLO,
     CKPT_FROM_RANK,
     "HELLO",
     "namespace of the launch",
     8,
     {NUMBER("rank", 0, CKPT_RANKS_MOST - 1), NUMBER("rank_count", 1, CKPT_RANKS_MOST),
      NUMBER("pid", 1, PIDS), NUMBER("thread", 1, PIDS), NUMBER("signal", 1, 64),
      YES_OR_NO("restarted"), NUMBER("last_cut", 0, COUNTS),
      FLAGS("state", CKPT_STATE_OPEN | CKPT_STATE_IN_DOUBT)}},
    {CKPT_MSG_JOIN, CKPT_FROM_RANK, "JOIN", "the coordinator's address", NO_FIELDS},
    {CKPT_MSG_REPORT, CKPT_FROM_RANK, "REPORT", NULL, REPORT_FIELDS},
    {CKPT_MSG_STOPPED, CKPT_FROM_RANK, "STOPPED", NULL, REPORT_FIELDS},
    {CKPT_MSG_DRAINED, CKPT_FROM_RANK, "DRAINED", NULL, TOTAL_FIELDS},
    {CKPT_MSG_READY,
     CKPT_FROM_RANK,
     "READY",
     NULL,
     5,
     {NUMBER("snapshot", 1, ANY), FLAGS("flags", CKPT_READY_SHARED | CKPT_READY_LEADS_OUT),
      CUT_REPORT}},
    {CKPT_MSG_REFUSED,
     CKPT_FROM_RANK,
     "REFUSED",
     "why",
     6,
     {NUMBER("identity", 0, UINT32_MAX), YES_OR_NO("for_now"), NUMBER("safe_points", 0, COUNTS),
      CUT_REPORT}},
    {CKPT_MSG_FINALIZED, CKPT_FROM_RANK, "FINALIZED", NULL, NO_FIELDS},
    {CKPT_MSG_COMPLETE,
     CKPT_FROM_RANK,
     "COMPLETE",
     NULL,
     3,
     {NUMBER("cut", CKPT_CUT_MARKERS, CKPT_CUT_QUIET), NUMBER("channels", 0, CKPT_RANKS_MOST),
      YES_OR_NO("all")}},
    {CKPT_MSG_LOGGED, CKPT_FROM_RANK, "LOGGED", NULL, TOTAL_FIELDS},
    {CKPT_MSG_FROZEN,
     CKPT_FROM_RANK,
     "FROZEN",
     "reason without a copy",
     1,
     {NUMBER("pid", 0, PIDS)}},
    {CKPT_MSG_WATCHED,
     CKPT_FROM_RANK,
     "WATCHED",
     NULL,
     2,
     {NUMBER("state", CKPT_WATCHED_FAILED, CKPT_WATCHED_CLOSED), NUMBER("error", 0, 4095)}},
    {CKPT_MSG_ASK, CKPT_FROM_RANK, "ASK", NULL, 2, {NUMBER("number", 1, ANY), YES_OR_NO("of_all")}},
    {CKPT_MSG_ALLOWED, CKPT_FROM_RANK, "ALLOWED", NULL, ALLOWED_FIELDS},
    {CKPT_MSG_HOLD_BLOCKED, CKPT_FROM_RANK, "HOLD_BLOCKED", NULL, ALLOWED_FIELDS},
    {CKPT_MSG_COW_SNAPSHOT,
     CKPT_FROM_RANK,
     "COW_SNAPSHOT",
     NULL,
     4,
     {NUMBER("pid", 1, PIDS), NUMBER("snapshot", 1, ANY), NUMBER("number", 1, ANY),
      NUMBER("interval", 0, ANY)}},
    {CKPT_MSG_SHARED,
     CKPT_FROM_RANK,
     "SHARED",
     "its name",
     1,
     {NUMBER("kind", CKPT_SHARED_PAGE, CKPT_SHARED_LOG)}},
    {CKPT_MSG_WORLD_READY, CKPT_FROM_RANK, "WORLD_READY", NULL, NO_FIELDS},
    {CKPT_MSG_SHELL,
     CKPT_FROM_RANK,
     "SHELL",
     NULL,
     3,
     {NUMBER("rank", 0, CKPT_RANKS_MOST - 1), NUMBER("pid", 1, PIDS), NUMBER("resident", 0, ANY)}},

    {CKPT_MSG_WELCOME,
     CKPT_FROM_AGENT,
     "WELCOME",
     "the agent's address",
     2,
     {NUMBER("restarted_from", 0, ANY), NUMBER("pid", 1, PIDS)}},
    {CKPT_MSG_REQUEST,
     CKPT_FROM_AGENT,
     "REQUEST",
     "directory of the file journal",
     2,
     {YES_OR_NO("runs_on"), NUMBER("files_mark", 0, ANY)}},
    {CKPT_MSG_RUN, CKPT_FROM_AGENT, "RUN", NULL, 1, {YES_OR_NO("unclocked")}},
    {CKPT_MSG_STOP, CKPT_FROM_AGENT, "STOP", NULL, NO_FIELDS},
    {CKPT_MSG_DRAIN, CKPT_FROM_AGENT, "DRAIN", NULL, NO_FIELDS},
    {CKPT_MSG_SAVE, CKPT_FROM_AGENT, "SAVE", NULL, NO_FIELDS},
    {CKPT_MSG_RESUME, CKPT_FROM_AGENT, "RESUME", "the reason", END_FIELDS},
    {CKPT_MSG_CUT,
     CKPT_FROM_AGENT,
     "CUT",
     "path of the file for the log",
     2,
     {NUMBER("cut", CKPT_CUT_MARKERS, CKPT_CUT_QUIET), YES_OR_NO("synchronous")}},
    {CKPT_MSG_PROGRESS, CKPT_FROM_AGENT, "PROGRESS", NULL, NO_FIELDS},
    {CKPT_MSG_CLOSE, CKPT_FROM_AGENT, "CLOSE", "the reason", END_FIELDS},
    {CKPT_MSG_COUNTS, CKPT_FROM_AGENT, "COUNTS", NULL, NO_FIELDS},
    {CKPT_MSG_SWEPT, CKPT_FROM_AGENT, "SWEPT", NULL, 1, {NUMBER("messages", 0, ANY)}},
    {CKPT_MSG_FREEZE, CKPT_FROM_AGENT, "FREEZE", NULL, 1, {NUMBER("pid", 1, PIDS)}},
    {CKPT_MSG_WATCH, CKPT_FROM_AGENT, "WATCH", NULL, 1, {NUMBER("flags", 0, UINT32_MAX)}},
    {CKPT_MSG_HELD, CKPT_FROM_AGENT, "HELD", NULL, 1, {NUMBER("safe_point", 0, ANY)}},
    {CKPT_MSG_ANSWER,
     CKPT_FROM_AGENT,
     "ANSWER",
     "reason of the failure",
     1,
     {NUMBER("number", 0, ANY)}},
    {CKPT_MSG_WHERE, CKPT_FROM_AGENT, "WHERE", NULL, NO_FIELDS},
    {CKPT_MSG_CHANGE_WORLD, CKPT_FROM_AGENT, "CHANGE_WORLD", NULL, NO_FIELDS},
    {CKPT_MSG_BECOME_SHELL,
     CKPT_FROM_AGENT,
     "BECOME_SHELL",
     NULL,
     1,
     {NUMBER("successor", 1, PIDS)}},
    {CKPT_MSG_END_SHELL, CKPT_FROM_AGENT, "END_SHELL", NULL, 1, {NUMBER("code", 0, 255)}},
};

const unsigned ckpt_message_format_count =
    sizeof(ckpt_message_formats) / sizeof(ckpt_message_formats[0]);

const struct ckpt_message_format *ckpt_message_find(uint32_t type)
{
    for (unsigned i = 0; i < ckpt_message_format_count; i++) {
        if (ckpt_message_formats[i].type == type) {
            return &ckpt_message_formats[i];
        }
    }
    return NULL;
}

/* ---- What is valid ----------------------------------------------------------------------- */

static int is_in_range(const struct ckpt_message_field *field, uint64_t value)
{
    return field->is_flags ? (value & ~field->most) == 0
                           : value >= field->least && value <= field->most;
}

/* Returns the name of the first field that is out of its range, or that no field has; or NULL. */
static const char *wrong_field(const struct ckpt_message_format *format,
                               const union ckpt_message_body *body)
{
    for (unsigned i = 0; i < CKPT_MESSAGE_FIELDS; i++) {
        if (i >= format->field_count && body->field[i] != 0) {
            return "unused";
        }
        if (i < format->field_count && !is_in_range(&format->field[i], body->field[i])) {
            return format->field[i].name;
        }
    }
    return NULL;
}

/* Fields that are valid only for another kind of cut are 0. */
static const char *wrong_cut(const struct ckpt_cut_report *cut)
{
    if (cut->channels != 0 && cut->kind != CKPT_CUT_MARKERS) {
        return "channels";
    }
    return cut->has_sent != 0 && cut->kind != CKPT_CUT_QUIET ? "has_sent" : NULL;
}

static const char *wrong_report(const struct ckpt_msg_report *report)
{
    if (report->of_thread == 0) {
        return report->entered != 0 ? "entered" : NULL;
    }
    if (report->place != CKPT_PLACE_GATE) {
        return "place";
    }
    return report->holds != 0 ? "holds" : NULL;
}

/* Returns the name of the first field that does not match another field; or NULL. */
static const char *wrong_together(const struct ckpt_message *message)
{
    const union ckpt_message_body *as = &message->as;

    switch (message->type) {
    case CKPT_MSG_HELLO:
        return as->hello.rank >= as->hello.rank_count ? "rank" : NULL;
    case CKPT_MSG_REPORT:
        return wrong_report(&as->report);
    case CKPT_MSG_STOPPED:
        return as->report.of_thread != 0 ? "of_thread" : wrong_report(&as->report);
    case CKPT_MSG_READY:
        return wrong_cut(&as->ready.cut);
    case CKPT_MSG_REFUSED:
        if (as->refused.safe_points != 0 && as->refused.for_now == 0) {
            return "safe_points";
        }
        return wrong_cut(&as->refused.cut);
    case CKPT_MSG_COMPLETE:
        return as->complete.channels != 0 && as->complete.kind != CKPT_CUT_MARKERS
                   ? "channels"
                   : NULL;
    case CKPT_MSG_WATCHED:
        return (as->watched.error != 0) != (as->watched.state == CKPT_WATCHED_FAILED) ? "error"
                                                                                      : NULL;
    case CKPT_MSG_REQUEST:
        return message->text[0] != '\0' && as->request.files_mark == 0 ? "text" : NULL;
    default:
        return NULL;
    }
}

int ckpt_message_check(const struct ckpt_message *message, enum ckpt_sender sender,
                       const char **wrong)
{
    const struct ckpt_message_format *format = ckpt_message_find(message->type);

    *wrong = NULL;
    if (format == NULL || format->sender != (uint32_t)sender) {
        *wrong = "type";
    } else if (message->reserved != 0) {
        *wrong = "reserved";
    } else if (format->text == NULL && message->text[0] != '\0') {
        *wrong = "text";
    } else {
        *wrong = wrong_field(format, &message->as);
        if (*wrong == NULL) {
            *wrong = wrong_together(message);
        }
    }
    return *wrong == NULL ? 0 : -EPROTO;
}

/* ---- Both directions ----------------------------------------------------------------------- */

int ckpt_message_encode(struct ckpt_message *message, enum ckpt_sender sender,
                        const char **wrong)
{
    const struct ckpt_message_format *format = ckpt_message_find(message->type);
    const unsigned used = format == NULL ? 0 : format->field_count;
    size_t length = 0;

    message->magic = CKPT_WIRE_MAGIC;
    message->version = CKPT_WIRE_VERSION;
    for (unsigned i = used; i < CKPT_MESSAGE_FIELDS; i++) {
        message->as.field[i] = 0;
    }
    while (length < sizeof(message->text) - 1 && message->text[length] != '\0') {
        length++;
    }
    memset(message->text + length, 0, sizeof(message->text) - length);
    return ckpt_message_check(message, sender, wrong);
}

int ckpt_message_decode(struct ckpt_message *message, size_t size, enum ckpt_sender sender,
                        const char **wrong)
{
    *wrong = "magic";
    if (size != sizeof(*message) || message->magic != CKPT_WIRE_MAGIC) {
        return -EPROTO;
    }
    if (message->version != CKPT_WIRE_VERSION) {
        *wrong = "version";
        return -EPROTONOSUPPORT;
    }
    message->text[sizeof(message->text) - 1] = '\0';
    return ckpt_message_check(message, sender, wrong);
}
