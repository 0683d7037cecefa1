/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shared_disk.hpp - a file system that divides its bandwidth evenly among the
 * ranks that write images at the same time.
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

    /* All images have `bytes` bytes. At most `at_once` ranks write at a time
     * (0: any number); the others wait in order. `written` is called when a
     * rank's image is written. */
    SharedDisk(EventQueue &queue, double bytes, double bandwidth, Rank at_once,
               Written written);

    void write(Rank rank);
    Rank most_writers() const
    {
        return most_;
    } /* maximum of simultaneous writers so far */

    void handle(const Event &event) override;

  private:
    struct Writer {
        Rank rank;
        double until; /* value of served_ at which the rank is done */
    };

    void advance();
    void admit();
    void schedule_next();

    EventQueue &queue_;
    double bytes_;
    double bandwidth_;
    Rank at_once_;
    Written written_;
    /* In order of completion: all images have the same size, so the first to
     * start ends first. */
    std::deque<Writer> writers_;
    std::deque<Rank> waiting_;
    double served_ = 0;            /* bytes written by a writer since the start */
    Seconds since_ = 0;            /* time to which served_ refers */
    std::uint64_t generation_ = 0; /* invalidates scheduled events */
    Rank most_ = 0;
};

} // namespace ckpt::simulator
