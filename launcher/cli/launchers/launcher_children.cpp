/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * launcher_children.cpp - observes how the children of a launcher end.
 */
#include "cli/launchers/launcher_children.hpp"

#include "common/processes.hpp"

#include <sys/socket.h>

#include <optional>
#include <utility>

namespace ckpt::cli
{

namespace
{

/* Since Linux 6.5; Debian 12's headers lack it. */
constexpr int so_peerpidfd = 77;

/* Returns nothing if the process has ended already; then it no longer waits. */
std::optional<std::pair<pid_t, Fd>> peer_of(int connection)
{
    ucred credentials{};
    socklen_t size = sizeof credentials;
    int descriptor = -1;

    if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &credentials, &size) < 0) {
        return std::nullopt;
    }
    size = sizeof descriptor;
    if (getsockopt(connection, SOL_SOCKET, so_peerpidfd, &descriptor, &size) < 0) {
        return std::nullopt;
    }
    return std::pair(credentials.pid, Fd(descriptor));
}

} // namespace

bool LauncherChildren::can_watch()
{
    return EndedProcesses::can_tell_status();
}

LauncherChildren::LauncherChildren(EventLoop &loop, const std::filesystem::path &socket,
                                   Failed failed)
    : ended_(loop, {[](int) {},
                    [failed = std::move(failed)](int child, int status) {
                        if (status != 0) {
                            failed(child, status);
                        }
                    }}),
      listener_(loop, socket, SOCK_STREAM, rejected_,
                [this](const Fd &connection) { take(connection); })
{
}

/* The child continues when this function returns and the connection is
 * closed. */
void LauncherChildren::take(const Fd &connection)
{
    auto peer = peer_of(connection.get());

    if (peer && parent_of(peer->first) == launcher_) {
        ended_.watch(peer->first, std::move(peer->second));
    }
}

} // namespace ckpt::cli
