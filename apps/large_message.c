/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * large_message.c KIND BYTES - one message of BYTES bytes, which is under way until the file "go"
 * exists.
 *
 * KIND selects how rank 0 sends. Rank 1 calls no function of MPI until it finds the file, unless
 * KIND begins the receive before. Then it receives the message, and compares some of its bytes.
 * Both ranks print a line when they have begun, and go on until the file "end" exists.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if MPI_VERSION < 4 /* ckpt adds it to an older library */
int MPI_Psend_init(const void *buffer, int partitions, MPI_Count count, MPI_Datatype datatype,
                   int destination, int tag, MPI_Comm comm, MPI_Info info,
                   MPI_Request *request) __attribute__((weak));
int MPI_Precv_init(void *buffer, int partitions, MPI_Count count, MPI_Datatype datatype,
                   int source, int tag, MPI_Comm comm, MPI_Info info, MPI_Request *request)
    __attribute__((weak));
int MPI_Pready(int partition, MPI_Request request) __attribute__((weak));
#endif

/* The distance in bytes between compared bytes. */
#define STEP 4096
#define TAG  5

struct transfer {
    const char *kind;
    size_t size;
    char *data;
    int rank;
};

static char stamp(size_t at)
{
    return (char)(at / STEP * 7 + 1);
}

static void fill(const struct transfer *transfer)
{
    for (size_t at = 0; at < transfer->size; at += STEP) {
        transfer->data[at] = stamp(at);
    }
    transfer->data[transfer->size - 1] = 'e';
}

static size_t wrong_bytes(const struct transfer *transfer)
{
    size_t wrong = transfer->data[transfer->size - 1] != 'e';

    for (size_t at = 0; at + 1 < transfer->size; at += STEP) {
        wrong += transfer->data[at] != stamp(at);
    }
    return wrong;
}

static int is(const struct transfer *transfer, const char *kind)
{
    return strcmp(transfer->kind, kind) == 0;
}

static void wait_for_file(void)
{
    while (access("go", F_OK) != 0) {
        usleep(1000);
    }
}

/* Rank 1 checks for the file "end" on behalf of both ranks. */
static void go_on(const struct transfer *transfer)
{
    int is_over = 0;

    while (!is_over) {
        is_over = transfer->rank == 1 && access("end", F_OK) == 0;
        MPI_Bcast(&is_over, 1, MPI_INT, 1, MPI_COMM_WORLD);
        usleep(1000);
    }
}

static void begun(const struct transfer *transfer)
{
    printf("begun %d\n", transfer->rank);
    fflush(stdout);
}

/* Pairs, because their number fits into an int. */
static int pairs(const struct transfer *transfer)
{
    return (int)(transfer->size / sizeof(uint16_t));
}

