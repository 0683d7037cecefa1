/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * point_to_point.c - sends and receives (MPI 3.1, chapter 3).
 *
 * A blocking call is a nonblocking one and a wait loop in the lower half, in one
 * crossing, so a waiting rank can be checkpointed. Every message is counted: at the
 * sender when it is sent, and at the receiver when it has arrived or was logged.
 */
#include "base/invariant.h"
#include "cut/collectives/deferred_completion.h"
#include "cut/messages/message.h"
#include "cut/messages/partition.h"
#include "cut/messages/synchronous_send.h"
#include "handles/buffer.h"
#include "handles/channels.h"
#include "handles/kinds.h"
#include "handles/message_log.h"
#include "handles/request.h"
#include "handles/wrapper.h"
#include "wrap/persistent.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#define LARGE_SIZE (INT_MAX - 4096) /* bytes; MPI_Pack may add a header */

#define LIKELY(x) __builtin_expect(!!(x), 1)

static inline void give_status(MPI_Status *to, const MPI_Status *from)
{
    if (to != MPI_STATUS_IGNORE) {
        int error = to->MPI_ERROR; /* not set in a single completion */

        *to = *from;
        to->MPI_ERROR = error;
    }
}

/* Turns an interrupted blocking call into a request on the stack. */
static void suspended(MPI_Request request, enum ckpt_request_kind kind,
                      void *lower, MPI_Comm comm, const char *creator)
{
    *request = (struct ompi_request_t){
        .handle = {.lower = lower, .kind = CKPT_REQUEST, .creator = creator},
        .request_kind = kind,
        .communicator = comm,
        .persistent = 1, /* on the stack, not in the free list */
    };
    ckpt_request_activate(request);
}

static int finish_send(void *lower, int peer, int tag, MPI_Comm comm,
                       int synchronous, const char *creator)
{
    struct ompi_request_t request;
    int code;

    CKPT_INVARIANT(lower != NULL);
    ckpt_state = CKPT_STATE_CRITICAL;
    suspended(&request, CKPT_REQUEST_SEND, lower, comm, creator);
    if (synchronous) {
        request.mode = CKPT_SEND_SYNCHRONOUS;
        request.peer = peer;
        request.tag = tag;
        ckpt_synchronous_started(&request);
    }
    code = ckpt_request_wait(&request);
    ckpt_request_retire(&request);
    CKPT_INVARIANT(!request.active); /* not in the live list: it is on this stack */
    return code;
}

/* Runs a blocking synchronous send whose completion may have to be deferred. */
static int send_watched(const void *buffer, int count, MPI_Datatype datatype,
                        int peer, int tag, MPI_Comm comm, const char *creator)
{
    MPI_Request lower;
    int code;

    CKPT_CALL(code, Issend, buffer, count, CKPT_LOWER(datatype), peer, tag,
              CKPT_CHANNEL(comm), &lower);
    if (code != MPI_SUCCESS) {
        return code;
    }
    ckpt_count_sent(comm, peer, tag);
    return finish_send(lower, peer, tag, comm, 1, creator);
}

static int finish_receive(void *buffer, int count, MPI_Datatype datatype,
                          int source, int tag, MPI_Comm comm, void *lower,
                          MPI_Status *status, const char *creator)
{
    struct ompi_request_t request;
    int code;

    ckpt_state = CKPT_STATE_CRITICAL;
    suspended(&request, CKPT_REQUEST_RECEIVE, lower, comm, creator);
    request.buffer = buffer;
    request.count = count;
    request.datatype = datatype;
    request.peer = source;
    request.tag = tag;
    code = ckpt_request_wait(&request);
    give_status(status, &request.status);
    ckpt_request_retire(&request);
    CKPT_INVARIANT(!request.active); /* as above */
    return code;
}

/* Before the first synchronous send, tells the other ranks that they may get
 * questions. */
static inline __attribute__((always_inline)) void announce_if(int synchronous)
{
    if (synchronous && !LIKELY(ckpt_synchronous_used)) {
        ckpt_defer_synchronous();
    }
}

