/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shared_disk.cpp - processor sharing: one running sum serves all writers.
 */
#include "config.h"
#include "simulator/shared_disk.hpp"

#include "common/invariant.hpp"

#include <algorithm>

namespace ckpt::simulator
{

SharedDisk::SharedDisk(EventQueue &queue, double bytes, double bandwidth,
                       Rank at_once, Written written)
    : queue_(queue), bytes_(bytes), bandwidth_(bandwidth), at_once_(at_once),
      written_(std::move(written))
{
}

void SharedDisk::write(Rank rank)
{
    advance();
    waiting_.push_back(rank);
    admit();
    schedule_next();
}

void SharedDisk::admit()
{
    while (!waiting_.empty() && (at_once_ == 0 || writers_.size() < at_once_)) {
        writers_.push_back({waiting_.front(), served_ + bytes_});
        waiting_.pop_front();
    }
    most_ = std::max(most_, static_cast<Rank>(writers_.size()));
    CKPT_INVARIANT(at_once_ == 0 || writers_.size() <= at_once_);
}

void SharedDisk::advance()
{
    CKPT_EXPECT(queue_.now() >= since_);
    if (!writers_.empty()) {
        served_ += (queue_.now() - since_) * bandwidth_ /
                   static_cast<double>(writers_.size());
    }
    since_ = queue_.now();
}

void SharedDisk::schedule_next()
{
    generation_++;
    if (!writers_.empty()) {
        const double left = std::max(0.0, writers_.front().until - served_);
        queue_.schedule(queue_.now() +
                            left * static_cast<double>(writers_.size()) /
                                bandwidth_,
                        *this, 0, 0, generation_);
    }
}

void SharedDisk::handle(const Event &event)
{
    if (event.two != generation_) {
        return;
    }
    advance();
    CKPT_INVARIANT(!writers_.empty());
    /* rounding errors of many small steps may add up */
    served_ = std::max(served_, writers_.front().until);
    std::vector<Rank> done;
    while (!writers_.empty() &&
           writers_.front().until <= served_ + 1e-9 * bytes_) {
        done.push_back(writers_.front().rank);
        writers_.pop_front();
    }
    admit();
    schedule_next();
    for (Rank rank : done) {
        written_(rank);
    }
}

} // namespace ckpt::simulator
