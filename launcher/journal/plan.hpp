/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * plan.hpp - which records a roll back to a checkpoint undoes, and in which order.
 */
#pragma once

#include "journal/journal.hpp"

#include <optional>
#include <set>

namespace ckpt::journal
{

struct Plan {
    std::uint64_t checkpoint = 0;
    /* To be undone in this order, the newest first. Records whose effect an older one
     * replaces are left out. */
    std::vector<const Record *> steps;
    /* What processes knew at the checkpoint: the last STATE record of each path. */
    std::vector<const Record *> states;
    /* By log: for each of its records, whether the roll back consumes it. */
    std::vector<std::vector<bool>> consumed;
    /* Why it cannot be carried out; empty if it can, as far as the logs tell. */
    std::vector<std::string> obstacles;
};

/* Of the job at the checkpoint. */
struct Ranks {
    int count = 0; /* 0: not known */
    /* Those that had died: saved as they were before, so they have no mark. */
    std::set<int> replayed{};
};

/*
 * checkpoint: its number; 0: before the first record. The journal must outlive the plan.
 */
Plan make_plan(const Journal &journal, std::uint64_t checkpoint, const Ranks &ranks);

/* The index of the last MARK of the checkpoint in the log; nothing if it has none. */
std::optional<std::size_t> last_mark(const Log &log, std::uint64_t checkpoint);

/* Of a log: where the records that follow its last MARK of the checkpoint begin. */
struct MarkPlace {
    std::size_t log = 0;
    std::size_t next = 0; /* index of the first record behind the mark */
    std::uint64_t order = 0;
};

/* Those logs that have the mark; of several for one rank only that of the last launch. */
std::vector<MarkPlace> find_marks(const Journal &journal, std::uint64_t checkpoint);

/* Greatest order of a record that was made before the checkpoint, for logs without a mark. */
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
