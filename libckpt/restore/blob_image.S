/* SPDX-License-Identifier: BSD-3-Clause */
/* blob_image.S - the restorer blob as bytes, linked by Makefile.am. */
    .section .rodata
    .balign 16
    .globl ckpt_blob_image
    .hidden ckpt_blob_image
    .globl ckpt_blob_image_end
    .hidden ckpt_blob_image_end
ckpt_blob_image:
    .incbin "restore/blob.bin"
ckpt_blob_image_end:
    .section .note.GNU-stack, "", @progbits
