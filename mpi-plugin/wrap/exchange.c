/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * exchange.c - combined nonblocking send and receive (MPI 4.0, section 3.10):
 * one request that consists of two, which are saved like all others.
 */
#include "base/arena.h"
#include "base/invariant.h"
#include "handles/kinds.h"
#include "handles/request.h"
#include "handles/wrapper.h"

/* One side of the exchange: the message to send, or the one to receive. */
struct half {
    void *buffer;
    int count;
    MPI_Datatype datatype;
    int peer;
    int tag;
};

/* Frees the parts that have not become an exchange. */
static void give_up(MPI_Request request, MPI_Request *receive)
{
    if (*receive != MPI_REQUEST_NULL) {
        (void)PMPI_Cancel(receive);
        (void)PMPI_Request_free(receive);
    }
    ckpt_begin();
    CKPT_INVARIANT(!request->active); /* it has no halves to retire yet */
    ckpt_request_retire(request);
    ckpt_end();
}

/* Starts both sides. packed: memory of `size` bytes, freed at the end, or
 * NULL. */
static int exchange(const struct half *out, const struct half *in, MPI_Comm comm,
                    void *packed, int size, MPI_Request *request_p,
                    const char *name, void *site)
{
    MPI_Request request, send, receive = MPI_REQUEST_NULL;
    int code;

    ckpt_begin();
    request = ckpt_request_new(CKPT_REQUEST_EXCHANGE, name, site);
    ckpt_end();
    CKPT_REQUIRE(request != NULL, comm, MPI_ERR_NO_MEM, name);
    code = PMPI_Irecv(in->buffer, in->count, in->datatype, in->peer, in->tag,
                      comm, &receive);
    if (code == MPI_SUCCESS) {
        code = PMPI_Isend(out->buffer, out->count, out->datatype, out->peer,
                          out->tag, comm, &send);
    }
    if (code != MPI_SUCCESS) {
        give_up(request, &receive);
        return code;
    }
    ckpt_begin();
    request->communicator = comm;
    request->halves[0] = send;
    request->halves[1] = receive;
    request->buffer = packed;
    request->count = size;
    ckpt_request_activate(request);
    *request_p = request;
    CKPT_RETURN(comm, MPI_SUCCESS, name);
}

int PMPI_Isendrecv(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                   int dest, int sendtag, void *recvbuf, int recvcount,
                   MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm,
                   MPI_Request *request)
{
    const struct half out = {(void *)sendbuf, sendcount, sendtype, dest,
                             sendtag};
    const struct half in = {recvbuf, recvcount, recvtype, source, recvtag};

    CKPT_REQUIRE(ckpt_communicator_valid(comm), NULL, MPI_ERR_COMM,
                 "MPI_Isendrecv");
    CKPT_REQUIRE(request != NULL, comm, MPI_ERR_REQUEST, "MPI_Isendrecv");
    return exchange(&out, &in, comm, NULL, 0, request, "MPI_Isendrecv",
                    CKPT_SITE);
}
CKPT_ALIAS(Isendrecv);

/* Packs the buffer into newly allocated memory: *packed, of *size bytes. */
static int pack(const void *buf, int count, MPI_Datatype datatype, MPI_Comm comm,
                void **packed, int *size, int *used)
{
    int code;

    ckpt_begin();
    CKPT_CALL(code, Pack_size, count, CKPT_LOWER(datatype), CKPT_LOWER(comm),
              size);
    if (code == MPI_SUCCESS) {
        *size += 1; /* zero bytes would give no memory */
        *packed = ckpt_memory_alloc((size_t)*size);
        code = *packed == NULL ? MPI_ERR_NO_MEM : MPI_SUCCESS;
    }
    if (code == MPI_SUCCESS) {
        CKPT_CALL(code, Pack, buf, count, CKPT_LOWER(datatype), *packed, *size,
                  used, CKPT_LOWER(comm));
        CKPT_INVARIANT(code != MPI_SUCCESS || (*used >= 0 && *used < *size));
    }
    CKPT_RETURN(comm, code, "MPI_Isendrecv_replace");
}

int PMPI_Isendrecv_replace(void *buf, int count, MPI_Datatype datatype, int dest,
                           int sendtag, int source, int recvtag, MPI_Comm comm,
                           MPI_Request *request)
{
    const struct half in = {buf, count, datatype, source, recvtag};
    struct half out = {NULL, 0, MPI_PACKED, dest, sendtag};
    int code, size = 0;

    CKPT_REQUIRE(ckpt_communicator_valid(comm), NULL, MPI_ERR_COMM,
                 "MPI_Isendrecv_replace");
    CKPT_REQUIRE(request != NULL, comm, MPI_ERR_REQUEST,
                 "MPI_Isendrecv_replace");
    CKPT_REQUIRE(count >= 0, comm, MPI_ERR_COUNT, "MPI_Isendrecv_replace");
    code = pack(buf, count, datatype, comm, &out.buffer, &size, &out.count);
    if (code == MPI_SUCCESS) {
        code = exchange(&out, &in, comm, out.buffer, size, request,
                        "MPI_Isendrecv_replace", CKPT_SITE);
    }
    if (code != MPI_SUCCESS) {
        ckpt_memory_free(out.buffer, (size_t)size);
    }
    return code;
}
CKPT_ALIAS(Isendrecv_replace);
