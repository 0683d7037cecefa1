/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * launcher_connection.h - which descriptors connect this process to the server of its launcher.
 */
#ifndef CKPT_LAUNCHER_CONNECTION_H
#define CKPT_LAUNCHER_CONNECTION_H

/* Returns 1 if the descriptor is connected to the PMIx server that `environment`, the launcher's,
 * names (PMIX_SERVER_URI...), else 0. Context: any. */
int ckpt_launcher_connection(int fd, char *const environment[]);

#endif
