/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_pmix.h - the launcher's requests and events that arrive over PMIx
 * (docs/pmix.md).
 */
#ifndef CKPT_HOST_PMIX_H
#define CKPT_HOST_PMIX_H

/* See heed_launcher of struct ckpt_lower. */
void ckpt_host_pmix_open(const char *control);

/* Returns a function of the MPI library's PMIx, or NULL if it has none. Context: normal (lower
 * half). */
void *ckpt_host_pmix_function(const char *name);

#endif
