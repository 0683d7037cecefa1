/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * copy_standby.c - between STAND and GO.
 */
#include "process/copy_standby.h"

#include "base/invariant.h"
#include "sys/syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>

static struct ckpt_copy_state standing; /* all 0: the process does not stand */
static struct ckpt_copy_packet packet;  /* the last order */

/* ---- The end of the connection ------------------------------------------------------ */

/* Returns 1 if the other end is closed. */
static int has_ended(int connection)
{
    char byte;

    return ckpt_syscall6(SYS_recvfrom, connection, (long)&byte, 1, MSG_PEEK | MSG_DONTWAIT, 0,
                         0) == 0;
}

/* Lets the kernel send this signal to the process when something comes on the connection, or its
 * other end is closed; 0: no more. Returns 0 or -errno. */
static int signal_events(int connection, int signal)
{
    const long flags = ckpt_sys_fcntl(connection, F_GETFL, 0);
    long error = flags < 0 ? flags : 0;

    if (error == 0) {
        error = ckpt_sys_fcntl(connection, F_SETSIG, signal);
    }
    if (error == 0) {
        error = ckpt_sys_fcntl(connection, F_SETOWN, ckpt_sys_getpid());
    }
    if (error == 0) {
        error = ckpt_sys_fcntl(connection, F_SETFL,
                               signal != 0 ? flags | O_ASYNC : flags & ~(long)O_ASYNC);
    }
    return (int)error;
}

int ckpt_copy_standby_begin(const struct ckpt_copy_state *state,
                            const struct ckpt_copy_order *order)
{
    int error;

    CKPT_INVARIANT(!standing.stands && order->type == CKPT_COPY_STAND);
    standing = *state;
    standing.stands = 1;
    standing.agent = -1;
    packet.as.given.order = *order;
    error = signal_events(standing.connection, SIGKILL);
    if (error == 0 && has_ended(standing.connection)) { /* before the kernel was asked */
        ckpt_sys_exit_group(0);
    }
    return error;
}

/* ---- Orders -------------------------------------------------------------------------- */

int ckpt_copy_stands(void)
{
    return standing.stands;
}

int ckpt_copy_stand_by(struct ckpt_resume_info *info)
{
    CKPT_INVARIANT(standing.stands && standing.agent < 0);
    if (signal_events(standing.connection, 0) != 0) {
        ckpt_sys_exit_group(1); /* orders would end this process, too */
    }
    ckpt_copy_answer(&standing, &packet, CKPT_COPY_STANDING, NULL);
    while (standing.agent < 0) {
        ckpt_copy_receive(standing.connection, &packet);
        if (packet.size == -EINTR) {
            continue;
        }
        if (packet.size < (long)sizeof(packet.as.given.order)) {
            ckpt_sys_exit_group(0);
        }
        ckpt_copy_obey(&standing, &packet, NULL);
    }
    (void)ckpt_sys_close(standing.connection);
    info->restart_started = packet.as.given.order.value;
    standing.stands = 0;
    return standing.agent;
}
