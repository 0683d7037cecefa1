/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stage.c - makes the objects that the fuzz program passes to calls.
 */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct objects good;
char stage_path[4096];
MPI_Status stage_status;
char stage_areas[4][65536];
int stage_ones[8] = {1, 1, 1, 1, 1, 1, 1, 1}, stage_zeros[8];
MPI_Aint stage_aints[8];
int stage_two[2] = {2, 2};
int stage_ranges[1][3] = {{0, 0, 1}};
MPI_Datatype stage_types[2];
MPI_Info stage_infos[2];
int stage_cvar, stage_pvar, stage_pvar_class;
char stage_pvar_name[256];

int stage_copy_comm(MPI_Comm comm, int key, void *extra, void *in, void *out,
                    int *flag)
{
    (void)comm, (void)key, (void)extra, (void)in, (void)out;
    *flag = 0;
    return MPI_SUCCESS;
}

int stage_delete_comm(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    return MPI_SUCCESS;
}

int stage_copy_type(MPI_Datatype type, int key, void *extra, void *in,
                    void *out, int *flag)
{
    (void)type, (void)key, (void)extra, (void)in, (void)out;
    *flag = 0;
    return MPI_SUCCESS;
}

int stage_delete_type(MPI_Datatype type, int key, void *value, void *extra)
{
    (void)type, (void)key, (void)value, (void)extra;
    return MPI_SUCCESS;
}

int stage_copy_win(MPI_Win win, int key, void *extra, void *in, void *out,
                   int *flag)
{
    (void)win, (void)key, (void)extra, (void)in, (void)out;
    *flag = 0;
    return MPI_SUCCESS;
}

int stage_delete_win(MPI_Win win, int key, void *value, void *extra)
{
    (void)win, (void)key, (void)value, (void)extra;
    return MPI_SUCCESS;
}

void stage_reduce(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)in, (void)inout, (void)count, (void)type;
}

int stage_query(void *extra, MPI_Status *status)
{
    (void)extra;
    memset(status, 0, sizeof *status);
    return MPI_SUCCESS;
}

int stage_free(void *extra)
{
    (void)extra;
    return MPI_SUCCESS;
}

int stage_cancel(void *extra, int complete)
{
    (void)extra, (void)complete;
    return MPI_SUCCESS;
}

int stage_extent(MPI_Datatype type, MPI_Aint *extent, void *extra)
{
    (void)type, (void)extra;
    *extent = 4;
    return MPI_SUCCESS;
}

int stage_convert(void *user, MPI_Datatype type, int count, void *file,
                  MPI_Offset place, void *extra)
{
    (void)user, (void)type, (void)count, (void)file, (void)place, (void)extra;
    return MPI_SUCCESS;
}

void stage_comm_error(MPI_Comm *where, int *code, ...)
{
    (void)where;
    note_handler("communicator", *code);
}

void stage_win_error(MPI_Win *where, int *code, ...)
{
    (void)where;
    note_handler("window", *code);
}

void stage_file_error(MPI_File *where, int *code, ...)
{
    (void)where;
    note_handler("file", *code);
}

static void make_handlers(void)
{
    MPI_Comm_create_errhandler(stage_comm_error, &good.comm_handler);
    MPI_Win_create_errhandler(stage_win_error, &good.win_handler);
    MPI_File_create_errhandler(stage_file_error, &good.file_handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, good.comm_handler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, good.comm_handler);
    MPI_File_set_errhandler(MPI_FILE_NULL, good.file_handler);
    MPI_Comm_create_keyval(stage_copy_comm, stage_delete_comm, &good.comm_key,
                           NULL);
    MPI_Type_create_keyval(stage_copy_type, stage_delete_type, &good.type_key,
                           NULL);
    MPI_Win_create_keyval(stage_copy_win, stage_delete_win, &good.win_key,
                          NULL);
}

/* Error handlers are inherited from MPI_COMM_SELF. */
static void make_communicators(void)
{
    const int one = 1, zero = 0;

    MPI_Comm_dup(MPI_COMM_SELF, &good.comm);
    MPI_Cart_create(MPI_COMM_SELF, 1, &one, &zero, 0, &good.cart);
    MPI_Graph_create(MPI_COMM_SELF, 1, &one, &zero, 0, &good.graph);
    MPI_Dist_graph_create_adjacent(MPI_COMM_SELF, 1, &zero, MPI_UNWEIGHTED, 1,
                                   &zero, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                   &good.dist_graph);
    MPI_Comm_set_attr(good.comm, good.comm_key, &good);
    MPI_Comm_group(good.comm, &good.group);
}

