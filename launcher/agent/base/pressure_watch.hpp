/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pressure_watch.hpp - tells when programs wait for a resource (pressure stall information, Linux
 * 4.20): on this machine, or in this process's control group.
 */
#pragma once

#include "common/event_loop.hpp"
#include "common/fd.hpp"

#include <filesystem>
#include <functional>
#include <istream>
#include <string>
#include <vector>

namespace ckpt
{

class PressureWatch
{
  public:
    /* resource: "memory", "cpu" or "io". is_short: called in the loop's thread each time programs
     * have waited for it for a tenth of two seconds. Where the kernel does not tell, it is never
     * called. loop: must live longer. */
    PressureWatch(EventLoop &loop, const std::string &resource, std::function<void()> is_short);
    ~PressureWatch();
    PressureWatch(const PressureWatch &) = delete;
    PressureWatch &operator=(const PressureWatch &) = delete;

    /* Number of files that are watched. */
    std::size_t watched() const { return files_.size(); }

  private:
    void watch(const std::filesystem::path &file);

    EventLoop &loop_;
    std::function<void()> is_short_;
    std::vector<Fd> files_;
};

/* Returns the directory of a process's control group (version 2), from its /proc/PID/cgroup; "": it
 * has none of its own. */
std::string unified_group(std::istream &file);

} // namespace ckpt