static inline __attribute__((always_inline)) int
blocking_send(const void *buffer, int count, MPI_Datatype datatype, int peer,
              int tag, MPI_Comm comm, int synchronous, const char *name)
{
    void *lower = NULL;
    uintptr_t upper;
    int code;

    if (!LIKELY(ckpt_communicator_valid(comm))) {
        return ckpt_error(NULL, MPI_ERR_COMM, name);
    }
    announce_if(synchronous);
    ckpt_begin();
    if (synchronous && !LIKELY(ckpt_pending == 0) && ckpt_deferral_is_due()) {
        code = send_watched(buffer, count, datatype, peer, tag, comm, name);
        CKPT_RETURN(comm, code, name);
    }
    ckpt_state = CKPT_STATE_WAITING;
    ckpt_count_sent(comm, peer, tag);
    upper = ckpt_enter();
    code = (synchronous ? ckpt_lower.ssend : ckpt_lower.send)(
        buffer, count, CKPT_LOWER(datatype), peer, tag, CKPT_CHANNEL(comm),
        &lower);
    ckpt_leave(upper);
    if (!LIKELY(code == MPI_SUCCESS)) {
        if (code == CKPT_INTERRUPTED) {
            code = finish_send(lower, peer, tag, comm, synchronous, name);
        } else if ((unsigned)peer < (unsigned)comm->peers) {
            CKPT_INVARIANT(comm->sent[peer] > 0);
            comm->sent[peer]--; /* it was not sent */
        }
    }
    CKPT_RETURN(comm, code, name);
}

int PMPI_Send(const void *buffer, int count, MPI_Datatype datatype, int dest,
              int tag, MPI_Comm comm)
{
    return blocking_send(buffer, count, datatype, dest, tag, comm, 0,
                         "MPI_Send");
}
CKPT_ALIAS(Send);

int PMPI_Ssend(const void *buffer, int count, MPI_Datatype datatype, int dest,
               int tag, MPI_Comm comm)
{
    return blocking_send(buffer, count, datatype, dest, tag, comm, 1,
                         "MPI_Ssend");
}
CKPT_ALIAS(Ssend);

/* A ready send is a permission for the library, not a duty. A standard send is a correct
 * implementation, also when a restart has posted the receive again. */
int PMPI_Rsend(const void *buffer, int count, MPI_Datatype datatype, int dest,
               int tag, MPI_Comm comm)
{
    return blocking_send(buffer, count, datatype, dest, tag, comm, 0,
                         "MPI_Rsend");
}
CKPT_ALIAS(Rsend);

int PMPI_Bsend(const void *buffer, int count, MPI_Datatype datatype, int dest,
               int tag, MPI_Comm comm)
{
    int code;

    if (!LIKELY(ckpt_communicator_valid(comm))) {
        return ckpt_error(NULL, MPI_ERR_COMM, "MPI_Bsend");
    }
    ckpt_begin();
    CKPT_CALL(code, Bsend, buffer, count, CKPT_LOWER(datatype), dest, tag,
              CKPT_CHANNEL(comm));
    if (code == MPI_SUCCESS) {
        ckpt_count_sent(comm, dest, tag);
    }
    CKPT_RETURN(comm, code, "MPI_Bsend");
}
CKPT_ALIAS(Bsend);

/* Receives on an open rank. The lower half does not see the call, so the arguments are
 * checked here. */
static int receive_held(void *buffer, int count, MPI_Datatype datatype,
                        int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    int code = ckpt_check_arguments(CKPT_REQUEST_RECEIVE, buffer, count, datatype,
                                    source, tag, comm, 0);

    return code != MPI_SUCCESS ? code
                               : finish_receive(buffer, count, datatype, source,
                                                tag, comm, NULL, status,
                                                "MPI_Recv");
}

