/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * event_queue.hpp - what is going to happen, in the order of time; at the same
 * time, in the order in which it was scheduled.
 */
#pragma once

#include "simulator/job_model.hpp"

#include <cstdint>
#include <queue>
#include <vector>

namespace ckpt::simulator
{

struct Event;

class EventHandler
{
  public:
    virtual ~EventHandler() = default;
    virtual void handle(const Event &event) = 0;
};

struct Event {
    Seconds time;
    std::uint64_t order;
    EventHandler *handler;
    std::uint32_t kind; /* what it means, and what the rest is, */
    std::uint32_t one;  /* is for the handler to say */
    std::uint64_t two;
    std::uint64_t three;
};

class EventQueue
{
  public:
    Seconds now() const { return now_; }
    std::uint64_t handled() const { return handled_; }

    void schedule(Seconds time, EventHandler &handler, std::uint32_t kind,
                  std::uint32_t one = 0, std::uint64_t two = 0,
                  std::uint64_t three = 0)
    {
        events_.push({time, order_++, &handler, kind, one, two, three});
    }

    /* Lets the next thing happen; false if there is none. */
    bool step()
    {
        if (events_.empty()) {
            return false;
        }
        const Event event = events_.top();
        events_.pop();
        now_ = event.time;
        handled_++;
        event.handler->handle(event);
        return true;
    }

  private:
    struct Later {
        bool operator()(const Event &a, const Event &b) const
        {
            return a.time != b.time ? a.time > b.time : a.order > b.order;
        }
    };

    std::priority_queue<Event, std::vector<Event>, Later> events_;
    Seconds now_ = 0;
    std::uint64_t order_ = 0;
    std::uint64_t handled_ = 0;
};

} // namespace ckpt::simulator
