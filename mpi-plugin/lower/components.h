/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * components.h - the components of the MPI library that carry its messages.
 */
#ifndef CKPT_COMPONENTS_H
#define CKPT_COMPONENTS_H

/* The frameworks of Open MPI whose components are searched for in MPI_Init, and whose search
 * takes time: docs/benchmarks.md. */
enum ckpt_framework {
    CKPT_FRAMEWORK_PML = 0, /* point-to-point messaging: the library selects one component */
    CKPT_FRAMEWORK_BTL,     /* byte transfer: all that find a device or a peer */
    CKPT_FRAMEWORK_MTL,     /* matching transport, below the pml "cm": one */
    CKPT_FRAMEWORKS,
};

#define CKPT_COMPONENT_NAMES_SIZE 512
#define CKPT_PARAMETER_FILES_SIZE 4096

/* All texts end with NUL. */
struct ckpt_components {
    /* By framework: names with commas between them, as a parameter has them; "": none. */
    char names[CKPT_FRAMEWORKS][CKPT_COMPONENT_NAMES_SIZE];
    /* Paths of the parameter files that the library reads, with commas between them. A file need
     * not exist. */
    char files[CKPT_PARAMETER_FILES_SIZE];
};

/* Returns the name of a framework, "pml". Context: any, in both halves. */
static inline const char *ckpt_framework_name(enum ckpt_framework framework)
{
    return framework == CKPT_FRAMEWORK_PML ? "pml" : framework == CKPT_FRAMEWORK_BTL ? "btl"
                                                                                     : "mtl";
}

#endif