int PMPI_Recv(void *buffer, int count, MPI_Datatype datatype, int source,
              int tag, MPI_Comm comm, MPI_Status *status)
{
    struct ckpt_log_entry *entry;
    void *lower = NULL;
    MPI_Status unwanted;
    uintptr_t upper;
    int code, error;

    if (!LIKELY(ckpt_communicator_valid(comm))) {
        return ckpt_error(NULL, MPI_ERR_COMM, "MPI_Recv");
    }
    if (status == MPI_STATUS_IGNORE) {
        unwanted.MPI_ERROR = MPI_SUCCESS;
        status = &unwanted;
    }
    error = status->MPI_ERROR; /* not set in a single completion */
    ckpt_begin();
    if (!LIKELY(ckpt_rank_cut_open == 0) && source != MPI_PROC_NULL) {
        code = receive_held(buffer, count, datatype, source, tag, comm, status);
        status->MPI_ERROR = error;
        CKPT_RETURN(comm, code, "MPI_Recv");
    }
    if (!LIKELY(comm->log_first == NULL) &&
        (entry = ckpt_log_match(comm, source, tag)) != NULL) {
        ckpt_log_take(comm, entry);
        code = ckpt_log_deliver(entry, buffer, count, datatype, status);
        status->MPI_ERROR = error;
        CKPT_RETURN(comm, code, "MPI_Recv");
    }
    ckpt_state = CKPT_STATE_WAITING;
    upper = ckpt_enter();
    code = ckpt_lower.receive(buffer, count, CKPT_LOWER(datatype), source, tag,
                              CKPT_CHANNEL(comm), status, &lower);
    ckpt_leave(upper);
    status->MPI_ERROR = error;
    if (LIKELY(code == MPI_SUCCESS) || code == MPI_ERR_TRUNCATE) {
        ckpt_count_received(comm, status); /* a truncated message was consumed all the same */
    } else if (code == CKPT_INTERRUPTED) {
        code = finish_receive(buffer, count, datatype, source, tag, comm, lower,
                              status, "MPI_Recv");
    }
    CKPT_RETURN(comm, code, "MPI_Recv");
}
CKPT_ALIAS(Recv);

/* Returns a request object for the arguments of a nonblocking or persistent call. */
static inline MPI_Request describe(enum ckpt_request_kind kind, void *buffer,
                                   int count, MPI_Datatype datatype, int peer,
                                   int tag, MPI_Comm comm, int mode,
                                   const char *creator, void *site)
{
    MPI_Request request = ckpt_request_new(kind, creator, site);

    if (LIKELY(request != NULL)) {
        request->buffer = buffer;
        request->count = count;
        request->datatype = datatype;
        request->peer = peer;
        request->tag = tag;
        request->communicator = comm;
        request->mode = (uint32_t)mode;
    }
    return request;
}

static inline __attribute__((always_inline)) int
nonblocking(enum ckpt_request_kind kind, const void *buffer, int count,
            MPI_Datatype datatype, int peer, int tag, MPI_Comm comm, int mode,
            MPI_Request *request_p, const char *name, void *site)
{
    MPI_Request request;
    int code;

    if (!LIKELY(ckpt_communicator_valid(comm))) {
        return ckpt_error(NULL, MPI_ERR_COMM, name);
    }
    CKPT_REQUIRE(request_p != NULL, comm, MPI_ERR_REQUEST, name);
    announce_if(mode == CKPT_SEND_SYNCHRONOUS);
    ckpt_begin();
    request = describe(kind, (void *)buffer, count, datatype, peer, tag, comm,
                       mode, name, site);
    if (!LIKELY(request != NULL)) {
        CKPT_RETURN(comm, MPI_ERR_NO_MEM, name);
    }
    code = kind == CKPT_REQUEST_SEND ? ckpt_send_start(request)
                                     : ckpt_receive_start(request);
    if (LIKELY(code == MPI_SUCCESS)) {
        *request_p = request;
    } else {
        ckpt_request_retire(request);
    }
    CKPT_RETURN(comm, code, name);
}

int PMPI_Isend(const void *buffer, int count, MPI_Datatype datatype, int dest,
               int tag, MPI_Comm comm, MPI_Request *request)
{
    return nonblocking(CKPT_REQUEST_SEND, buffer, count, datatype, dest, tag,
                       comm, CKPT_SEND_STANDARD, request, "MPI_Isend",
                       CKPT_SITE);
}
CKPT_ALIAS(Isend);

int PMPI_Ibsend(const void *buffer, int count, MPI_Datatype datatype, int dest,
                int tag, MPI_Comm comm, MPI_Request *request)
{
    return nonblocking(CKPT_REQUEST_SEND, buffer, count, datatype, dest, tag,
                       comm, CKPT_SEND_BUFFERED, request, "MPI_Ibsend",
                       CKPT_SITE);
}
CKPT_ALIAS(Ibsend);

int PMPI_Issend(const void *buffer, int count, MPI_Datatype datatype, int dest,
                int tag, MPI_Comm comm, MPI_Request *request)
{
    return nonblocking(CKPT_REQUEST_SEND, buffer, count, datatype, dest, tag,
                       comm, CKPT_SEND_SYNCHRONOUS, request, "MPI_Issend",
                       CKPT_SITE);
}
CKPT_ALIAS(Issend);

