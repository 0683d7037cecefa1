/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * alarm.hpp - what the membership takes the time from, and is woken by.
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

    /* Normal context, like all here; no call waits. */
    Alarm() = default;
    virtual ~Alarm() = default;
    Alarm(const Alarm &) = delete;
    Alarm &operator=(const Alarm &) = delete;

    /* Never goes back. */
    virtual Time now() const = 0;
    /* From `when` on fd() can be read from; Time::max(): never. Instead of what was set
     * before. */
    virtual void set(Time when) = 0;
    /* The same one as long as the object lives, and its own. */
    virtual int fd() const = 0;
    /* fd() cannot be read from any more until the time that is set next. */
    virtual void quiet() = 0;
};

/* By the clock of the machine. */
class MachineAlarm : public Alarm
{
  public:
    MachineAlarm(); /* Throws Error: no descriptor. */

    Time now() const override { return Time::clock::now(); }
    void set(Time when) override;
    int fd() const override { return timer_.get(); }
    void quiet() override;

  private:
    Fd timer_;
};

} // namespace ckpt::membership
