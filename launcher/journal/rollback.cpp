/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rollback.cpp - checks, changes and removes; an interrupted rollback is finished later.
 */
#include "config.h"
#include "journal/rollback.hpp"

#include "common/error.hpp"
#include "common/fault_injection.hpp"
#include "common/files/files.hpp"
#include "common/invariant.hpp"
#include "journal/concealed.hpp"
#include "journal/forecast.hpp"
#include "journal/removal.hpp"
#include "journal/reveal.hpp"
#include "journal/undo.hpp"

#include <fmt/ranges.h>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <span>

namespace ckpt::journal
{

namespace fs = std::filesystem;

namespace
{

constexpr std::size_t most_lines = 10;

/* Two concurrent restarts would undo each other's work, so the second fails. Waits for an
 * agent that is dropping records. */
struct Locks {
    Fd restart, drop;

    explicit Locks(const fs::path &directory)
        : restart(open_file(directory, O_RDONLY | O_DIRECTORY, 0, "file journal"))
    {
        if (::flock(restart.get(), LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK) {
            fail("another process is rolling back the files of {}", directory.string());
        }
        drop = lock_records(directory, LOCK_EX);
    } /* without directory locks, only the job's own checks protect */
};

std::string lines_of(const std::vector<std::string> &lines)
{
    const auto shown = std::span(lines).first(std::min(lines.size(), most_lines));
    std::string text = fmt::format("{}", fmt::join(shown, "\n  "));

    if (lines.size() > most_lines) {
        text += fmt::format("\n  and {} more", lines.size() - most_lines);
    }
    return text;
}

std::string name_of(const Wish &wish)
{
    const bool is_start = wish.checkpoint == 0 && wish.has_mark;

    return is_start || wish.name.empty() ? "the start of the job" : wish.name;
}

/* Names the target of a rollback that another command has begun. */
std::string name_of(const RedoRecord &redo)
{
    return redo.checkpoint == 0 ? "the start of the job"
                                : fmt::format("the checkpoint with mark {}", redo.checkpoint);
}

void require_none(const std::vector<std::string> &obstacles, const Wish &wish)
{
    if (!obstacles.empty()) {
        refuse(CKPT_REFUSAL_FILE_JOURNAL,
               "files cannot be rolled back to {} (--files ignore goes on without):\n  {}",
               name_of(wish), lines_of(obstacles));
    }
}

void require_same(const std::vector<std::string> &differing, const Wish &wish)
{
    if (!differing.empty()) {
        refuse(CKPT_REFUSAL_FILE_JOURNAL,
               "files differ from what they were at {} (--files ignore goes on nevertheless):\n"
               "  {}",
               name_of(wish), lines_of(differing));
    }
}

bool is_unfinished(const Journal &journal)
{
    return journal.redo && journal.redo->state != RedoRecord::State::finished;
}

void require_reachable(const Journal &journal, const Wish &wish)
{
    const std::uint64_t revealed = Revealed::load(journal.directory).checkpoint;

    if (wish.checkpoint < revealed) {
        fail("files cannot be rolled back to {}: outputs that are newer have been revealed, up to "
             "the checkpoint with mark {}",
             name_of(wish), revealed);
    }
    if (is_unfinished(journal) && wish.checkpoint > journal.redo->checkpoint) {
        fail("files cannot be rolled back to {}: a roll back to {} was begun; restart from "
             "that, or an older one, or use --files ignore",
             name_of(wish), name_of(*journal.redo));
    }
}

/* Whether the logs record changes, so that a file may differ from its state at the
 * checkpoint. */
bool has_changes(const Journal &journal)
{
    return std::ranges::any_of(journal.logs, [](const Log &log) {
        return std::ranges::any_of(log.records, &Record::is_change);
    });
}

/* Whether there is a mark to roll back to. A checkpoint without a mark is accepted as long as
 * no file was changed; otherwise throws Error. */
bool find_mark(const Journal &journal, const Wish &wish)
{
    if (!wish.has_mark && (is_unfinished(journal) || has_changes(journal))) {
        fail("files cannot be rolled back to {}: it was taken without the file journal {} "
             "(--files ignore goes on without)",
             name_of(wish), wish.journal.string());
    }
    return wish.has_mark;
}

/* Determines everything that can be known before any change. */
Forecast checked_forecast(const Journal &journal, const Plan &plan, const Wish &wish)
{
    require_none(plan.obstacles, wish);
    Forecast result = forecast(journal, plan);
    require_none(result.obstacles, wish);
    require_same(result.differing, wish);
    return result;
}

/* Carries out the rest of the plan, from the step in the redo record. */
void finish(const Journal &journal, const Plan &plan, RedoRecord redo)
{
    CKPT_EXPECT(redo.state != RedoRecord::State::finished);
    if (redo.state == RedoRecord::State::undoing) {
        Undo(journal, plan).carry_out(redo);
        fault_kill("rollback-before-done");
        redo.state = RedoRecord::State::undone;
        redo.write(journal.directory);
        fault_kill("rollback-after-done");
    }
    remove_consumed(journal, plan);
    redo.state = RedoRecord::State::finished;
    redo.base_checkpoint = redo.checkpoint;
    redo.base_order = journal.last_order();
    redo.write(journal.directory);
}

void finish_interrupted(const Journal &journal)
{
    const RedoRecord &redo = *journal.redo;
    const Plan plan = make_plan(journal, redo.checkpoint, {});

    if (redo.state == RedoRecord::State::undoing && plan.steps.size() != redo.steps) {
        fail("the roll back in {} was interrupted, and the journal has changed since: {} steps "
             "are left of {}; use --files ignore",
             journal.directory.string(), plan.steps.size(), redo.steps);
    }
    finish(journal, plan, redo);
}

/* Whether the plan consumes product records; the job will produce those outputs again. */
bool consumes_products(const Journal &journal, const Plan &plan)
{
    CKPT_EXPECT(plan.consumed.size() == journal.logs.size());
    for (std::size_t i = 0; i < journal.logs.size(); i++) {
        for (std::size_t k = 0; k < plan.consumed[i].size(); k++) {
            if (plan.consumed[i][k] && journal.logs[i].records[k].is_product()) {
                return true;
            }
        }
    }
    return false;
}

std::size_t roll_back(const Journal &journal, const Plan &plan)
{
    CKPT_EXPECT(plan.obstacles.empty() && !is_unfinished(journal));
    if (plan.steps.empty() && !consumes_products(journal, plan)) {
        return 0; /* keeps the records, so that later checkpoints stay usable */
    }
    RedoRecord redo = journal.redo.value_or(RedoRecord());

    redo.checkpoint = plan.checkpoint;
    redo.state = RedoRecord::State::undoing;
    redo.steps = plan.steps.size();
    redo.from = 0;
    redo.remade.clear();
    fault_kill("rollback-before-record");
    redo.write(journal.directory);
    fault_kill("rollback-after-record");
    finish(journal, plan, redo);
    return plan.steps.size();
}

void warn_of_inputs(const std::vector<std::string> &inputs, const Wish &wish, Outcome &outcome)
{
    if (!inputs.empty()) {
        outcome.warnings.push_back(
            fmt::format("inputs or logs of the program differ from what they were at {}:\n  {}",
                        name_of(wish), lines_of(inputs)));
    }
}

void check(const Wish &wish, Outcome &outcome)
{
    const Journal journal = Journal::read(wish.journal);

    if (is_unfinished(journal)) {
        fail("a roll back of files to {} was interrupted: restart with --files rollback",
             name_of(*journal.redo));
    }
    if (!find_mark(journal, wish)) {
        return;
    }
    const Plan plan = make_plan(journal, wish.checkpoint, wish.ranks);
    const Forecast found = compare(journal, plan);
    require_same(found.differing, wish);
    warn_of_inputs(found.inputs, wish, outcome);
}

/* Whether the plan does not undo some change in the log. */
bool keeps_changes(const Log &log, const std::vector<bool> &consumed)
{
    CKPT_EXPECT(consumed.size() == log.records.size());
    for (std::size_t i = 0; i < log.records.size(); i++) {
        if (log.records[i].is_change() && !consumed[i]) {
            return true;
        }
    }
    return false;
}

/* Warns of changes that the plan does not undo, made by processes without a mark of the
 * checkpoint. */
void warn_of_replayed(const Journal &journal, const Plan &plan, const Wish &wish,
                      Outcome &outcome)
{
    bool keeps = false;

    for (std::size_t i = 0; !wish.ranks.replayed.empty() && i < journal.logs.size(); i++) {
        const Log &log = journal.logs[i];
        keeps |= !last_mark(log, wish.checkpoint) && keeps_changes(log, plan.consumed[i]);
    }
    if (keeps) {
        outcome.warnings.push_back(fmt::format(
            "rank {} goes on from before it died: files that it has changed in between stay as "
            "they are",
            fmt::join(wish.ranks.replayed, ", ")));
    }
}

/* The files remain partially rolled back. */
void give_up_interrupted(const Wish &wish, Outcome &outcome)
{
    auto redo = RedoRecord::load(wish.journal);

    if (redo && redo->state != RedoRecord::State::finished) {
        outcome.warnings.push_back(fmt::format(
            "a roll back of files to {} was interrupted and is not finished (--files ignore)",
            name_of(*redo)));
        redo->state = RedoRecord::State::finished;
        redo->write(wish.journal);
    }
}

Outcome bring_back_objects(const Wish &wish)
{
    Outcome outcome;

    const Locks locks(wish.journal);
    if (wish.files == Files::ignore) {
        give_up_interrupted(wish, outcome);
        return outcome;
    }
    if (wish.files == Files::check) {
        check(wish, outcome);
        return outcome;
    }
    Journal journal = Journal::read(wish.journal);
    if (!find_mark(journal, wish)) {
        return outcome;
    }
    require_reachable(journal, wish);
    if (is_unfinished(journal)) {
        finish_interrupted(journal);
        journal = Journal::read(wish.journal);
    }
    const Plan plan = make_plan(journal, wish.checkpoint, wish.ranks);
    const Forecast found = checked_forecast(journal, plan, wish);
    warn_of_inputs(found.inputs, wish, outcome);
    warn_of_replayed(journal, plan, wish, outcome);
    outcome.undone = roll_back(journal, plan);
    return outcome;
}

/* The records of the changes since the interrupted revealing must still be there. */
std::vector<std::string> finish_reveal_before(const Wish &wish)
{
    const auto redo = RedoRecord::load(wish.journal);
    const bool is_unfinished = redo && redo->state != RedoRecord::State::finished;

    if (wish.files == Files::check || wish.checkpoint == 0 || is_unfinished) {
        return {};
    }
    return finish_interrupted_reveal(
        {.journal = wish.journal, .checkpoint = wish.checkpoint, .keeps_open = true});
}

} // namespace

Files files_from(const std::string &text)
{
    if (text == "rollback") {
        return Files::roll_back;
    }
    if (text == "check") {
        return Files::check;
    }
    if (text == "ignore") {
        return Files::ignore;
    }
    fail("'{}' is not one of rollback, check and ignore", text);
}

Outcome bring_back(const Wish &wish)
{
    if (!path_exists(wish.journal)) {
        return {};
    }
    std::vector<std::string> warnings = finish_reveal_before(wish);
    Outcome outcome = bring_back_objects(wish);
    std::ranges::move(warnings, std::back_inserter(outcome.warnings));
    /* Concealed objects that remain were produced before the checkpoint. */
    if (wish.files != Files::check) {
        std::ranges::move(reveal({.journal = wish.journal,
                                  .noted = wish.checkpoint,
                                  .keeps_open = wish.checkpoint != 0}),
                          std::back_inserter(outcome.warnings));
    }
    return outcome;
}

void require_possible(const Wish &wish)
{
    Outcome ignored;

    if (!path_exists(wish.journal) || wish.files == Files::ignore) {
        return;
    }
    if (wish.files == Files::check) {
        check(wish, ignored);
        return;
    }
    const Journal journal = Journal::read(wish.journal);
    if (!find_mark(journal, wish)) {
        return;
    }
    require_reachable(journal, wish);
    if (!is_unfinished(journal)) {
        (void)checked_forecast(journal, make_plan(journal, wish.checkpoint, wish.ranks), wish);
    }
}

void begin_run(const fs::path &journal)
{
    if (!path_exists(journal)) {
        return;
    }
    const Journal before = Journal::read(journal, Depth::headers);
    if (is_unfinished(before)) {
        fail("a roll back of files to {} was interrupted: restart from it first, or remove {}",
             name_of(*before.redo), (journal / "rollback").string());
    }
    /* reveals outputs of a run that was killed before it could */
    (void)reveal({.journal = journal});
    RedoRecord redo;
    redo.base_order = before.last_order();
    redo.write(journal);
    if (const fs::path note = journal / "revealed"; ::unlink(note.c_str()) < 0 && errno != ENOENT) {
        fail_errno(errno, "cannot remove {}", note.string());
    }
}

} // namespace ckpt::journal
