/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pressure_watch.cpp - triggers of the kernel's pressure files.
 */
#include "agent/base/pressure_watch.hpp"

#include "common/memory.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

#include <fcntl.h>
#include <sys/epoll.h>
#include <unistd.h>

namespace ckpt
{

namespace
{

/* Some task has waited for 200 ms of 2 s. Processes without privileges may only choose multiples
 * of two seconds. The kernel takes the last byte for a null. */
constexpr char trigger[] = "some 200000 2000000";

} // namespace

std::string unified_group(std::istream &file)
{
    const auto groups = control_groups(file);
    const auto unified = std::ranges::find(groups, "", &ControlGroup::controllers);

    return unified == groups.end() ? std::string() : unified->directory.string();
}

PressureWatch::PressureWatch(EventLoop &loop, const std::string &resource,
                             std::function<void()> is_short)
    : loop_(loop), is_short_(std::move(is_short))
{
    std::ifstream file("/proc/self/cgroup");
    const std::string group = unified_group(file);

    watch("/proc/pressure/" + resource);
    if (!group.empty()) {
        watch(std::filesystem::path("/sys/fs/cgroup") / group / (resource + ".pressure"));
    }
}

PressureWatch::~PressureWatch()
{
    for (const Fd &file : files_) {
        loop_.forget(file.get());
    }
}

void PressureWatch::watch(const std::filesystem::path &path)
{
    Fd file(::open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));

    if (!file || ::write(file.get(), trigger, sizeof trigger) < 0) {
        spdlog::debug("{} does not tell when programs wait: {}", path.string(),
                      std::strerror(errno));
        return;
    }
    /* EPOLLERR: the control group has been removed. */
    loop_.watch(file.get(), EPOLLPRI, [this, descriptor = file.get()](std::uint32_t events) {
        if ((events & EPOLLERR) != 0) {
            loop_.forget(descriptor);
        } else {
            is_short_();
        }
    });
    files_.push_back(std::move(file));
}

} // namespace ckpt
