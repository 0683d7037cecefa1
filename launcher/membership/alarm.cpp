/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * alarm.cpp - clock and timer of the membership.
 */
#include "membership/alarm.hpp"

#include "common/error.hpp"

#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

namespace ckpt::membership
{

MachineAlarm::MachineAlarm()
    : timer_(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK))
{
    if (!timer_) {
        fail_errno(errno, "no timer for the heartbeats");
    }
}

void MachineAlarm::set(Time when)
{
    using namespace std::chrono;
    itimerspec value{};

    if (when != Time::max()) {
        /* zero would disarm the timer */
        const auto due = std::max<nanoseconds>(when.time_since_epoch(), nanoseconds(1));
        value.it_value.tv_sec = duration_cast<seconds>(due).count();
        value.it_value.tv_nsec = (due % seconds(1)).count();
    }
    timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &value, nullptr);
}

void MachineAlarm::quiet()
{
    std::uint64_t expirations;

    [[maybe_unused]] ssize_t size =
        ::read(timer_.get(), &expirations, sizeof expirations);
}

} // namespace ckpt::membership
