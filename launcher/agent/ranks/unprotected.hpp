/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * unprotected.hpp - since when a job's periodic checkpoints fail. No I/O.
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

    /* A change to report. */
    struct News {
        bool is_unprotected = false; /* else it is protected again */
        bool is_overdue = false;     /* for a whole interval, with a failed second attempt */
        std::string why;
    };

    /* A checkpoint has failed at `now`. */
    void failed(Time now, const std::string &why);
    /* A checkpoint has been under way since then. After an interval the job counts as
     * unprotected. */
    void under_way(Time since, Time now, Duration interval);
    /* A checkpoint was committed. */
    void committed();

    /* Time since when the job is unprotected; nothing: it is protected. */
    std::optional<Time> since() const { return since_; }
    const std::string &why() const { return why_; }

    /* Returns each change once: the job is unprotected; it has been so for `interval` and a
     * second checkpoint has failed; it is protected again. */
    std::optional<News> news(Time now, Duration interval);

  private:
    std::optional<Time> since_;
    std::string why_;
    unsigned failures_ = 0;
    bool told_ = false;
    bool told_overdue_ = false;
};

} // namespace ckpt
