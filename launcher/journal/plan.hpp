/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * plan.hpp - which records a rollback to a checkpoint undoes, and in which order.
 */
#pragma once

#include "journal/journal.hpp"

#include <optional>
#include <set>

namespace ckpt::journal
{

struct Plan {
    std::uint64_t checkpoint = 0;
    /* To be undone in this order, the newest first. Omits records whose effect an older one
     * replaces. */
    std::vector<const Record *> steps;
    /* The state that processes knew at the checkpoint: the last STATE record of each path. */
    std::vector<const Record *> states;
    /* By log: for each of its records, whether the rollback consumes it. */
    std::vector<std::vector<bool>> consumed;
    /* Why the rollback is impossible; empty if it is possible as far as the logs tell. */
    std::vector<std::string> obstacles;
};

/* The ranks of the job at the checkpoint. */
struct Ranks {
    int count = 0; /* 0: unknown */
    /* Ranks that had died. They were saved in an earlier state, so they have no mark. */
    std::set<int> replayed{};
};

/*
 * checkpoint: its number; 0: before the first record. The journal must outlive the plan.
 */
Plan make_plan(const Journal &journal, std::uint64_t checkpoint, const Ranks &ranks);

/* Returns the index of the log's last MARK of the checkpoint; nothing if it has none. */
std::optional<std::size_t> last_mark(const Log &log, std::uint64_t checkpoint);

/* The records of a log that follow its last MARK of the checkpoint. */
struct MarkPlace {
    std::size_t log = 0;
    std::size_t next = 0; /* index of the first record after the mark */
    std::uint64_t order = 0;
};

/* Returns the marks of all logs that have one. If several logs of one rank do, returns only
 * that of the last launch. */
std::vector<MarkPlace> find_marks(const Journal &journal, std::uint64_t checkpoint);

/* For logs without a mark: the greatest order of a record made before the checkpoint. */
class Thresholds
{
  public:
    Thresholds(const Journal &journal, const std::vector<MarkPlace> &marks);
    std::uint64_t of(const Log &log) const;

  private:
    std::map<std::string, std::uint64_t> by_host_;
    std::uint64_t greatest_ = 0;
};

} // namespace ckpt::journal
