/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * job_opening.cpp - opens a job's directories on a separate thread.
 */
#include "agent/coordinator/job_opening.hpp"

#include "common/invariant.hpp"

#include <exception>
#include <memory>
#include <utility>

namespace ckpt
{

void JobOpening::begin(std::function<Opened()> open, Time now)
{
    CKPT_EXPECT(!result_.valid()); /* one thread opens the directories */
    auto promise = std::make_shared<std::promise<Opened>>();

    result_ = promise->get_future();
    since_ = now;
    is_late_ = false;
    thread_.run([this, promise, open = std::move(open)] {
        try {
            promise->set_value(open());
        } catch (...) {
            promise->set_exception(std::current_exception());
        }
        worker_.reply([this] { done_(); });
    });
}

void JobOpening::wait() const
{
    CKPT_EXPECT(result_.valid());
    result_.wait_for(timeout);
}

bool JobOpening::is_done() const
{
    return result_.valid() &&
           result_.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

bool JobOpening::turns_late(Time now)
{
    CKPT_EXPECT(result_.valid());
    if (now < late_at()) {
        return false;
    }
    is_late_ = true;
    return true;
}

} // namespace ckpt
