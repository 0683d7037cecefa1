/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * freed.c - handles that the program still holds after it has freed the object.
 */
#include "stage.h"

MPI_Comm freed_comm(void)
{
    MPI_Comm comm, kept;

    MPI_Comm_dup(good.comm, &comm);
    kept = comm;
    MPI_Comm_free(&comm);
    return kept;
}

MPI_Group freed_group(void)
{
    const int zero = 0;
    MPI_Group group, kept;

    MPI_Group_incl(good.group, 1, &zero, &group);
    kept = group;
    MPI_Group_free(&group);
    return kept;
}

MPI_Datatype freed_type(void)
{
    MPI_Datatype type, kept;

    MPI_Type_contiguous(3, MPI_INT, &type);
    MPI_Type_commit(&type);
    kept = type;
    MPI_Type_free(&type);
    return kept;
}

MPI_Op freed_op(void)
{
    MPI_Op op, kept;

    MPI_Op_create(stage_reduce, 1, &op);
    kept = op;
    MPI_Op_free(&op);
    return kept;
}

MPI_Request freed_request(void)
{
    MPI_Request request, kept;

    MPI_Recv_init(stage_areas[0], 1, MPI_INT, MPI_PROC_NULL, 3, good.comm,
                  &request);
    kept = request;
    MPI_Request_free(&request);
    return kept;
}

/* The window is freed earlier: that takes all ranks. */
MPI_Win freed_win(void)
{
    return good.freed_win;
}

MPI_File freed_file(void)
{
    MPI_File file, kept;

    MPI_File_open(good.comm, stage_path, MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    kept = file;
    MPI_File_close(&file);
    return kept;
}

MPI_Info freed_info(void)
{
    MPI_Info info, kept;

    MPI_Info_create(&info);
    kept = info;
    MPI_Info_free(&info);
    return kept;
}

MPI_Errhandler freed_errhandler(void)
{
    MPI_Errhandler handler, kept;

    MPI_Comm_create_errhandler(stage_comm_error, &handler);
    kept = handler;
    MPI_Errhandler_free(&handler);
    return kept;
}

int freed_comm_key(void)
{
    int key, kept;

    MPI_Comm_create_keyval(stage_copy_comm, stage_delete_comm, &key, NULL);
    kept = key;
    MPI_Comm_free_keyval(&key);
    return kept;
}

int freed_type_key(void)
{
    int key, kept;

    MPI_Type_create_keyval(stage_copy_type, stage_delete_type, &key, NULL);
    kept = key;
    MPI_Type_free_keyval(&key);
    return kept;
}

int freed_win_key(void)
{
    int key, kept;

    MPI_Win_create_keyval(stage_copy_win, stage_delete_win, &key, NULL);
    kept = key;
    MPI_Win_free_keyval(&key);
    return kept;
}