int PMPI_Irsend(const void *buffer, int count, MPI_Datatype datatype, int dest,
                int tag, MPI_Comm comm, MPI_Request *request)
{
    return nonblocking(CKPT_REQUEST_SEND, buffer, count, datatype, dest, tag,
                       comm, CKPT_SEND_STANDARD, request, "MPI_Irsend",
                       CKPT_SITE);
}
CKPT_ALIAS(Irsend);

int PMPI_Irecv(void *buffer, int count, MPI_Datatype datatype, int source,
               int tag, MPI_Comm comm, MPI_Request *request)
{
    return nonblocking(CKPT_REQUEST_RECEIVE, buffer, count, datatype, source,
                       tag, comm, 0, request, "MPI_Irecv", CKPT_SITE);
}
CKPT_ALIAS(Irecv);

/* Persistent requests exist in the upper half: starting one is a nonblocking call with
 * the kept arguments (MPI 3.1, section 3.9). */

static int persistent(enum ckpt_request_kind kind, const void *buffer, int count,
                      MPI_Datatype datatype, int peer, int tag, MPI_Comm comm,
                      int mode, MPI_Request *request_p, const char *name,
                      void *site)
{
    MPI_Request request;

    int code;

    if (!ckpt_communicator_valid(comm)) {
        return ckpt_error(NULL, MPI_ERR_COMM, name);
    }
    CKPT_REQUIRE(request_p != NULL, comm, MPI_ERR_REQUEST, name);
    CKPT_REQUIRE(datatype != NULL, comm, MPI_ERR_TYPE, name);
    announce_if(mode == CKPT_SEND_SYNCHRONOUS);
    ckpt_begin();
    code = ckpt_check_arguments(kind, buffer, count, datatype, peer, tag, comm, mode);
    if (code != MPI_SUCCESS) {
        CKPT_RETURN(comm, code, name);
    }
    request = describe(kind, (void *)buffer, count, datatype, peer, tag, comm,
                       mode, name, site);
    if (request == NULL) {
        CKPT_RETURN(comm, MPI_ERR_NO_MEM, name);
    }
    request->persistent = 1;
    ckpt_retain(datatype);
    ckpt_retain(comm);
    *request_p = request;
    CKPT_RETURN(comm, MPI_SUCCESS, name);
}

int PMPI_Send_init(const void *buffer, int count, MPI_Datatype datatype,
                   int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
    return persistent(CKPT_REQUEST_SEND, buffer, count, datatype, dest, tag,
                      comm, CKPT_SEND_STANDARD, request, "MPI_Send_init",
                      CKPT_SITE);
}
CKPT_ALIAS(Send_init);

int PMPI_Bsend_init(const void *buffer, int count, MPI_Datatype datatype,
                    int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
    return persistent(CKPT_REQUEST_SEND, buffer, count, datatype, dest, tag,
                      comm, CKPT_SEND_BUFFERED, request, "MPI_Bsend_init",
                      CKPT_SITE);
}
CKPT_ALIAS(Bsend_init);

int PMPI_Ssend_init(const void *buffer, int count, MPI_Datatype datatype,
                    int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
    return persistent(CKPT_REQUEST_SEND, buffer, count, datatype, dest, tag,
                      comm, CKPT_SEND_SYNCHRONOUS, request, "MPI_Ssend_init",
                      CKPT_SITE);
}
CKPT_ALIAS(Ssend_init);

int PMPI_Rsend_init(const void *buffer, int count, MPI_Datatype datatype,
                    int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
    return persistent(CKPT_REQUEST_SEND, buffer, count, datatype, dest, tag,
                      comm, CKPT_SEND_READY, request, "MPI_Rsend_init",
                      CKPT_SITE);
}
CKPT_ALIAS(Rsend_init);

int PMPI_Recv_init(void *buffer, int count, MPI_Datatype datatype, int source,
                   int tag, MPI_Comm comm, MPI_Request *request)
{
    return persistent(CKPT_REQUEST_RECEIVE, buffer, count, datatype, source,
                      tag, comm, 0, request, "MPI_Recv_init", CKPT_SITE);
}
CKPT_ALIAS(Recv_init);

