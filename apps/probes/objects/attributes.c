/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * attributes.c - attributes, their callbacks and copies at MPI_Comm_dup.
 */
#include "probes/probe.h"

static int copies, deletions;

static int copy(MPI_Comm comm, int key, void *extra, void *value, void *out,
                int *flag)
{
    (void)comm, (void)key;
    CHECK(extra == &copies);
    copies++;
    *(void **)out = (char *)value + 1;
    *flag = 1;
    return MPI_SUCCESS;
}

static int discard(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value;
    CHECK(extra == &copies);
    deletions++;
    return MPI_SUCCESS;
}

static void expect(MPI_Comm comm, int key, void *expected)
{
    void *value = NULL;
    int found;

    MPI_Comm_get_attr(comm, key, &value, &found);
    CHECK(found == (expected != NULL));
    CHECK(!found || value == expected);
}

int main(int argc, char **argv)
{
    MPI_Comm base, before, after;
    int own, always, never, found;
    int *bound;
    static char data[8];

    probe_begin(argc, argv, 2);
    MPI_Comm_create_keyval(copy, discard, &own, &copies);
    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &always,
                           NULL);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN,
                           &never, NULL);
    MPI_Comm_dup(MPI_COMM_WORLD, &base);
    MPI_Comm_set_attr(base, own, data);
    MPI_Comm_set_attr(base, always, data + 4);
    MPI_Comm_set_attr(base, never, data + 5);
    MPI_Comm_dup(base, &before);
    probe_gate();
    CHECK(copies == 1);
    MPI_Comm_dup(base, &after);
    CHECK(copies == 2);
    expect(base, own, data);
    expect(before, own, data + 1);
    expect(after, own, data + 1);
    expect(before, always, data + 4);
    expect(after, always, data + 4);
    expect(before, never, NULL);
    expect(after, never, NULL);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &bound, &found);
    CHECK(found && *bound >= 32767);
    MPI_Comm_delete_attr(base, own);
    CHECK(deletions == 1);
    MPI_Comm_free(&before);
    MPI_Comm_free(&after);
    CHECK(deletions == 3);
    MPI_Comm_free(&base);
    MPI_Comm_free_keyval(&own);
    MPI_Comm_free_keyval(&always);
    MPI_Comm_free_keyval(&never);
    return probe_end();
}
