/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * system_v_queue.c - a message queue between two ranks, with messages in it;
 * meanwhile one rank waits in msgrcv().
 */
#define _GNU_SOURCE
#include "probes/probe.h"

#include <errno.h>
#include <sys/ipc.h>
#include <sys/msg.h>

struct message {
    long type;
    char text[16];
};

static void put(int queue, long type, const char *text)
{
    struct message message = {.type = type};

    snprintf(message.text, sizeof message.text, "%s", text);
    CHECK(msgsnd(queue, &message, strlen(text), 0) == 0);
}

static void take(int queue, long type, const char *text)
{
    struct message message = {.type = 0};
    ssize_t size = msgrcv(queue, &message, sizeof message.text, type, 0);

    CHECK(size == (ssize_t)strlen(text));
    CHECK(memcmp(message.text, text, strlen(text)) == 0);
}

int main(int argc, char **argv)
{
    int key = 0x0c4b0000 | (int)(getpid() & 0xffff);
    struct message message;
    int queue = -1;

    probe_begin(argc, argv, 2);
    MPI_Bcast(&key, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (probe_rank == 0) {
        queue = msgget(key, IPC_CREAT | IPC_EXCL | 0600);
        CHECK(queue >= 0);
        put(queue, 5, "first");
        put(queue, 3, "second");
        put(queue, 5, "");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (probe_rank == 1) {
        queue = msgget(key, 0);
        CHECK(queue >= 0);
        take(queue, 9, "late");
        take(queue, 3, "second");
        take(queue, 5, "first");
        take(queue, 5, "");
        CHECK(msgrcv(queue, &message, sizeof message.text, 0, IPC_NOWAIT) < 0 &&
              errno == ENOMSG);
    } else {
        probe_gate();
        put(queue, 9, "late");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (probe_rank == 0) {
        CHECK(msgctl(queue, IPC_RMID, NULL) == 0);
    }
    return probe_end();
}
