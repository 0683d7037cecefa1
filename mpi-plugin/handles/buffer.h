/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * buffer.h - the buffer that the application has attached for buffered sends.
 */
#ifndef CKPT_BUFFER_H
#define CKPT_BUFFER_H

/* MPI_Buffer_attach and MPI_Buffer_detach. Context: normal, between ckpt_begin and
 * ckpt_end. Return an MPI error code. */
int ckpt_buffer_attach(void *buffer, int size);
int ckpt_buffer_detach(void *buffer, int *size);

/* Attaches the buffer to a new lower half. Context: quiesced. Returns an MPI error code. */
int ckpt_buffer_rebuild(void);

#endif
