/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * surroundings.h - what the MPI library's choice of components depends on, besides the library.
 *
 * A rank's choice does not depend on other ranks. So a rank whose library and surroundings are the
 * same as before would choose the same again.
 */
#ifndef CKPT_SURROUNDINGS_H
#define CKPT_SURROUNDINGS_H

#include <stdint.h>

struct ckpt_surroundings {
    /* The variables and parameter files with which users and launchers choose components. */
    uint64_t settings;
    /* Devices of this node for networks and accelerators, their drivers, and the state of the
     * ports of RDMA devices. */
    uint64_t devices;
    /* Number of ranks of the job and of this node: a component for shared memory needs two. */
    uint64_t placement;
};

/*
 * Describes the surroundings by hash values.
 * environment: of the launch; files: paths with commas between them (struct ckpt_components);
 * system: where sysfs is, "/sys".
 * Returns 1; 0 if something is unknown: no sysfs, or a launcher that does not tell the number of
 * ranks of the node. Uses no libc function that allocates. Context: normal or quiesced.
 */
int ckpt_surroundings_read(char *const environment[], const char *files, const char *system,
                           struct ckpt_surroundings *found);

/* Returns 1 if both are equal. Context: any. */
int ckpt_surroundings_equal(const struct ckpt_surroundings *a, const struct ckpt_surroundings *b);

#endif
