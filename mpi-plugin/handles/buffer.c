/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * buffer.c - the buffer that the application has attached for buffered sends.
 */
#include "handles/buffer.h"

#include "handles/handles.h"
#include "runtime/crossing.h"

/* The attached buffer is the application's memory. A restart attaches it to the new lower
 * half, empty: every buffered message was received or logged. */
static struct {
    void *buffer;
    int size;
} attached;

int ckpt_buffer_attach(void *buffer, int size)
{
    int code;

    CKPT_CALL(code, Buffer_attach, buffer, size);
    if (code == MPI_SUCCESS) {
        attached.buffer = buffer;
        attached.size = size;
    }
    return code;
}

int ckpt_buffer_detach(void *buffer, int *size)
{
    int code;

    CKPT_CALL(code, Buffer_detach, buffer, size);
    if (code == MPI_SUCCESS) {
        attached.buffer = NULL;
    }
    return code;
}

int ckpt_buffer_rebuild(void)
{
    int code = MPI_SUCCESS;

    if (attached.buffer != NULL) {
        CKPT_CALL(code, Buffer_attach, attached.buffer, attached.size);
    }
    return code;
}
