/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * unprotected.hpp - since when a job that is to be saved from time to time could not be. No I/O.
 */
#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace ckpt
{

class Unprotected
{
  public:
    using Time = std::chrono::steady_clock::time_point;
    using Duration = std::chrono::steady_clock::duration;

    /* What there is to tell. */
    struct News {
        bool is_unprotected = false; /* else it is protected again */
        bool is_overdue = false;     /* for a whole interval, and tried again */
        std::string why;
    };

    /* A checkpoint could not be taken, at that time. */
    void failed(Time now, const std::string &why);
    /* One has been under way since then. An interval later the job counts as unprotected. */
    void under_way(Time since, Time now, Duration interval);
    /* There is one. */
    void committed();

    /* Since when; nothing: it is protected. */
    std::optional<Time> since() const { return since_; }
    const std::string &why() const { return why_; }

    /* Each change once: that it is unprotected, that it has been for `interval` and a second
     * checkpoint has failed, that it is not any more. */
    std::optional<News> news(Time now, Duration interval);

  private:
    std::optional<Time> since_;
    std::string why_;
    unsigned failures_ = 0;
    bool told_ = false;
    bool told_overdue_ = false;
};

} // namespace ckpt
