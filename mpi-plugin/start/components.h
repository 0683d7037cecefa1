/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * components.h - a new world uses the components of the MPI library that the former one has chosen.
 *
 * MPI_Init of Open MPI searches for components: it opens all that are installed, with their
 * libraries, and closes most of them. A library that gets the names opens only these. The names
 * are in the upper half's memory, so they are in the image.
 */
#ifndef CKPT_START_COMPONENTS_H
#define CKPT_START_COMPONENTS_H

#include "runtime/crossing.h"

/*
 * Learns what the library in the lower half has chosen. Call after its MPI_Init, if it searched.
 * If the library or the launcher does not tell enough, nothing is known from then on. Context of
 * both: normal or quiesced, between ckpt_load() and the application's next MPI call.
 */
void ckpt_components_learn(void);

/*
 * Names to the library in the lower half what the former one had chosen; only if it is the same
 * library in the same surroundings (surroundings.h), so that it would choose the same again. A
 * parameter that the user or the launcher has set is not touched. Call before the library's
 * MPI_Init. Returns 1 if the library has the names, else 0: it will search.
 *
 * If the library ends the process before ckpt_components_named(), ckpt-host writes a line that
 * says so.
 */
int ckpt_components_name(void);

/* Returns where the line is, for struct ckpt_lower. Context: any. */
const char *const volatile *ckpt_components_last_words(void);

/* MPI_Init has returned, with this MPI error code. */
void ckpt_components_named(int code);

#endif
