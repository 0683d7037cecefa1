/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * event_queue.hpp - scheduled events in the order of time; events of the same
 * time are in the order in which they were scheduled.
 */
#pragma once

#include "common/invariant.hpp"
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
    std::uint32_t kind; /* the handler defines the meaning of the kind, */
    std::uint32_t one;  /* and that of the three numbers */
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
        CKPT_EXPECT(time >= now_);
        events_.push({time, order_++, &handler, kind, one, two, three});
    }

    /* Handles the next event; returns false if the queue is empty. */
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
