/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ended_processes.cpp - exit statuses by pidfd. EPOLLHUP says that the process has been waited for.
 * Then PIDFD_GET_INFO returns its status; Debian 12's headers lack that request.
 */
#include "agent/base/ended_processes.hpp"

#include "common/pidfd.hpp"

#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/utsname.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <utility>

namespace ckpt
{

namespace
{

/* struct pidfd_info of linux/pidfd.h, first version. */
struct PidfdInfo {
    std::uint64_t mask;
    std::uint64_t cgroup;
    std::uint32_t pid, tgid, ppid;
    std::uint32_t ids[8];
    std::int32_t exit_code;
};
static_assert(sizeof(PidfdInfo) == 64);

constexpr unsigned long pidfd_get_info = _IOWR(0xff, 11, PidfdInfo);
constexpr std::uint64_t pidfd_info_exit = 1u << 3;

std::optional<int> status_of(int process)
{
    PidfdInfo info{};

    info.mask = pidfd_info_exit;
    if (ioctl(process, pidfd_get_info, &info) < 0 || (info.mask & pidfd_info_exit) == 0) {
        return std::nullopt;
    }
    return info.exit_code;
}

} // namespace

/* The kernel can since Linux 6.15. */
bool EndedProcesses::can_tell_status()
{
    utsname name{};
    int major = 0, minor = 0;

    return uname(&name) == 0 && std::sscanf(name.release, "%d.%d", &major, &minor) == 2 &&
           std::pair(major, minor) >= std::pair(6, 15);
}

EndedProcesses::EndedProcesses(EventLoop &loop, Handlers handlers)
    : loop_(loop), handlers_(std::move(handlers))
{
}

EndedProcesses::~EndedProcesses()
{
    for (const auto &[rank, entry] : entries_) {
        loop_.forget(entry.process.get());
    }
}

void EndedProcesses::watch(int rank, Fd process)
{
    forget(rank);
    loop_.watch(process.get(), EPOLLIN,
                [this, rank](std::uint32_t events) { event(rank, events); });
    entries_[rank].process = std::move(process);
}

void EndedProcesses::forget(int rank)
{
    auto found = entries_.find(rank);

    if (found != entries_.end()) {
        loop_.forget(found->second.process.get());
        entries_.erase(found);
    }
}

void EndedProcesses::kill() const
{
    for (const auto &[rank, entry] : entries_) {
        send_signal(entry.process, SIGKILL);
    }
}

void EndedProcesses::event(int rank, std::uint32_t events)
{
    Entry &entry = entries_.at(rank);

    if (!std::exchange(entry.has_ended, true)) {
        loop_.change(entry.process.get(), 0); /* EPOLLHUP is reported always */
        handlers_.ended(rank);
        if (!can_tell_status()) {
            forget(rank);
            return;
        }
    }
    if ((events & EPOLLHUP) != 0) {
        const auto status = status_of(entry.process.get());
        forget(rank);
        if (status) {
            handlers_.status(rank, *status);
        }
    }
}

} // namespace ckpt
