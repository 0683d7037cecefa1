/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * attributes.c - attributes of communicators and datatypes with copy and delete
 * functions; windows.c has the attributes of windows.
 */
#include "coverage.h"

static int value = 11, deleted;
static int comm_key, old_key, type_key;
static MPI_Comm comm;
static MPI_Datatype type;

static int copy_comm(MPI_Comm from, int key, void *extra, void *in, void *out,
                     int *flag)
{
    (void)from, (void)key;
    CHECK(extra == &value);
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}

static int copy_type(MPI_Datatype from, int key, void *extra, void *in,
                     void *out, int *flag)
{
    (void)from;
    return copy_comm(MPI_COMM_NULL, key, extra, in, out, flag);
}

static int delete_comm(MPI_Comm from, int key, void *in, void *extra)
{
    (void)from, (void)key, (void)extra;
    CHECK(in == &value);
    deleted++;
    return MPI_SUCCESS;
}

static int delete_type(MPI_Datatype from, int key, void *in, void *extra)
{
    (void)from;
    return delete_comm(MPI_COMM_NULL, key, in, extra);
}

static void begin(void)
{
    MPI_Comm_create_keyval(copy_comm, delete_comm, &comm_key, &value);
    MPI_Keyval_create(copy_comm, delete_comm, &old_key, &value);
    MPI_Type_create_keyval(copy_type, delete_type, &type_key, &value);
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Type_contiguous(2, MPI_INT, &type);
    MPI_Comm_set_attr(comm, comm_key, &value);
    MPI_Attr_put(comm, old_key, &value);
    MPI_Type_set_attr(type, type_key, &value);
}

static void check_present(MPI_Comm of_comm, MPI_Datatype of_type)
{
    void *found = NULL;
    int flag = 0;

    MPI_Comm_get_attr(of_comm, comm_key, &found, &flag);
    CHECK(flag && found == &value);
    MPI_Attr_get(of_comm, old_key, &found, &flag);
    CHECK(flag && found == &value);
    MPI_Type_get_attr(of_type, type_key, &found, &flag);
    CHECK(flag && found == &value);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &found, &flag);
    CHECK(flag && *(int *)found >= 32767);
}

static void end(void)
{
    MPI_Comm comm_copy;
    MPI_Datatype type_copy;

    MPI_Comm_dup(comm, &comm_copy);
    MPI_Type_dup(type, &type_copy);
    check_present(comm, type);
    check_present(comm_copy, type_copy);
    deleted = 0;
    MPI_Comm_delete_attr(comm_copy, comm_key);
    MPI_Attr_delete(comm_copy, old_key);
    MPI_Type_delete_attr(type_copy, type_key);
    CHECK(deleted == 3);
    MPI_Comm_free(&comm_copy);
    MPI_Type_free(&type_copy);
    CHECK(deleted == 3);
    MPI_Comm_free(&comm);
    MPI_Type_free(&type);
    CHECK(deleted == 6);
    MPI_Comm_free_keyval(&comm_key);
    MPI_Keyval_free(&old_key);
    MPI_Type_free_keyval(&type_key);
    CHECK(comm_key == MPI_KEYVAL_INVALID && type_key == MPI_KEYVAL_INVALID);
}

const struct section attributes_section = {"attributes", begin, end};