static void send_by_request(const struct transfer *transfer)
{
    const int count = pairs(transfer);
    MPI_Request request;

    if (is(transfer, "nonblocking")) {
        MPI_Isend(transfer->data, count, MPI_UINT16_T, 1, TAG, MPI_COMM_WORLD, &request);
    } else if (is(transfer, "partitioned")) {
        MPI_Psend_init(transfer->data, 1, count, MPI_UINT16_T, 1, TAG, MPI_COMM_WORLD,
                       MPI_INFO_NULL, &request);
        MPI_Start(&request);
        MPI_Pready(0, request);
    } else {
        MPI_Send_init(transfer->data, count, MPI_UINT16_T, 1, TAG, MPI_COMM_WORLD, &request);
        MPI_Start(&request);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (request != MPI_REQUEST_NULL) {
        MPI_Request_free(&request);
    }
}

static void send(const struct transfer *transfer)
{
    const int count = pairs(transfer);

    begun(transfer);
    if (is(transfer, "standard") || is(transfer, "probed") || is(transfer, "posted")) {
        MPI_Send(transfer->data, count, MPI_UINT16_T, 1, TAG, MPI_COMM_WORLD);
    } else if (is(transfer, "synchronous")) {
        MPI_Ssend(transfer->data, count, MPI_UINT16_T, 1, TAG, MPI_COMM_WORLD);
    } else if (is(transfer, "exchanged")) {
        MPI_Sendrecv(transfer->data, count, MPI_UINT16_T, 1, TAG, NULL, 0, MPI_BYTE, 1, TAG,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        send_by_request(transfer);
    }
}

static void receive_by_message(const struct transfer *transfer, MPI_Status *status)
{
    MPI_Message message;

    MPI_Mprobe(0, TAG, MPI_COMM_WORLD, &message, status);
    begun(transfer);
    wait_for_file();
    MPI_Mrecv(transfer->data, pairs(transfer), MPI_UINT16_T, &message, status);
}

static void receive_by_request(const struct transfer *transfer, MPI_Status *status)
{
    const int count = pairs(transfer);
    MPI_Request request;

    if (is(transfer, "partitioned")) {
        MPI_Precv_init(transfer->data, 1, count, MPI_UINT16_T, 0, TAG, MPI_COMM_WORLD,
                       MPI_INFO_NULL, &request);
        MPI_Start(&request);
    } else {
        MPI_Irecv(transfer->data, count, MPI_UINT16_T, 0, TAG, MPI_COMM_WORLD, &request);
    }
    begun(transfer);
    wait_for_file();
    MPI_Wait(&request, status);
    if (request != MPI_REQUEST_NULL) {
        MPI_Request_free(&request);
    }
}

static void receive(const struct transfer *transfer)
{
    MPI_Status status;
    MPI_Count elements = 0;

    if (is(transfer, "probed")) {
        receive_by_message(transfer, &status);
    } else if (is(transfer, "posted") || is(transfer, "partitioned")) {
        receive_by_request(transfer, &status);
    } else {
        begun(transfer);
        wait_for_file();
        if (is(transfer, "exchanged")) {
            MPI_Sendrecv(NULL, 0, MPI_BYTE, 0, TAG, transfer->data, pairs(transfer),
                         MPI_UINT16_T, 0, TAG, MPI_COMM_WORLD, &status);
        } else {
            MPI_Recv(transfer->data, pairs(transfer), MPI_UINT16_T, 0, TAG, MPI_COMM_WORLD,
                     &status);
        }
    }
    MPI_Get_elements_x(&status, MPI_UINT16_T, &elements);
    printf("%s %lld elements, %zu wrong\n",
           wrong_bytes(transfer) == 0 && elements == pairs(transfer) ? "OK" : "WRONG",
           (long long)elements, wrong_bytes(transfer));
}

/* Both ranks send to each other and replace their data. */
static void replace(const struct transfer *transfer)
{
    const int other = 1 - transfer->rank;

    fill(transfer);
    begun(transfer);
    if (transfer->rank == 1) {
        wait_for_file();
    }
    MPI_Sendrecv_replace(transfer->data, pairs(transfer), MPI_UINT16_T, other, TAG, other, TAG,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (transfer->rank == 1) {
        printf("%s %d elements, %zu wrong\n", wrong_bytes(transfer) == 0 ? "OK" : "WRONG",
               pairs(transfer), wrong_bytes(transfer));
    }
}

int main(int argc, char **argv)
{
    struct transfer transfer = {.kind = argc > 1 ? argv[1] : "standard",
                                .size = argc > 2 ? strtoull(argv[2], NULL, 10) : 4000};

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &transfer.rank);
    transfer.data = calloc(transfer.size, 1);
    if (transfer.data == NULL) {
        fprintf(stderr, "large_message: no memory\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (is(&transfer, "replaced")) {
        replace(&transfer);
    } else if (transfer.rank == 0) {
        fill(&transfer);
        send(&transfer);
    } else if (transfer.rank == 1) {
        receive(&transfer);
    }
    fflush(stdout);
    go_on(&transfer);
    free(transfer.data);
    return MPI_Finalize();
}
