/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * probe.c - probes and matched messages (MPI 3.1, section 3.8): they look first
 * into the message log, then into the lower half.
 */
#include "base/invariant.h"
#include "cut/messages/channel_recording.h"
#include "cut/messages/rank_cut.h"
#include "handles/channels.h"
#include "handles/kinds.h"
#include "handles/message_log.h"
#include "handles/request.h"
#include "handles/wrapper.h"

static int probe_once(int source, int tag, MPI_Comm comm, int *flag,
                      MPI_Status *status)
{
    struct ckpt_log_entry *entry = ckpt_log_match(comm, source, tag);
    int code;

    if (entry != NULL) {
        ckpt_log_status(entry, status);
        *flag = 1;
        return MPI_SUCCESS;
    }
    if (__builtin_expect(ckpt_rank_cut_open, 0) && source != MPI_PROC_NULL) {
        return ckpt_recording_probe(source, tag, comm, flag, NULL, status);
    }
    CKPT_CALL(code, Iprobe, source, tag, CKPT_CHANNEL(comm), flag, status);
    return code;
}

/* Returns a message object for an entry of the log or a message of the lower
 * half. */
static MPI_Message message_new(MPI_Comm comm, void *lower,
                               struct ckpt_log_entry *entry,
                               const MPI_Status *status, void *site)
{
    MPI_Message message;

    CKPT_INVARIANT((lower == NULL) != (entry == NULL)); /* in the lower half, or in the log */
    message = ckpt_handle_create(CKPT_MESSAGE, sizeof(*message), lower, "MPI_Mprobe", site);
    if (message != NULL) {
        message->communicator = comm;
        message->entry = entry;
        message->status = *status;
        ckpt_retain(comm);
    }
    return message;
}

static int match_once(int source, int tag, MPI_Comm comm, int *flag,
                      MPI_Message *message_p, MPI_Status *status, void *site)
{
    struct ckpt_log_entry *entry = ckpt_log_match(comm, source, tag);
    MPI_Message lower = NULL, message;
    MPI_Status own;
    int code = MPI_SUCCESS;

    if (entry != NULL) {
        ckpt_log_status(entry, &own);
        ckpt_log_take(comm, entry);
        *flag = 1;
    } else if (__builtin_expect(ckpt_rank_cut_open, 0) && source != MPI_PROC_NULL) {
        code = ckpt_recording_probe(source, tag, comm, flag, &lower, &own);
    } else {
        CKPT_CALL(code, Improbe, source, tag, CKPT_CHANNEL(comm), flag, &lower,
                  &own);
    }
    if (code != MPI_SUCCESS || !*flag) {
        return code;
    }
    if (status != MPI_STATUS_IGNORE) {
        own.MPI_ERROR = status->MPI_ERROR;
        *status = own;
    }
    if (lower == CKPT_LOWER(MPI_MESSAGE_NO_PROC) && entry == NULL) {
        *message_p = MPI_MESSAGE_NO_PROC;
        return MPI_SUCCESS;
    }
    message = message_new(comm, lower, entry, &own, site);
    if (message == NULL) {
        return MPI_ERR_NO_MEM;
    }
    *message_p = message;
    return MPI_SUCCESS;
}

int PMPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag,
                MPI_Status *status)
{
    int code;

    if (!ckpt_communicator_valid(comm)) {
        return ckpt_error(NULL, MPI_ERR_COMM, "MPI_Iprobe");
    }
    ckpt_begin();
    code = probe_once(source, tag, comm, flag, status);
    if (__builtin_expect(ckpt_pending, 0)) {
        *flag ? ckpt_poll_succeeded() : ckpt_poll_failed();
    }
    CKPT_RETURN(comm, code, "MPI_Iprobe");
}
CKPT_ALIAS(Iprobe);

int PMPI_Improbe(int source, int tag, MPI_Comm comm, int *flag,
                 MPI_Message *message, MPI_Status *status)
{
    CKPT_REQUIRE(message != NULL, comm, MPI_ERR_REQUEST, "MPI_Improbe");
    int code;

    if (!ckpt_communicator_valid(comm)) {
        return ckpt_error(NULL, MPI_ERR_COMM, "MPI_Improbe");
    }
    ckpt_begin();
    code = match_once(source, tag, comm, flag, message, status, CKPT_SITE);
    if (__builtin_expect(ckpt_pending, 0)) {
        *flag ? ckpt_poll_succeeded() : ckpt_poll_failed();
    }
    CKPT_RETURN(comm, code, "MPI_Improbe");
}
CKPT_ALIAS(Improbe);

int PMPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    int code, flag = 0;

    if (!ckpt_communicator_valid(comm)) {
        return ckpt_error(NULL, MPI_ERR_COMM, "MPI_Probe");
    }
    ckpt_begin();
    for (;;) {
        code = probe_once(source, tag, comm, &flag, status);
        if (flag || code != MPI_SUCCESS) {
            break;
        }
        ckpt_wait_turn();
    }
    ckpt_wait_over();
    CKPT_RETURN(comm, code, "MPI_Probe");
}
CKPT_ALIAS(Probe);

int PMPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message,
                MPI_Status *status)
{
    CKPT_REQUIRE(message != NULL, comm, MPI_ERR_REQUEST, "MPI_Mprobe");
    int code, flag = 0;

    if (!ckpt_communicator_valid(comm)) {
        return ckpt_error(NULL, MPI_ERR_COMM, "MPI_Mprobe");
    }
    ckpt_begin();
    for (;;) {
        code = match_once(source, tag, comm, &flag, message, status, CKPT_SITE);
        if (flag || code != MPI_SUCCESS) {
            break;
        }
        ckpt_wait_turn();
    }
    ckpt_wait_over();
    CKPT_RETURN(comm, code, "MPI_Mprobe");
}
CKPT_ALIAS(Mprobe);

static void message_close(MPI_Message *message_p)
{
    MPI_Message message = *message_p;

    ckpt_drop(message->communicator);
    ckpt_handle_destroy(&message->handle);
    *message_p = MPI_MESSAGE_NULL;
}

/* Receives a matched message with the request, which describes the buffer. */
static int receive_matched(MPI_Request request, MPI_Message message)
{
    int code = MPI_SUCCESS;

    if (message->entry != NULL) {
        ckpt_recording_claim(request, message->entry);
    } else {
        CKPT_INVARIANT(message->handle.lower != NULL);
        CKPT_CALL(code, Imrecv, request->buffer, request->count,
                  CKPT_LOWER(request->datatype),
                  (MPI_Message *)&message->handle.lower,
                  (MPI_Request *)&request->handle.lower);
    }
    return code;
}

int PMPI_Imrecv(void *buffer, int count, MPI_Datatype datatype,
                MPI_Message *message_p, MPI_Request *request_p)
{
    MPI_Message message = *message_p;
    MPI_Comm comm;
    MPI_Request request;
    int code;

    if (message == MPI_MESSAGE_NULL) {
        return ckpt_error(NULL, MPI_ERR_REQUEST, "MPI_Imrecv");
    }
    if (message == MPI_MESSAGE_NO_PROC) {
        *message_p = MPI_MESSAGE_NULL;
        return PMPI_Irecv(buffer, count, datatype, MPI_PROC_NULL, 0,
                          MPI_COMM_SELF, request_p);
    }
    comm = message->communicator;
    CKPT_REQUIRE(ckpt_datatype_valid(datatype), comm, MPI_ERR_TYPE,
                 "MPI_Imrecv");
    ckpt_begin();
    request = ckpt_request_new(CKPT_REQUEST_RECEIVE, "MPI_Imrecv", CKPT_SITE);
    if (request == NULL) {
        CKPT_RETURN(comm, MPI_ERR_NO_MEM, "MPI_Imrecv");
    }
    request->buffer = buffer;
    request->count = count;
    request->datatype = datatype;
    request->communicator = comm;
    ckpt_retain(datatype);
    ckpt_retain(comm);
    code = receive_matched(request, message);
    if (code == MPI_SUCCESS) {
        ckpt_request_activate(request);
        message_close(message_p);
        *request_p = request;
    }
    CKPT_RETURN(comm, code, "MPI_Imrecv");
}
CKPT_ALIAS(Imrecv);

int PMPI_Mrecv(void *buffer, int count, MPI_Datatype datatype,
               MPI_Message *message, MPI_Status *status)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int code = PMPI_Imrecv(buffer, count, datatype, message, &request);

    return code == MPI_SUCCESS ? PMPI_Wait(&request, status) : code;
}
CKPT_ALIAS(Mrecv);
