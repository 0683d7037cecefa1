/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * messages.c - point-to-point messages in all modes, probes, statuses. At the
 * gate messages are under way, and some have been matched by a probe.
 */
#include "coverage.h"

enum {
    STANDARD = 1,
    BUFFERED,
    SYNCHRONOUS,
    READY,
    PROBED,
    MATCHED,
    LATER
};

#define LENGTH 10

static int out[LENGTH], in[5][LENGTH];
static MPI_Request sends[4], receives[5];
static MPI_Message message;
static MPI_Fint message_number;

/* Checks the status and the data of a message from the other rank. */
static void check_message(MPI_Status *status, const int *data, int tag)
{
    int count = -1, elements = -1, cancelled = -1;
    MPI_Count large = -1;

    CHECK(status->MPI_SOURCE == OTHER && status->MPI_TAG == tag);
    MPI_Get_count(status, MPI_INT, &count);
    MPI_Get_elements(status, MPI_INT, &elements);
    MPI_Get_elements_x(status, MPI_INT, &large);
    MPI_Test_cancelled(status, &cancelled);
    CHECK(count == LENGTH && elements == LENGTH && large == LENGTH);
    CHECK(!cancelled);
    if (data != NULL) {
        CHECK(is_filled(data, sizeof out, OTHER));
    }
}

static void receive(int tag)
{
    MPI_Status status;

    MPI_Recv(in[0], LENGTH, MPI_INT, OTHER, tag, MPI_COMM_WORLD, &status);
    check_message(&status, in[0], tag);
}

/* Uses blocking calls only, on both ranks in an order that cannot block. */
static void exchange(void)
{
    MPI_Status status;

    MPI_Send(out, LENGTH, MPI_INT, OTHER, STANDARD, MPI_COMM_WORLD);
    MPI_Bsend(out, LENGTH, MPI_INT, OTHER, BUFFERED, MPI_COMM_WORLD);
    receive(STANDARD);
    receive(BUFFERED);
    if (this_rank == 0) {
        MPI_Ssend(out, LENGTH, MPI_INT, OTHER, SYNCHRONOUS, MPI_COMM_WORLD);
        receive(SYNCHRONOUS);
    } else {
        receive(SYNCHRONOUS);
        MPI_Ssend(out, LENGTH, MPI_INT, OTHER, SYNCHRONOUS, MPI_COMM_WORLD);
    }
    MPI_Irecv(in[1], LENGTH, MPI_INT, OTHER, READY, MPI_COMM_WORLD, receives);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Rsend(out, LENGTH, MPI_INT, OTHER, READY, MPI_COMM_WORLD);
    MPI_Wait(receives, &status);
    check_message(&status, in[1], READY);
    MPI_Sendrecv(out, LENGTH, MPI_INT, OTHER, STANDARD, in[1], LENGTH, MPI_INT,
                 OTHER, STANDARD, MPI_COMM_WORLD, &status);
    check_message(&status, in[1], STANDARD);
    memcpy(in[2], out, sizeof out);
    MPI_Sendrecv_replace(in[2], LENGTH, MPI_INT, OTHER, STANDARD, OTHER,
                         STANDARD, MPI_COMM_WORLD, &status);
    check_message(&status, in[2], STANDARD);
}

static char attached[8192 + 8 * MPI_BSEND_OVERHEAD];
static int users;

void coverage_buffer_attach(void)
{
    if (users++ == 0) {
        MPI_Buffer_attach(attached, sizeof attached);
    }
}

void coverage_buffer_detach(void)
{
    void *buffer = NULL;
    int size = 0;

    if (--users == 0) {
        MPI_Buffer_detach(&buffer, &size);
        CHECK(buffer == attached && size == (int)sizeof attached);
    }
}

/* Leaves receives pending, messages under way, and a message matched. */
static void begin(void)
{
    MPI_Status status;

    fill(out, sizeof out, this_rank);
    coverage_buffer_attach();
    exchange();
    for (int tag = READY; tag >= STANDARD; tag--) {
        MPI_Irecv(in[tag], LENGTH, MPI_INT, OTHER, tag, MPI_COMM_WORLD,
                  &receives[tag]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Isend(out, LENGTH, MPI_INT, OTHER, STANDARD, MPI_COMM_WORLD, &sends[0]);
    MPI_Ibsend(out, LENGTH, MPI_INT, OTHER, BUFFERED, MPI_COMM_WORLD,
               &sends[1]);
    MPI_Issend(out, LENGTH, MPI_INT, OTHER, SYNCHRONOUS, MPI_COMM_WORLD,
               &sends[2]);
    MPI_Irsend(out, LENGTH, MPI_INT, OTHER, READY, MPI_COMM_WORLD, &sends[3]);
    for (int tag = PROBED; tag <= LATER; tag++) {
        MPI_Send(out, LENGTH, MPI_INT, OTHER, tag, MPI_COMM_WORLD);
    }
    MPI_Mprobe(OTHER, MATCHED, MPI_COMM_WORLD, &message, &status);
    check_message(&status, NULL, MATCHED);
    message_number = MPI_Message_c2f(message);
}

static void end(void)
{
    MPI_Request request;
    MPI_Status status, statuses[4];
    int flag = 0;

    MPI_Probe(OTHER, PROBED, MPI_COMM_WORLD, &status);
    check_message(&status, NULL, PROBED);
    MPI_Iprobe(OTHER, PROBED, MPI_COMM_WORLD, &flag, &status);
    CHECK(flag);
    receive(PROBED);
    message = MPI_Message_f2c(message_number);
    MPI_Mrecv(in[0], LENGTH, MPI_INT, &message, &status);
    check_message(&status, in[0], MATCHED);
    CHECK(message == MPI_MESSAGE_NULL);
    for (flag = 0; !flag;) {
        MPI_Improbe(OTHER, LATER, MPI_COMM_WORLD, &flag, &message, &status);
    }
    MPI_Imrecv(in[0], LENGTH, MPI_INT, &message, &request);
    MPI_Wait(&request, &status);
    check_message(&status, in[0], LATER);
    MPI_Waitall(4, receives + 1, statuses);
    for (int tag = STANDARD; tag <= READY; tag++) {
        check_message(&statuses[tag - 1], in[tag], tag);
    }
    MPI_Waitall(4, sends, MPI_STATUSES_IGNORE);
    exchange();
    coverage_buffer_detach();
}

const struct section messages_section = {"messages", begin, end};
