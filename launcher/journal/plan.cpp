/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * plan.cpp - chooses the records to undo, orders them, and omits those without effect.
 */
#include "config.h"
#include "journal/plan.hpp"

#include "common/error.hpp"
#include "common/invariant.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace ckpt::journal
{

namespace
{

/* Returns the last mark of each log. */
std::vector<MarkPlace> all_marks(const Journal &journal, std::uint64_t checkpoint)
{
    std::vector<MarkPlace> marks;

    for (std::size_t log = 0; log < journal.logs.size(); log++) {
        if (const auto mark = last_mark(journal.logs[log], checkpoint)) {
            marks.push_back({log, *mark + 1, journal.logs[log].records[*mark].head.order});
        }
    }
    return marks;
}

std::int32_t rank_of(const Journal &journal, const MarkPlace &mark)
{
    CKPT_EXPECT(mark.next > 0 && mark.next <= journal.logs[mark.log].records.size());
    return journal.logs[mark.log].records[mark.next - 1].head.rank;
}

class Planner
{
  public:
    Planner(const Journal &journal, std::uint64_t checkpoint, const Ranks &ranks)
        : journal_(journal), ranks_(ranks)
    {
        plan_.checkpoint = checkpoint;
    }

    Plan make()
    {
        if (plan_.checkpoint != 0) {
            marks_ = find_marks(journal_, plan_.checkpoint);
        }
        require_history();
        choose();
        require_whole_logs();
        require_nothing_lost();
        order();
        drop_superseded();
        return std::move(plan_);
    }

  private:
    void require_history();
    void require_marks_of_all_ranks();
    void require_whole_logs();
    void require_nothing_lost();
    void choose();
    void consume_from(std::size_t log, std::size_t first);
    void consume_above(std::size_t log, std::uint64_t order);
    void consume(std::size_t log, std::size_t i);
    void take_states(const MarkPlace &mark);
    void order();
    void order_by_server(const std::vector<std::size_t> &places);
    void drop_superseded();
    bool has_base() const;
    std::uint64_t first_needed_order(const std::string &host) const;

    template <typename... Args>
    void refuse(fmt::format_string<Args...> format, Args &&...args)
    {
        plan_.obstacles.push_back(fmt::format(format, std::forward<Args>(args)...));
    }

    const Journal &journal_;
    const Ranks &ranks_;
    Plan plan_;
    std::vector<MarkPlace> marks_;
    std::map<std::string, const Record *> states_;
};

/* Whether the last start was from this checkpoint and was recorded. */
bool Planner::has_base() const
{
    return marks_.empty() && journal_.redo &&
           journal_.redo->base_checkpoint == plan_.checkpoint &&
           journal_.dropped.order <= journal_.redo->base_order;
}

void Planner::require_history()
{
    const std::uint64_t dropped = journal_.dropped.checkpoint;

    if (has_base()) {
        return; /* all relevant changes came after the checkpoint */
    }
    if (plan_.checkpoint < dropped) {
        refuse("changes before a later checkpoint are no longer in the file journal {}",
               journal_.directory.string());
    } else if (journal_.logs.empty() || plan_.checkpoint == 0) {
        return;
    } else if (marks_.empty()) {
        refuse("the file journal {} does not know it: files were rolled back to an older "
               "checkpoint since",
               journal_.directory.string());
    } else {
        require_marks_of_all_ranks();
    }
}

void Planner::require_marks_of_all_ranks()
{
    std::set<std::int32_t> marked;

    for (const MarkPlace &mark : marks_) {
        marked.insert(rank_of(journal_, mark));
    }
    for (std::int32_t rank = 0; rank < ranks_.count; rank++) {
        if (!marked.contains(rank) && !ranks_.replayed.contains(rank)) {
            refuse("the file journal {} has no mark of rank {}: what the rank has changed "
                   "since then is not known",
                   journal_.directory.string(), rank);
        }
    }
}

void Planner::choose()
{
    const Thresholds thresholds(journal_, marks_);
    std::map<std::size_t, const MarkPlace *> mark_of;

    for (const MarkPlace &mark : marks_) {
        mark_of[mark.log] = &mark;
        take_states(mark);
    }
    for (std::size_t log = 0; log < journal_.logs.size(); log++) {
        plan_.consumed.emplace_back(journal_.logs[log].records.size());
        if (mark_of.contains(log)) {
            consume_from(log, mark_of[log]->next);
        } else if (has_base()) {
            consume_above(log, journal_.redo->base_order);
        } else {
            consume_above(log, thresholds.of(journal_.logs[log]));
        }
    }
    CKPT_INVARIANT(plan_.consumed.size() == journal_.logs.size());
    for (const auto &[path, record] : states_) {
        plan_.states.push_back(record);
    }
}

/* The STATE records that follow a mark belong to the mark, and stay. */
void Planner::consume_from(std::size_t log, std::size_t first)
{
    const auto &records = journal_.logs[log].records;

    while (first < records.size() && records[first].type() == CKPT_JOURNAL_STATE) {
        first++;
    }
    for (std::size_t i = first; i < records.size(); i++) {
        consume(log, i);
    }
}

void Planner::consume_above(std::size_t log, std::uint64_t order)
{
    const auto &records = journal_.logs[log].records;

    for (std::size_t i = 0; i < records.size(); i++) {
        if (records[i].head.order > order) {
            consume(log, i);
        }
    }
}

void Planner::consume(std::size_t log, std::size_t i)
{
    CKPT_EXPECT(!plan_.consumed.at(log).at(i)); /* each record once */
    const Record &record = journal_.logs[log].records[i];

    plan_.consumed[log][i] = true;
    if (record.is_change()) {
        plan_.steps.push_back(&record);
    }
}

void Planner::take_states(const MarkPlace &mark)
{
    const auto &records = journal_.logs[mark.log].records;

    for (std::size_t i = mark.next;
         i < records.size() && records[i].type() == CKPT_JOURNAL_STATE; i++) {
        const Record *&known = states_[records[i].path];
        if (known == nullptr || known->head.order < records[i].head.order) {
            known = &records[i];
        }
    }
}

/* Damage only matters where records are needed. */
void Planner::require_whole_logs()
{
    for (std::size_t i = 0; i < journal_.logs.size(); i++) {
        const Log &log = journal_.logs[i];
        const auto &consumed = plan_.consumed[i];
        const auto first = std::ranges::find(consumed, true);
        const std::uint64_t kept =
            first == consumed.begin() ? 0
                                      : log.records[static_cast<std::size_t>(
                                                        first - consumed.begin()) -
                                                    1]
                                            .offset;
        for (std::uint64_t offset : log.damaged) {
            if (offset > kept || kept == 0) {
                refuse("the file journal {} is damaged at offset {}", log.path.string(), offset);
                break;
            }
        }
    }
}

/* Returns the order after which the journal must have all records of the host. */
std::uint64_t Planner::first_needed_order(const std::string &host) const
{
    if (has_base()) {
        return journal_.redo->base_order;
    }
    std::uint64_t least = UINT64_MAX;
    std::uint64_t least_of_all = UINT64_MAX;
    for (const MarkPlace &mark : marks_) {
        least_of_all = std::min(least_of_all, mark.order);
        if (journal_.logs[mark.log].host == host) {
            least = std::min(least, mark.order);
        }
    }
    least = least == UINT64_MAX ? least_of_all : least;
    return least == UINT64_MAX ? 0 : least;
}

void Planner::require_nothing_lost()
{
    for (const auto &[host, clock] : journal_.clocks) {
        if (clock.lost > first_needed_order(host)) {
            refuse("on {} a file was changed after the checkpoint, but the journal could not "
                   "record it ({})",
                   host, std::strerror(static_cast<int>(clock.lost_error)));
        }
    }
}

void Planner::order()
{
    std::ranges::sort(plan_.steps, [](const Record *a, const Record *b) {
        return std::tuple(a->head.order, a->log, a->offset) >
               std::tuple(b->head.order, b->log, b->offset);
    });
    std::map<std::string_view, std::vector<std::size_t>> by_path;
    for (std::size_t i = 0; i < plan_.steps.size(); i++) {
        if (plan_.steps[i]->head.changed != 0) {
            by_path[plan_.steps[i]->path].push_back(i);
        }
    }
    for (const auto &[path, places] : by_path) {
        order_by_server(places);
    }
}

/* Orders the steps of one path that come from several hosts with different clocks, by
 * the object's ctime, which comes from one file server. The group of steps keeps its
 * places. */
void Planner::order_by_server(const std::vector<std::size_t> &places)
{
    std::set<std::string_view> hosts;
    std::vector<const Record *> steps;

    for (std::size_t place : places) {
        hosts.insert(journal_.log_of(*plan_.steps[place]).host);
        steps.push_back(plan_.steps[place]);
    }
    if (hosts.size() < 2) {
        return;
    }
    std::ranges::stable_sort(steps, [](const Record *a, const Record *b) {
        return a->head.changed > b->head.changed;
    });
    for (std::size_t i = 0; i < places.size(); i++) {
        plan_.steps[places[i]] = steps[i];
    }
}

/* Goes from the oldest record to the newest. After a directory is renamed, its paths mean
 * something else, so a record only supersedes others between two renames. */
void Planner::drop_superseded()
{
    std::set<std::string_view> names;
    std::set<std::pair<std::string_view, std::uint64_t>> attributes;
    std::map<std::pair<std::string_view, std::uint64_t>, std::uint64_t> sizes;

    auto is_superseded = [&](const Record &record) {
        const std::pair<std::string_view, std::uint64_t> key(record.path, record.head.inode);
        if (record.type() == CKPT_JOURNAL_MOVED) {
            names.clear();
            attributes.clear();
            sizes.clear();
            return false;
        }
        if (record.sets_name()) {
            return !names.insert(record.path).second;
        }
        if (record.type() == CKPT_JOURNAL_ATTRIBUTES) {
            return !attributes.insert(key).second;
        }
        if (record.type() == CKPT_JOURNAL_SIZE) {
            const auto [older, is_first] = sizes.try_emplace(key, record.head.size);
            return !is_first && record.head.size >= older->second;
        }
        return false;
    };
    std::vector<const Record *> kept;
    for (auto step = plan_.steps.rbegin(); step != plan_.steps.rend(); ++step) {
        if (!is_superseded(**step)) {
            kept.push_back(*step);
        }
    }
    std::ranges::reverse(kept);
    CKPT_INVARIANT(kept.size() <= plan_.steps.size());
    plan_.steps = std::move(kept);
}

} // namespace

std::optional<std::size_t> last_mark(const Log &log, std::uint64_t checkpoint)
{
    for (std::size_t i = log.records.size(); i > 0; i--) {
        const Record &record = log.records[i - 1];
        if (record.type() == CKPT_JOURNAL_MARK && record.head.value == checkpoint) {
            return i - 1;
        }
    }
    return std::nullopt;
}

std::vector<MarkPlace> find_marks(const Journal &journal, std::uint64_t checkpoint)
{
    std::vector<MarkPlace> marks;
    std::map<std::int32_t, MarkPlace> by_rank;

    for (const MarkPlace &mark : all_marks(journal, checkpoint)) {
        const std::int32_t rank = rank_of(journal, mark);
        if (rank < 0) {
            marks.push_back(mark);
            continue;
        }
        const auto [known, is_new] = by_rank.try_emplace(rank, mark);
        if (!is_new && known->second.order < mark.order) {
            known->second = mark;
        }
    }
    for (const auto &[rank, mark] : by_rank) {
        marks.push_back(mark);
    }
    return marks;
}

Thresholds::Thresholds(const Journal &journal, const std::vector<MarkPlace> &marks)
{
    for (const MarkPlace &mark : marks) {
        CKPT_EXPECT(mark.log < journal.logs.size());
        std::uint64_t &of_host = by_host_[journal.logs[mark.log].host];
        of_host = std::max(of_host, mark.order);
        greatest_ = std::max(greatest_, mark.order);
    }
}

std::uint64_t Thresholds::of(const Log &log) const
{
    const auto of_host = by_host_.find(log.host);

    return of_host == by_host_.end() ? greatest_ : of_host->second;
}

Plan make_plan(const Journal &journal, std::uint64_t checkpoint, const Ranks &ranks)
{
    return Planner(journal, checkpoint, ranks).make();
}

} // namespace ckpt::journal
