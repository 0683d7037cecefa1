/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * alarm.hpp - clock and timer of the membership.
 */
#pragma once

#include "common/fd.hpp"

#include <chrono>

namespace ckpt::membership
{

class Alarm
{
  public:
    using Time = std::chrono::steady_clock::time_point;

    /* Normal context, like all functions here; no call blocks. */
    Alarm() = default;
    virtual ~Alarm() = default;
    Alarm(const Alarm &) = delete;
    Alarm &operator=(const Alarm &) = delete;

    /* Never decreases. */
    virtual Time now() const = 0;
    /* Makes fd() readable from `when` on; Time::max(): never. Replaces the earlier setting. */
    virtual void set(Time when) = 0;
    /* The descriptor is the same as long as the object lives, which owns it. */
    virtual int fd() const = 0;
    /* Makes fd() unreadable until the time that is set next. */
    virtual void quiet() = 0;
};

/* Uses the machine's clock. */
class MachineAlarm : public Alarm
{
  public:
    MachineAlarm(); /* Throws Error if no descriptor is left. */

    Time now() const override { return Time::clock::now(); }
    void set(Time when) override;
    int fd() const override { return timer_.get(); }
    void quiet() override;

  private:
    Fd timer_;
};

} // namespace ckpt::membership