static int start(MPI_Request request)
{
    if (request == MPI_REQUEST_NULL || !request->persistent || request->active) {
        return MPI_ERR_REQUEST;
    }
    if (request->request_kind == CKPT_REQUEST_COLLECTIVE) {
        return ckpt_persistent_start(request);
    }
    if (request->request_kind == CKPT_REQUEST_PARTITIONED) {
        ckpt_partition_start(request);
        return MPI_SUCCESS;
    }
    return ckpt_message_start(request);
}

int PMPI_Start(MPI_Request *request)
{
    CKPT_REQUIRE(request != NULL, NULL, MPI_ERR_REQUEST, "MPI_Start");
    int code;

    ckpt_begin();
    code = start(*request);
    CKPT_RETURN(NULL, code, "MPI_Start");
}
CKPT_ALIAS(Start);

int PMPI_Startall(int count, MPI_Request requests[])
{
    CKPT_REQUIRE(count == 0 || ckpt_requests_valid(count, requests), NULL,
                 MPI_ERR_REQUEST, "MPI_Startall");
    CKPT_REQUIRE(count >= 0, NULL, MPI_ERR_ARG, "MPI_Startall");
    int code = MPI_SUCCESS;

    ckpt_begin();
    for (int i = 0; i < count && code == MPI_SUCCESS; i++) {
        code = start(requests[i]);
    }
    CKPT_RETURN(NULL, code, "MPI_Startall");
}
CKPT_ALIAS(Startall);

/* Sends and receives at once, with two requests on the stack. */
static int exchange(const void *out, int out_count, MPI_Datatype out_type,
                    int dest, int out_tag, void *in, int in_count,
                    MPI_Datatype in_type, int source, int in_tag, MPI_Comm comm,
                    MPI_Status *status, const char *name)
{
    struct ompi_request_t receive = {
        .handle = {.kind = CKPT_REQUEST, .creator = name},
        .request_kind = CKPT_REQUEST_RECEIVE,
        .persistent = 1,
        .buffer = in,
        .count = in_count,
        .datatype = in_type,
        .peer = source,
        .tag = in_tag,
        .communicator = comm,
    };
    struct ompi_request_t send = {
        .handle = {.kind = CKPT_REQUEST, .creator = name},
        .request_kind = CKPT_REQUEST_SEND,
        .persistent = 1,
        .buffer = (void *)out,
        .count = out_count,
        .datatype = out_type,
        .peer = dest,
        .tag = out_tag,
        .communicator = comm,
    };
    int code, send_code;

    code = ckpt_receive_start(&receive);
    if (code != MPI_SUCCESS) {
        return code;
    }
    send_code = ckpt_send_start(&send);
    if (send_code == MPI_SUCCESS) {
        send_code = ckpt_request_wait(&send);
        ckpt_request_retire(&send);
    } else if (receive.handle.lower != NULL) {
        CKPT_CALL(code, Cancel, (MPI_Request *)&receive.handle.lower);
    }
    code = ckpt_request_wait(&receive);
    give_status(status, &receive.status);
    ckpt_request_retire(&receive);
    return send_code == MPI_SUCCESS ? code : send_code;
}

int PMPI_Sendrecv(const void *out, int out_count, MPI_Datatype out_type,
                  int dest, int out_tag, void *in, int in_count,
                  MPI_Datatype in_type, int source, int in_tag, MPI_Comm comm,
                  MPI_Status *status)
{
    int code;

    if (!LIKELY(ckpt_communicator_valid(comm))) {
        return ckpt_error(NULL, MPI_ERR_COMM, "MPI_Sendrecv");
    }
    ckpt_begin();
    code = exchange(out, out_count, out_type, dest, out_tag, in, in_count,
                    in_type, source, in_tag, comm, status, "MPI_Sendrecv");
    CKPT_RETURN(comm, code, "MPI_Sendrecv");
}
CKPT_ALIAS(Sendrecv);

/* Makes a type of `size` bytes, for the application's side of a call. */
static int make_byte_type(size_t size, MPI_Datatype *type)
{
    const size_t block_size = (size_t)1 << 30;
    const int lengths[] = {(int)(size / block_size), (int)(size % block_size)};
    const MPI_Aint places[] = {0, (MPI_Aint)(size - size % block_size)};
    MPI_Datatype types[] = {MPI_DATATYPE_NULL, MPI_BYTE};
    int freed, code = PMPI_Type_contiguous((int)block_size, MPI_BYTE, &types[0]);

    if (code == MPI_SUCCESS) {
        code = PMPI_Type_create_struct(2, lengths, places, types, type);
        freed = PMPI_Type_free(&types[0]);
        code = code == MPI_SUCCESS ? freed : code;
    }
    return code == MPI_SUCCESS ? PMPI_Type_commit(type) : code;
}

