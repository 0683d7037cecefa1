/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * op.c - user-defined operations: application code called by the lower half.
 */
#include "base/invariant.h"
#include "handles/kinds.h"
#include "handles/wrapper.h"
#include "runtime/callback.h"

#include <stdlib.h>

#define CKPT_OP_THUNKS 1024 /* as in thunks.S */
#define THUNK_SIZE     16

extern const char ckpt_op_thunks[];

static MPI_Op op_of[CKPT_OP_THUNKS];
static int next_thunk; /* round robin: a freed number is not reused soon, as a
                          pending reduction may still hold it */

/* libmpi_cxx's function, which makes an MPI::Datatype for the program's
 * function. */
typedef void cxx_function(void *in, void *inout, int *count,
                          MPI_Datatype *datatype, MPI_User_function *function);

static void apply(MPI_Op op, void *in, void *inout, int *count,
                  MPI_Datatype datatype)
{
    MPI_Fint number;

    switch (op->language) {
    case CKPT_FORTRAN:
        number = PMPI_Type_c2f(datatype);
        op->function(in, inout, count, (MPI_Datatype *)(void *)&number);
        break;
    case CKPT_CXX:
        ((cxx_function *)(void *)op->function)(in, inout, count, &datatype,
                                               op->cxx);
        break;
    default:
        op->function(in, inout, count, &datatype);
        break;
    }
}

/* Called by a thunk in the lower half, with the lower thread pointer. */
__attribute__((used)) void ckpt_op_call(void *in, void *inout, int *count,
                                        MPI_Datatype *lower_type, int number)
{
    uintptr_t lower = ckpt_thread_pointer_get();
    struct ckpt_callback outer;
    MPI_Datatype datatype;

    ckpt_thread_pointer_set(ckpt_halves_below(lower)->upper);
    datatype = ckpt_datatype_of(*lower_type);
    CKPT_INVARIANT(number >= 0 && number < CKPT_OP_THUNKS && op_of[number] != NULL);
    ckpt_callback_enter(&outer);
    apply(op_of[number], in, inout, count, datatype);
    ckpt_callback_leave(&outer);
    ckpt_thread_pointer_set(lower);
}

static MPI_User_function *thunk(int number)
{
    return (MPI_User_function *)(ckpt_op_thunks + number * THUNK_SIZE);
}

static int take_thunk(MPI_Op op)
{
    for (int i = 0; i < CKPT_OP_THUNKS; i++) {
        int number = (next_thunk + i) % CKPT_OP_THUNKS;

        if (op_of[number] == NULL) {
            op_of[number] = op;
            next_thunk = (number + 1) % CKPT_OP_THUNKS;
            return number;
        }
    }
    return -1;
}

void ckpt_op_close(MPI_Op op)
{
    CKPT_INVARIANT(op->thunk >= 0 && op->thunk < CKPT_OP_THUNKS && op_of[op->thunk] == op);
    op_of[op->thunk] = NULL;
}

int ckpt_op_rebuild(MPI_Op op)
{
    int code;

    CKPT_INVARIANT(op_of[op->thunk] == op);
    CKPT_CALL(code, Op_create, thunk(op->thunk), op->commutes,
              (MPI_Op *)&op->handle.lower);
    return code;
}

int ckpt_op_create(MPI_User_function *function, enum ckpt_language language,
                   int commutes, MPI_Op *op_p, void *site)
{
    MPI_Op op;
    int code;

    ckpt_begin();
    op = ckpt_handle_create(CKPT_OP, sizeof(*op), NULL, "MPI_Op_create", site);
    if (op == NULL) {
        CKPT_RETURN(NULL, MPI_ERR_NO_MEM, "MPI_Op_create");
    }
    op->function = function;
    op->language = language;
    op->commutes = commutes;
    op->thunk = take_thunk(op);
    code = op->thunk < 0 ? MPI_ERR_NO_MEM : ckpt_op_rebuild(op);
    if (code == MPI_SUCCESS) {
        *op_p = op;
    } else {
        ckpt_handle_destroy(&op->handle);
    }
    CKPT_RETURN(NULL, code, "MPI_Op_create");
}

int PMPI_Op_create(MPI_User_function *function, int commutes, MPI_Op *op_p)
{
    CKPT_REQUIRE(op_p != NULL, NULL, MPI_ERR_OP, "MPI_Op_create");
    CKPT_REQUIRE(function != NULL, NULL, MPI_ERR_ARG, "MPI_Op_create");
    return ckpt_op_create(function, CKPT_C, commutes, op_p, CKPT_SITE);
}
CKPT_ALIAS(Op_create);

int PMPI_Op_free(MPI_Op *op_p)
{
    CKPT_REQUIRE(op_p != NULL, NULL, MPI_ERR_OP, "MPI_Op_free");
    MPI_Op op = *op_p;

    if (op == NULL || op == MPI_OP_NULL ||
        (op->handle.flags & CKPT_HANDLE_PREDEFINED)) {
        return ckpt_error(NULL, MPI_ERR_OP, "MPI_Op_free");
    }
    ckpt_begin();
    ckpt_release(op);
    *op_p = MPI_OP_NULL;
    ckpt_end();
    return MPI_SUCCESS;
}
CKPT_ALIAS(Op_free);
