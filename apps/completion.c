/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * completion.c - completion calls with many requests, without any, and with forgotten ones;
 * duplications that fail.
 */
#include "selfcheck.h"

#include <stdlib.h>
#include <string.h>

#define MANY      300 /* more than the stand-in passes to the library at once */
#define ROUNDS    40
#define FORGOTTEN 60000 /* sends whose requests are freed at once */
#define WINDOW    16    /* unacknowledged sends */
/* The limit in kB for their memory; 1 kB each would be ten times as much. */
#define GROWTH 6000

static void look_at_none(void)
{
    int count = -1, place = -1, flag = 0;

    CHECK(MPI_Waitsome(0, NULL, &count, NULL, NULL) == MPI_SUCCESS);
    CHECK(count == MPI_UNDEFINED);
    CHECK(MPI_Testsome(0, NULL, &count, NULL, NULL) == MPI_SUCCESS);
    CHECK(count == MPI_UNDEFINED);
    CHECK(MPI_Waitany(0, NULL, &place, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(place == MPI_UNDEFINED);
    CHECK(MPI_Testany(0, NULL, &place, &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(place == MPI_UNDEFINED && flag);
    CHECK(MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
    CHECK(MPI_Testall(0, NULL, &flag, MPI_STATUSES_IGNORE) == MPI_SUCCESS && flag);
}

struct many {
    MPI_Request request[MANY];
    int value[MANY], seen[MANY], left;
    MPI_Status status[MANY];
    int place[MANY];
};

static void note(struct many *many, int place, const MPI_Status *status)
{
    CHECK(place >= 0 && place < MANY && !many->seen[place]);
    CHECK(status->MPI_TAG == place && many->value[place] == 7 * place);
    many->seen[place] = 1;
    many->left--;
}

static void note_some(struct many *many, int count)
{
    for (int i = 0; i < count; i++) {
        note(many, many->place[i], &many->status[i]);
    }
}

/* Calls each completion function in turn. */
static void complete_some(struct many *many, int turn)
{
    int count, flag = 0, place = MPI_UNDEFINED;

    switch (turn % 5) {
    case 0:
        MPI_Waitany(MANY, many->request, &place, &many->status[0]);
        note(many, place, &many->status[0]);
        break;
    case 1:
        MPI_Testany(MANY, many->request, &place, &flag, &many->status[0]);
        if (place != MPI_UNDEFINED) {
            CHECK(flag);
            note(many, place, &many->status[0]);
        }
        break;
    case 2:
        MPI_Waitsome(MANY, many->request, &count, many->place, many->status);
        CHECK(count > 0);
        note_some(many, count);
        break;
    case 3:
        MPI_Testsome(MANY, many->request, &count, many->place, many->status);
        note_some(many, count);
        break;
    default:
        MPI_Testall(MANY, many->request, &flag, many->status);
        for (int i = 0; flag && i < MANY; i++) {
            if (!many->seen[i]) {
                note(many, i, &many->status[i]);
            }
        }
    }
}

static void receive_many(struct many *many)
{
    memset(many, 0, sizeof *many);
    for (int i = 0; i < MANY; i++) {
        MPI_Irecv(&many->value[i], 1, MPI_INT, 1, i, MPI_COMM_WORLD, &many->request[i]);
    }
    many->left = MANY;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int turn = 0; many->left > 0; turn++) {
        complete_some(many, turn);
    }
    for (int i = 0; i < MANY; i++) {
        CHECK(many->request[i] == MPI_REQUEST_NULL && many->seen[i]);
    }
}

static void send_many(int round)
{
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < MANY; i++) {
        const int tag = (i * 7 + round) % MANY, value = 7 * tag; /* 7 does not divide MANY */

        MPI_Send(&value, 1, MPI_INT, 0, tag, MPI_COMM_WORLD);
    }
}

/* ---- Forgotten requests --------------------------------------------------------- */

static int frees;

static int query(void *extra, MPI_Status *status)
{
    (void)extra;
    MPI_Status_set_elements(status, MPI_BYTE, 0);
    MPI_Status_set_cancelled(status, 0);
    return MPI_SUCCESS;
}

static int count_free(void *extra)
{
    (void)extra;
    frees++;
    return MPI_SUCCESS;
}

static int ignore_cancel(void *extra, int complete)
{
    (void)extra, (void)complete;
    return MPI_SUCCESS;
}

/* The later call of MPI_Request_free and MPI_Grequest_complete calls the free function. */
static void forget_generalized(void)
{
    MPI_Request request, same;

    MPI_Grequest_start(query, count_free, ignore_cancel, NULL, &request);
    same = request;
    MPI_Request_free(&request);
    CHECK(request == MPI_REQUEST_NULL && frees == 0);
    MPI_Grequest_complete(same);
    CHECK(frees == 1);
    MPI_Grequest_start(query, count_free, ignore_cancel, NULL, &request);
    MPI_Grequest_complete(request);
    CHECK(frees == 1);
    MPI_Request_free(&request);
    CHECK(frees == 2);
}

/* ---- Duplications that fail ------------------------------------------------------ */

static int copies, deletes;

static int fail_second_copy(int *flag)
{
    *flag = 1;
    return ++copies == 2 ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static int copy_of_comm(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)keyval, (void)extra;
    *(void **)out = in;
    return fail_second_copy(flag);
}

static int delete_of_comm(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm, (void)keyval, (void)value, (void)extra;
    deletes++;
    return MPI_SUCCESS;
}

static int copy_of_type(MPI_Datatype type, int keyval, void *extra, void *in, void *out,
                        int *flag)
{
    (void)type, (void)keyval, (void)extra;
    *(void **)out = in;
    return fail_second_copy(flag);
}

static int delete_of_type(MPI_Datatype type, int keyval, void *value, void *extra)
{
    (void)type, (void)keyval, (void)value, (void)extra;
    deletes++;
    return MPI_SUCCESS;
}

/* The failed copy is freed, with the attributes that it already had. */
static void fail_to_duplicate_comm(void)
{
    MPI_Comm comm, copy;
    int keyval[2];

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    for (int i = 0; i < 2; i++) {
        MPI_Comm_create_keyval(copy_of_comm, delete_of_comm, &keyval[i], NULL);
        MPI_Comm_set_attr(comm, keyval[i], &keyval[i]);
    }
    copies = deletes = 0;
    copy = MPI_COMM_WORLD;
    CHECK(MPI_Comm_dup(comm, &copy) != MPI_SUCCESS);
    CHECK(copy == MPI_COMM_NULL && copies == 2 && deletes == 1);
    MPI_Comm_free(&comm);
    CHECK(deletes == 3);
    for (int i = 0; i < 2; i++) {
        MPI_Comm_free_keyval(&keyval[i]);
    }
}

static void fail_to_duplicate_type(void)
{
    MPI_Datatype type, copy;
    int keyval[2];

    MPI_Type_contiguous(3, MPI_INT, &type);
    for (int i = 0; i < 2; i++) {
        MPI_Type_create_keyval(copy_of_type, delete_of_type, &keyval[i], NULL);
        MPI_Type_set_attr(type, keyval[i], &keyval[i]);
    }
    copies = deletes = 0;
    copy = MPI_INT;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK(MPI_Type_dup(type, &copy) != MPI_SUCCESS);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    CHECK(copies == 2);
    MPI_Type_free(&type);
    for (int i = 0; i < 2; i++) {
        MPI_Type_free_keyval(&keyval[i]);
    }
}

static long resident_kb(void)
{
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    long found = 0;

    CHECK(file != NULL);
    while (found == 0 && fgets(line, sizeof line, file) != NULL) {
        (void)sscanf(line, "VmRSS: %ld", &found);
    }
    fclose(file);
    return found;
}

static void forget_sends(int rank)
{
    static char data[WINDOW][16384];
    long before = 0;
    char ack = 0;

    for (int i = 0; i < FORGOTTEN; i++) {
        if (rank == 0) {
            MPI_Request request;

            MPI_Isend(data[i % WINDOW], sizeof data[0], MPI_BYTE, 1, 1, MPI_COMM_WORLD, &request);
            MPI_Request_free(&request);
        } else {
            MPI_Recv(data[0], sizeof data[0], MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        if (i % WINDOW == WINDOW - 1) {
            MPI_Bcast(&ack, 1, MPI_CHAR, 1, MPI_COMM_WORLD);
        }
        if (i == FORGOTTEN / 10) {
            before = resident_kb();
        }
    }
    CHECK(resident_kb() - before < GROWTH);
}

int main(int argc, char **argv)
{
    static struct many many;
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    look_at_none();
    for (int round = 0; round < ROUNDS; round++) {
        rank == 0 ? receive_many(&many) : send_many(round);
    }
    forget_generalized();
    forget_sends(rank);
    fail_to_duplicate_comm();
    fail_to_duplicate_type();
    print_answer(0);
    return MPI_Finalize();
}
