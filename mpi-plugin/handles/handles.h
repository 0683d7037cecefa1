/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * handles.h - the MPI objects that the application holds.
 *
 * An MPI_Comm, MPI_Datatype ... of the application is the address of one of our
 * objects. The object knows its current handle in the lower half: translating a
 * handle is one load. Predefined handles are the addresses of symbols of the
 * real library (ompi_mpi_comm_world ...), so their objects are the symbols that
 * we define with the same names and sizes (generated predefined.S).
 *
 * At a checkpoint each object has a recipe in saved memory, which says how to
 * make it again. A restart makes the live objects again in the new lower half.
 * An object whose kind has no recipe yet makes a checkpoint request fail. The
 * message names the first such object and where it was made.
 */
#ifndef CKPT_HANDLES_H
#define CKPT_HANDLES_H

#pragma GCC visibility push(default) /* we export MPI functions */
#include "handles/mpi4.h"
#pragma GCC visibility pop

#include <stddef.h>
#include <stdint.h>

enum ckpt_kind {
    CKPT_COMM = 1,
    CKPT_GROUP,
    CKPT_DATATYPE,
    CKPT_OP,
    CKPT_REQUEST,
    CKPT_WIN,
    CKPT_FILE,
    CKPT_INFO,
    CKPT_ERRHANDLER,
    CKPT_MESSAGE,
    CKPT_SESSION,
    CKPT_KIND_COUNT
};

/* Calling conventions of application code. */
enum ckpt_language {
    CKPT_C,
    CKPT_FORTRAN,         /* by reference, handles as numbers, IERROR */
    CKPT_FORTRAN_INTEGER, /* attributes of MPI-1: INTEGER values */
    CKPT_CXX,             /* through a function of libmpi_cxx */
};

#define CKPT_HANDLE_PREDEFINED 1u /* made by the library: never freed */
#define CKPT_HANDLE_FREED      2u /* freed by the application, still in use */
#define CKPT_HANDLE_COMMITTED  4u /* datatypes */

/* First member of every object. It fits into the smallest predefined symbol. */
struct ckpt_handle {
    void *lower; /* current handle in the lower half */
    uint32_t kind;
    uint32_t flags;
    uint32_t references;          /* 1 for the application + 1 per pending request */
    uint32_t number;              /* Fortran handle, plus 1; 0: none assigned yet */
    struct ckpt_handle *next;     /* live objects of the kind, oldest first; */
    struct ckpt_handle *previous; /*   predefined ones are not in the list */
    const char *creator;          /* name of the MPI function that made it */
    void *site;                   /* address in the application that called it */
    void *recipe;                 /* format of its kind, from ckpt_memory_alloc */
    uint64_t recipe_size;
    struct ckpt_attribute *attributes; /* communicators, datatypes, windows */
    char *name;                        /* MPI_X_set_name, or NULL */
};

/* The opaque structures of mpi.h. */
struct ompi_datatype_t {
    struct ckpt_handle handle;
    struct type_map *map; /* from independent/log/type_map.c; or NULL */
};
struct ompi_group_t {
    struct ckpt_handle handle;
};
struct ompi_op_t {
    struct ckpt_handle handle;
    MPI_User_function *function; /* NULL for predefined ones */
    enum ckpt_language language; /* of `function` */
    MPI_User_function *cxx;      /* called by `function` of libmpi_cxx */
    int commutes;
    int thunk; /* index of the lower-half entry point of `function` */
};
struct ompi_info_t {
    struct ckpt_handle handle;
};
struct ompi_file_t {
    struct ckpt_handle handle;
    MPI_Errhandler errhandler;   /* NULL: the standard's default */
    struct ckpt_open_file *open; /* handles/files/file.h; NULL: MPI_FILE_NULL */
};
struct ompi_errhandler_t {
    struct ckpt_handle handle;
    void *function[CKPT_KIND_COUNT]; /* by kind of object, or NULL:
                                        MPI_Comm_errhandler_function * ... */
    enum ckpt_language language;     /* of `function` */
    void (*dispatch)(void *object, int *code, const char *message,
                     void *function); /* CKPT_CXX: of libmpi_cxx */
};
/* struct ompi_communicator_t: handles/communicator.h;
 * struct ompi_request_t: handles/request.h;
 * struct ompi_message_t: handles/message_log.h; struct ompi_win_t:
 * handles/window.h; struct ompi_instance_t: handles/session.h. */

