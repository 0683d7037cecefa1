/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * launcher_children.cpp - how the processes end that a launcher has started.
 */
#include "cli/launcher_children.hpp"

#include "common/processes.hpp"

#include <sys/socket.h>

#include <optional>
#include <utility>

namespace ckpt::cli
{

namespace
{

/* Since Linux 6.5; Debian 12's headers do not have it. */
constexpr int so_peerpidfd = 77;

/* Nothing if it has ended already: it was not waiting for us then. */
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
      listener_(loop, socket, SOCK_STREAM, refusals_,
                [this](const Fd &connection) { take(connection); })
{
}

/* It goes on when the connection is closed, by our return. */
void LauncherChildren::take(const Fd &connection)
{
    auto peer = peer_of(connection.get());

    if (peer && parent_of(peer->first) == launcher_) {
        ended_.watch(peer->first, std::move(peer->second));
    }
}

} // namespace ckpt::cli