/* MPI_Sendrecv_replace of more bytes than MPI_Pack can count: they travel as one element.
 * A message contains the same bytes whatever type describes them. */
static int replace_large(void *buffer, int count, MPI_Datatype datatype, size_t size,
                         int dest, int out_tag, int source, int in_tag,
                         MPI_Comm comm, MPI_Status *status)
{
    const MPI_Status whole = {._ucount = size};
    struct ckpt_log_entry *packed;
    MPI_Datatype type;
    int error, freed, code = make_byte_type(size, &type);

    if (code != MPI_SUCCESS) {
        return code;
    }
    ckpt_begin();
    error = ckpt_log_collect(buffer, count, datatype, &whole, &packed);
    if (error != 0) {
        code = error == -ENOMEM ? MPI_ERR_NO_MEM : MPI_ERR_INTERN;
    } else {
        CKPT_INVARIANT(packed->size == size);
        code = exchange(packed->data, 1, type, dest, out_tag, buffer, count,
                        datatype, source, in_tag, comm, status,
                        "MPI_Sendrecv_replace");
        ckpt_log_free(packed);
    }
    ckpt_end();
    freed = PMPI_Type_free(&type);
    return code == MPI_SUCCESS ? freed : code;
}

int PMPI_Sendrecv_replace(void *buffer, int count, MPI_Datatype datatype,
                          int dest, int out_tag, int source, int in_tag,
                          MPI_Comm comm, MPI_Status *status)
{
    int code, size = 0, position = 0;
    MPI_Count element = 0;
    char *packed;

    if (!LIKELY(ckpt_communicator_valid(comm))) {
        return ckpt_error(NULL, MPI_ERR_COMM, "MPI_Sendrecv_replace");
    }
    CKPT_REQUIRE(count >= 0, comm, MPI_ERR_COUNT, "MPI_Sendrecv_replace");
    ckpt_begin();
    CKPT_CALL(code, Type_size_x, CKPT_LOWER(datatype), &element);
    if (code == MPI_SUCCESS && dest != MPI_PROC_NULL &&
        (size_t)element * (size_t)count > LARGE_SIZE) {
        ckpt_end();
        code = replace_large(buffer, count, datatype,
                             (size_t)element * (size_t)count, dest, out_tag,
                             source, in_tag, comm, status);
        return code == MPI_SUCCESS ? code
                                   : ckpt_error(comm, code, "MPI_Sendrecv_replace");
    }
    CKPT_CALL(code, Pack_size, count, CKPT_LOWER(datatype), CKPT_LOWER(comm),
              &size);
    packed = malloc((size_t)size + 1);
    if (code == MPI_SUCCESS && packed == NULL) {
        code = MPI_ERR_NO_MEM;
    }
    if (code == MPI_SUCCESS && dest != MPI_PROC_NULL) {
        CKPT_CALL(code, Pack, buffer, count, CKPT_LOWER(datatype), packed, size,
                  &position, CKPT_LOWER(comm));
        CKPT_INVARIANT(code != MPI_SUCCESS || (position >= 0 && position <= size));
    }
    if (code == MPI_SUCCESS) {
        code = exchange(packed, position, MPI_PACKED, dest, out_tag, buffer,
                        count, datatype, source, in_tag, comm, status,
                        "MPI_Sendrecv_replace");
    }
    free(packed);
    CKPT_RETURN(comm, code, "MPI_Sendrecv_replace");
}
CKPT_ALIAS(Sendrecv_replace);

int PMPI_Buffer_attach(void *buffer, int size)
{
    int code;

    ckpt_begin();
    code = ckpt_buffer_attach(buffer, size);
    CKPT_RETURN(NULL, code, "MPI_Buffer_attach");
}
CKPT_ALIAS(Buffer_attach);

int PMPI_Buffer_detach(void *buffer, int *size)
{
    int code;

    ckpt_begin();
    code = ckpt_buffer_detach(buffer, size);
    CKPT_RETURN(NULL, code, "MPI_Buffer_detach");
}
CKPT_ALIAS(Buffer_detach);
