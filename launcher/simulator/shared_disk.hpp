/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shared_disk.hpp - a file system that divides its bandwidth evenly among the
 * ranks that write their images to it at the same time.
 */
#pragma once

#include "simulator/event_queue.hpp"

#include <deque>
#include <functional>

namespace ckpt::simulator
{

class SharedDisk : public EventHandler
{
  public:
    using Written = std::function<void(Rank)>;

    /* All images have `bytes`; `at_once` writers at most (0: any number), the
     * others wait in line. `written` is called when a rank's is written. */
    SharedDisk(EventQueue &queue, double bytes, double bandwidth, Rank at_once,
               Written written);

    void write(Rank rank);
    Rank most_writers() const
    {
        return most_;
    } /* at the same time, so far */

    void handle(const Event &event) override;

  private:
    struct Writer {
        Rank rank;
        double until; /* the value of served_ at which it is done */
    };

    void advance();
    void admit();
    void schedule_next();

    EventQueue &queue_;
    double bytes_;
    double bandwidth_;
    Rank at_once_;
    Written written_;
    /* All images have the same size, so who begins first ends first. */
    std::deque<Writer> writers_;
    std::deque<Rank> waiting_;
    double served_ = 0; /* bytes that a writer from the start would have got */
    Seconds since_ = 0; /* served_ is of this time */
    std::uint64_t generation_ = 0; /* outdates scheduled events */
    Rank most_ = 0;
};

} // namespace ckpt::simulator
