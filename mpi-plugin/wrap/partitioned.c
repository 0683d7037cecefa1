/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * partitioned.c - partitioned communication (MPI 4.0, chapter 4): the requests
 * exist only in the upper half (cut/messages/partition.h).
 */
#include "wrap/partitioned.h"

#include "base/invariant.h"
#include "cut/messages/partition.h"
#include "handles/communicator.h"
#include "handles/kinds.h"
#include "handles/wrapper.h"

/* Returns the error of wrong arguments, or MPI_SUCCESS. */
static int check(int partitions, MPI_Count count, MPI_Datatype datatype,
                 int peer, int tag, MPI_Comm comm)
{
    if (partitions <= 0) {
        return MPI_ERR_ARG;
    }
    if (count < 0) {
        return MPI_ERR_COUNT;
    }
    if (!ckpt_datatype_valid(datatype)) {
        return MPI_ERR_TYPE;
    }
    if (peer != MPI_PROC_NULL && (peer < 0 || peer >= comm->peers)) {
        return MPI_ERR_RANK;
    }
    if (comm->foreign) {
        return MPI_ERR_UNSUPPORTED_OPERATION; /* not in MPI_COMM_WORLD */
    }
    return tag < 0 ? MPI_ERR_TAG : MPI_SUCCESS;
}

static int initialize(int sends, const void *buffer, int partitions,
                      MPI_Count count, MPI_Datatype datatype, int peer, int tag,
                      MPI_Comm comm, MPI_Info info, MPI_Request *request_p,
                      const char *name, void *site)
{
    MPI_Request request;
    int code;

    CKPT_REQUIRE(ckpt_communicator_valid(comm), NULL, MPI_ERR_COMM, name);
    CKPT_REQUIRE(request_p != NULL, comm, MPI_ERR_REQUEST, name);
    CKPT_REQUIRE(info != NULL, comm, MPI_ERR_INFO, name);
    code = check(partitions, count, datatype, peer, tag, comm);
    CKPT_REQUIRE(code == MPI_SUCCESS, comm, code, name);
    ckpt_begin();
    request = ckpt_request_new(CKPT_REQUEST_PARTITIONED, name, site);
    if (request == NULL) {
        CKPT_RETURN(comm, MPI_ERR_NO_MEM, name);
    }
    request->buffer = (void *)buffer;
    request->datatype = datatype;
    request->peer = peer;
    request->tag = tag;
    request->communicator = comm;
    code = ckpt_partition_describe(request, sends, partitions, count);
    if (code == MPI_SUCCESS) {
        CKPT_INVARIANT(request->partitioned->sends == sends &&
                       request->partitioned->partitions == partitions);
        request->persistent = 1;
        ckpt_retain(datatype);
        ckpt_retain(comm);
        *request_p = request;
    } else {
        ckpt_request_retire(request);
    }
    CKPT_RETURN(comm, code, name);
}

int PMPI_Psend_init(const void *buf, int partitions, MPI_Count count,
                    MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                    MPI_Info info, MPI_Request *request)
{
    return initialize(1, buf, partitions, count, datatype, dest, tag, comm, info,
                      request, "MPI_Psend_init", CKPT_SITE);
}
CKPT_ALIAS(Psend_init);

int PMPI_Precv_init(void *buf, int partitions, MPI_Count count,
                    MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                    MPI_Info info, MPI_Request *request)
{
    return initialize(0, buf, partitions, count, datatype, source, tag, comm,
                      info, request, "MPI_Precv_init", CKPT_SITE);
}
CKPT_ALIAS(Precv_init);

int ckpt_partitioned_free(MPI_Request *request_p)
{
    MPI_Request request = *request_p;

    if (request->active && !ckpt_request_progress(request)) {
        return MPI_ERR_REQUEST; /* MPI 4.0, section 4.2 */
    }
    CKPT_INVARIANT(request->handle.lower == NULL); /* it exists in the upper half only */
    ckpt_request_retire(request);
    ckpt_partition_forget(request);
    ckpt_drop(request->datatype);
    ckpt_drop(request->communicator);
    request->persistent = 0;
    ckpt_request_retire(request);
    *request_p = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}

static int is_partitioned(MPI_Request request, int sends)
{
    return request != NULL && request != MPI_REQUEST_NULL &&
           request->persistent &&
           request->request_kind == CKPT_REQUEST_PARTITIONED &&
           request->partitioned->sends == sends;
}

#define REQUIRE_STARTED(request, name)                                    \
    CKPT_REQUIRE(is_partitioned((request), 1) && (request)->active, NULL, \
                 MPI_ERR_REQUEST, (name))

int PMPI_Pready(int partition, MPI_Request request)
{
    int code;

    REQUIRE_STARTED(request, "MPI_Pready");
    ckpt_begin();
    code = ckpt_partition_ready(request, partition);
    CKPT_RETURN(request->communicator, code, "MPI_Pready");
}
CKPT_ALIAS(Pready);

int PMPI_Pready_range(int partition_low, int partition_high, MPI_Request request)
{
    int code = MPI_SUCCESS;

    REQUIRE_STARTED(request, "MPI_Pready_range");
    ckpt_begin();
    for (int i = partition_low; i <= partition_high && code == MPI_SUCCESS; i++) {
        code = ckpt_partition_ready(request, i);
    }
    CKPT_RETURN(request->communicator, code, "MPI_Pready_range");
}
CKPT_ALIAS(Pready_range);

int PMPI_Pready_list(int length, int partition_list[], MPI_Request request)
{
    int code = MPI_SUCCESS;

    REQUIRE_STARTED(request, "MPI_Pready_list");
    CKPT_REQUIRE(length <= 0 || partition_list != NULL, request->communicator,
                 MPI_ERR_ARG, "MPI_Pready_list");
    ckpt_begin();
    for (int i = 0; i < length && code == MPI_SUCCESS; i++) {
        code = ckpt_partition_ready(request, partition_list[i]);
    }
    CKPT_RETURN(request->communicator, code, "MPI_Pready_list");
}
CKPT_ALIAS(Pready_list);

int PMPI_Parrived(MPI_Request request, int partition, int *flag)
{
    const struct ckpt_partitioned *whole;

    CKPT_REQUIRE(request != NULL, NULL, MPI_ERR_REQUEST, "MPI_Parrived");
    CKPT_REQUIRE(flag != NULL, NULL, MPI_ERR_ARG, "MPI_Parrived");
    *flag = 1;
    if (request == MPI_REQUEST_NULL || !request->active) {
        return MPI_SUCCESS;
    }
    CKPT_REQUIRE(is_partitioned(request, 0), NULL, MPI_ERR_REQUEST,
                 "MPI_Parrived");
    whole = request->partitioned;
    CKPT_REQUIRE(partition >= 0 && partition < whole->partitions,
                 request->communicator, MPI_ERR_ARG, "MPI_Parrived");
    ckpt_begin();
    *flag = ckpt_request_progress(request) ||
            whole->filled[partition] == whole->size;
    if (__builtin_expect(ckpt_pending, 0)) {
        *flag ? ckpt_poll_succeeded() : ckpt_poll_failed();
    }
    CKPT_RETURN(request->communicator, MPI_SUCCESS, "MPI_Parrived");
}
CKPT_ALIAS(Parrived);
