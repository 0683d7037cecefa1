/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * handles.h - the MPI objects that the application holds.
 *
 * An MPI_Comm, MPI_Datatype ... of the application is the address of one of
 * our objects, which knows its current handle in the lower half: translating
 * a handle is one load. Predefined handles are the addresses of symbols of the
 * real library (ompi_mpi_comm_world ...), so their objects live in the symbols
 * we define under the same names and sizes (generated predefined.S).
 *
 * At a checkpoint each object can say how to be made again (its recipe, kept
 * in saved memory); at a restart the live ones are made again in the new lower
 * half. Objects whose kind has no recipe yet make a checkpoint request fail
 * with a message that names the first of them and where it was made.
 */
#ifndef CKPT_HANDLES_H
#define CKPT_HANDLES_H

#pragma GCC visibility push(default) /* MPI functions are what we export */
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

/* How application code wants to be called. */
enum ckpt_language {
    CKPT_C,
    CKPT_FORTRAN,         /* by reference, handles as numbers, IERROR */
    CKPT_FORTRAN_INTEGER, /* attributes of MPI-1: INTEGER values */
    CKPT_CXX,             /* through a function of libmpi_cxx */
};

#define CKPT_HANDLE_PREDEFINED 1u /* made by the library: never freed */
#define CKPT_HANDLE_FREED 2u      /* freed by the application, still in use */
#define CKPT_HANDLE_COMMITTED 4u  /* datatypes */

/* First member of every object. Fits the smallest predefined symbol. */
struct ckpt_handle {
    void *lower; /* current handle in the lower half */
    uint32_t kind;
    uint32_t flags;
    uint32_t references; /* 1 for the application + 1 per pending request */
    uint32_t number;     /* as a Fortran handle, plus 1; 0: never asked for */
    struct ckpt_handle *next; /* live objects of the kind, oldest first; */
    struct ckpt_handle *previous; /*   predefined ones are not in the list */
    const char *creator; /* MPI function that made it */
    void *site;          /* address in the application that called it */
    void *recipe;        /* kind's own, from ckpt_memory_alloc */
    uint64_t recipe_size;
    struct ckpt_attribute *attributes; /* communicators, datatypes, windows */
    char *name;                        /* MPI_X_set_name, or NULL */
};

/* The opaque structures of mpi.h, completed. */
struct ompi_datatype_t {
    struct ckpt_handle handle;
    struct type_map *map; /* independent/type_map.c, from malloc; NULL: none yet */
};
struct ompi_group_t {
    struct ckpt_handle handle;
};
struct ompi_op_t {
    struct ckpt_handle handle;
    MPI_User_function *function; /* NULL for predefined ones */
    enum ckpt_language language; /* of `function` */
    MPI_User_function *cxx;      /* what `function` of libmpi_cxx calls */
    int commutes;
    int thunk; /* index of the lower-half entry point of `function` */
};
struct ompi_info_t {
    struct ckpt_handle handle;
};
struct ompi_file_t {
    struct ckpt_handle handle;
    MPI_Errhandler errhandler; /* NULL: the standard's default */
    struct ckpt_open_file *open; /* handles/file.h; NULL: MPI_FILE_NULL */
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
 * struct ompi_message_t: cut/message_log.h; struct ompi_win_t:
 * handles/window.h; struct ompi_instance_t: handles/session.h. */

/* The value, or NULL if the pointer is NULL: it may be an error, which the lower
 * half is to find. */
#define CKPT_UNLESS_NULL(pointer, value) ((pointer) != NULL ? (value) : NULL)

/* The lower handle of any object; a NULL handle stays NULL. */
#define CKPT_LOWER(object)                                                     \
    ((__typeof__(object))((object) != NULL                                     \
                              ? ((struct ckpt_handle *)(object))->lower        \
                              : NULL))

/*
 * The object for a handle that the lower half returned: the predefined object
 * if it is one (null handles included), else a new object of `kind`.
 * Context: normal.
 */
void *ckpt_adopt(enum ckpt_kind kind, void *lower, const char *creator,
                 void *site);

/*
 * After a successful MPI_X_free: drops the application's reference. Predefined
 * objects are left alone. Context: normal.
 */
void ckpt_release(void *object);

/* One more, or one less, pending use of an object: a freed object stays until
 * its last use ends. Context: normal, between ckpt_begin and ckpt_end. */
static inline void ckpt_retain(void *object)
{
    ((struct ckpt_handle *)object)->references++;
}
void ckpt_drop(void *object);

/* Frees the Fortran number of an object that is going away. */
void ckpt_number_forget(struct ckpt_handle *handle);

/* Unlinks an object from the live list. Its memory is freed some time later:
 * until then a program that still uses the handle is answered as if it were the
 * null handle. */
void ckpt_handle_destroy(struct ckpt_handle *handle);

/*
 * A zeroed object of `size` bytes; NULL if out of memory. One from _new is not
 * in the live list, which the checkpoint signal's handler reads: for objects
 * that take lower-half calls to complete. ckpt_handle_link() puts it there.
 */
void *ckpt_handle_new(enum ckpt_kind kind, size_t size, void *lower,
                      const char *creator, void *site);
void *ckpt_handle_create(enum ckpt_kind kind, size_t size, void *lower,
                         const char *creator, void *site);

/* Our predefined object for a lower handle, or NULL. Context: any. */
void *ckpt_predefined_find(const void *lower);

/* Our object for the datatype that the lower half hands to a user-defined
 * operation; MPI_DATATYPE_NULL if unknown. Context: any. */
MPI_Datatype ckpt_datatype_of(MPI_Datatype lower);

/* Learns the predefined handles of a lower half that has just been loaded. */
void ckpt_predefined_bind(void);

/*
 * Replaces handles by lower handles for a call: lower[i] = objects[i]'s.
 * Returns `buffer` if count <= capacity, else memory that ckpt_translated_done
 * frees. Context: normal.
 */
void **ckpt_translate(int count, void *const objects[], void **buffer,
                      int capacity);
void ckpt_translated_done(int count, void **lower, void **buffer);

/*
 * What the application's error handler does about a non-zero `code` of a call
 * on `object` (a communicator, window or file; NULL: MPI_COMM_WORLD). Returns
 * the code if the handler returns. Context: normal.
 */
int ckpt_error(void *object, int code, const char *function);

/* The same for a call that makes an object and is given its error handler; it
 * returns MPI_SUCCESS as it is. */
int ckpt_error_of(MPI_Errhandler handler, int code, const char *function);

/* 1 if it is a datatype, predefined or not, that was not freed. */
static inline int ckpt_datatype_valid(MPI_Datatype datatype)
{
    return datatype != NULL && datatype != MPI_DATATYPE_NULL &&
           datatype->handle.references != 0;
}

/* All live objects of a kind, oldest first (predefined ones excluded). */
struct ckpt_handle *ckpt_live(enum ckpt_kind kind);

/* One predefined object; table generated with predefined.S, in the order of
 * the lower half's object table (struct ckpt_lower.object). */
struct ckpt_predefined {
    void *object; /* &ompi_mpi_comm_world ... */
    const char *symbol;
    uint32_t kind; /* 0: plain data of the library, no handle */
    uint32_t size; /* bytes of the symbol */
};
extern const struct ckpt_predefined ckpt_predefined[];
extern const uint32_t ckpt_predefined_count;

#endif