static void make_small(void)
{
    MPI_Type_contiguous(1, MPI_INT, &good.type);
    MPI_Type_commit(&good.type);
    MPI_Type_set_attr(good.type, good.type_key, &good);
    MPI_Type_contiguous(2, MPI_INT, &good.uncommitted);
    stage_types[0] = stage_types[1] = MPI_INT;
    MPI_Op_create(stage_reduce, 1, &good.op);
    MPI_Info_create(&good.info);
    MPI_Info_set(good.info, "key", "value");
    stage_infos[0] = stage_infos[1] = MPI_INFO_NULL;
    MPI_Recv_init(stage_areas[0], 1, MPI_INT, MPI_PROC_NULL, 3, good.comm,
                  &good.request);
    MPI_Grequest_start(stage_query, stage_free, stage_cancel, NULL,
                       &good.general);
    MPI_Sendrecv(stage_areas[0], 1, MPI_INT, 0, 3, stage_areas[1], 1, MPI_INT,
                 0, 3, good.comm, &stage_status);
}

/* Open MPI 4.1 has no windows for one process, so all ranks share them. */
static void make_remote(void)
{
    const MPI_Comm all = MPI_COMM_WORLD;
    MPI_Win win;

    MPI_Win_create(stage_areas[2], 64, 1, MPI_INFO_NULL, all, &win);
    good.freed_win = win;
    MPI_Win_free(&win);
    MPI_Win_create(stage_areas[3], 4096, 1, MPI_INFO_NULL, all, &good.win);
    MPI_Win_create_dynamic(MPI_INFO_NULL, all, &good.dynamic_win);
    MPI_Win_set_errhandler(good.win, good.win_handler);
    MPI_Win_set_errhandler(good.dynamic_win, good.win_handler);
    MPI_Win_set_attr(good.win, good.win_key, &good);
    MPI_File_open(good.comm, stage_path, MPI_MODE_CREATE | MPI_MODE_RDWR,
                  MPI_INFO_NULL, &good.file);
    MPI_File_write(good.file, stage_areas[0], 4096, MPI_BYTE,
                   MPI_STATUS_IGNORE);
    MPI_File_seek(good.file, 0, MPI_SEEK_SET);
}

/* Finds the first counter that can be used. */
static void find_counter(void)
{
    int count = 0, verbosity, bind, readonly, continuous, atomic;

    MPI_T_pvar_session_create(&good.session);
    MPI_T_pvar_get_num(&count);
    for (int i = 0; i < count; i++) {
        char text[4096];
        int name_size = sizeof stage_pvar_name, text_size = sizeof text;

        MPI_T_pvar_get_info(i, stage_pvar_name, &name_size, &verbosity,
                            &stage_pvar_class, NULL, NULL, text, &text_size,
                            &bind, &readonly, &continuous, &atomic);
        if (strncmp(stage_pvar_name, "mtl_", 4) != 0 &&
            MPI_T_pvar_handle_alloc(good.session, i, &good.comm, &good.pvar,
                                    &count) == MPI_SUCCESS) {
            stage_pvar = i;
            return;
        }
    }
}

static void make_tool(void)
{
    int provided, count, verbosity, bind, scope;

    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_T_cvar_get_num(&count);
    for (int i = 0; i < count && good.choices == MPI_T_ENUM_NULL; i++) {
        MPI_T_cvar_get_info(i, NULL, NULL, &verbosity, NULL, &good.choices,
                            NULL, NULL, &bind, &scope);
    }
    MPI_T_cvar_get_index("mpi_param_check", &stage_cvar);
    MPI_T_cvar_handle_alloc(stage_cvar, NULL, &good.cvar, &count);
    find_counter();
}

void stage_make(void)
{
    good.choices = MPI_T_ENUM_NULL;
    make_handlers();
    make_communicators();
    make_small();
    make_remote();
    make_tool();
}

MPI_Message stage_message(void)
{
    MPI_Message message;
    MPI_Request request;

    MPI_Isend(stage_areas[0], 1, MPI_INT, 0, 9, good.comm, &request);
    MPI_Mprobe(0, 9, good.comm, &message, MPI_STATUS_IGNORE);
    return message;
}