/* The value, or NULL if the pointer is NULL: an erroneous pointer, which the
 * lower half must report. */
#define CKPT_UNLESS_NULL(pointer, value) ((pointer) != NULL ? (value) : NULL)

/* The lower handle of any object; a NULL handle stays NULL. */
#define CKPT_LOWER(object)                                              \
    ((__typeof__(object))((object) != NULL                              \
                              ? ((struct ckpt_handle *)(object))->lower \
                              : NULL))

/*
 * Returns the object for a handle that the lower half returned: the predefined
 * object if the handle is predefined (null handles included), else a new object
 * of `kind`. Context: normal.
 */
void *ckpt_adopt(enum ckpt_kind kind, void *lower, const char *creator,
                 void *site);

/*
 * Drops the application's reference, after a successful MPI_X_free. Leaves
 * predefined objects alone. Context: normal.
 */
void ckpt_release(void *object);

/* ckpt_retain() adds a use of an object and ckpt_drop() removes one: a freed
 * object stays until its last use ends. Context: normal, between ckpt_begin and
 * ckpt_end. */
static inline void ckpt_retain(void *object)
{
    ((struct ckpt_handle *)object)->references++;
}
void ckpt_drop(void *object);

/* Frees the Fortran number of an object that is about to be freed. */
void ckpt_number_forget(struct ckpt_handle *handle);

/* Unlinks an object from the live list, and frees its memory later. Until then
 * a call with the handle behaves as with the null handle. */
void ckpt_handle_destroy(struct ckpt_handle *handle);

/*
 * Return a zeroed object of `size` bytes; NULL if out of memory. An object from
 * _new is not in the live list, which the checkpoint signal's handler reads.
 * Use _new for objects that need lower-half calls to complete;
 * ckpt_handle_link() then puts them into the list.
 */
void *ckpt_handle_new(enum ckpt_kind kind, size_t size, void *lower,
                      const char *creator, void *site);
void *ckpt_handle_create(enum ckpt_kind kind, size_t size, void *lower,
                         const char *creator, void *site);

/* Returns our predefined object for a lower handle, or NULL. Context: any. */
void *ckpt_predefined_find(const void *lower);

/* Returns our object for the datatype that the lower half passes to a
 * user-defined operation; MPI_DATATYPE_NULL if unknown. Context: any. */
MPI_Datatype ckpt_datatype_of(MPI_Datatype lower);

/* Records the predefined handles of a lower half that was just loaded. */
void ckpt_predefined_bind(void);

/*
 * Translates handles for a call: lower[i] is the lower handle of objects[i].
 * Returns `buffer` if count <= capacity, else memory that ckpt_translated_done
 * frees. Context: normal.
 */
void **ckpt_translate(int count, void *const objects[], void **buffer,
                      int capacity);
void ckpt_translated_done(int count, void **lower, void **buffer);

/*
 * Calls the application's error handler for a non-zero `code` of a call on
 * `object` (a communicator, window or file; NULL: MPI_COMM_WORLD). Returns the
 * code if the handler returns. Context: normal.
 */
int ckpt_error(void *object, int code, const char *function);

/* The same for a call that makes an object and gets its error handler as an
 * argument. Returns MPI_SUCCESS unchanged. */
int ckpt_error_of(MPI_Errhandler handler, int code, const char *function);

/* Returns 1 for a datatype, predefined or not, that was not freed. */
static inline int ckpt_datatype_valid(MPI_Datatype datatype)
{
    return datatype != NULL && datatype != MPI_DATATYPE_NULL &&
           datatype->handle.references != 0;
}

/* Returns the first live object of a kind; they are listed oldest first
 * (without predefined ones). */
struct ckpt_handle *ckpt_live(enum ckpt_kind kind);

/* One predefined object. The table is generated with predefined.S, in the order
 * of the lower half's object table (struct ckpt_lower.object). */
struct ckpt_predefined {
    void *object; /* &ompi_mpi_comm_world ... */
    const char *symbol;
    uint32_t kind; /* 0: plain data of the library, not a handle */
    uint32_t size; /* bytes of the symbol */
};
extern const struct ckpt_predefined ckpt_predefined[];
extern const uint32_t ckpt_predefined_count;

#endif
