/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_cut_table.cpp - the protocols as tables: each cell is decided, docs/consistent-cuts.md has
 * the same tables, and what cannot happen in a correct job does not become a checkpoint.
 */
#include "protocol/cut/cut_table.hpp"
#include "tests/protocol/nonblocking_machine.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace ckpt::test
{

namespace
{

std::vector<const PhaseRow *> rows(const CutDescription &protocol)
{
    std::vector<const PhaseRow *> list;

    std::ranges::copy_if(protocol.rows, std::back_inserter(list),
                         [](const PhaseRow *row) { return row != nullptr; });
    return list;
}

std::vector<Event> events()
{
    std::vector<Event> list;

    for (int i = 0; i < event_count; i++) {
        list.push_back(static_cast<Event>(i));
    }
    return list;
}

/* Titles of all rows, each once, in the order of the protocols. */
std::vector<std::string> titles()
{
    std::vector<std::string> list;

    for (const CutDescription *protocol : cut_descriptions()) {
        for (const PhaseRow *row : rows(*protocol)) {
            if (std::ranges::find(list, row->title) == list.end()) {
                list.emplace_back(row->title);
            }
        }
    }
    return list;
}

std::string failure_text(PhaseRow::Failure failure)
{
    static const std::map<PhaseRow::Failure, std::string> texts = {
        {PhaseRow::Failure::none, "-"},
        {PhaseRow::Failure::give_up, "all ranks run on"},
        {PhaseRow::Failure::undo, "all ranks run on; UNDO"},
        {PhaseRow::Failure::finish_cut,
         "to the end of CLOSE, then UNDO; without a rank UNDO at once"},
        {PhaseRow::Failure::give_up_cut, "all ranks run on; IDLE"},
    };
    return texts.at(failure);
}

std::string limit_text(PhaseRow::Limit limit)
{
    static const std::map<PhaseRow::Limit, std::string> texts = {
        {PhaseRow::Limit::none, "none"},
        {PhaseRow::Limit::agreement, "`CKPT_TIMEOUT`; less for a dead rank"},
        {PhaseRow::Limit::request, "`CKPT_TIMEOUT`"},
        {PhaseRow::Limit::until_failed, "`CKPT_TIMEOUT`; none after a failure"},
    };
    return texts.at(limit);
}

std::string cell_text(const Cell &cell)
{
    switch (cell.kind) {
    case Cell::Kind::first:
        return fmt::format("{} (first answer)", cell.note);
    case Cell::Kind::ignored:
        return fmt::format("ignored: {}", cell.note);
    case Cell::Kind::violation:
        return fmt::format("**refused**: {}", cell.note);
    default:
        return cell.note;
    }
}

std::string table_of_phases()
{
    std::string text = "| protocol | phases |\n| --- | --- |\n";
    std::vector<std::string> seen;

    for (const CutDescription *protocol : cut_descriptions()) {
        std::vector<std::string> names;
        for (const PhaseRow *row : rows(*protocol)) {
            names.emplace_back(row->title);
        }
        text += fmt::format("| {} | {} |\n", protocol->name, fmt::join(names, ", "));
    }
    text += "\n| phase | a failure | time limit |\n| --- | --- | --- |\n";
    for (const CutDescription *protocol : cut_descriptions()) {
        for (const PhaseRow *row : rows(*protocol)) {
            if (std::ranges::find(seen, row->title) == seen.end()) {
                seen.emplace_back(row->title);
                text += fmt::format("| {} | {} | {} |\n", row->title,
                                    failure_text(row->failure), limit_text(row->limit));
            }
        }
    }
    return text;
}

/* Lines of one event: the phases in which it does the same are together. */
std::string lines_of(Event event)
{
    std::vector<std::pair<std::string, std::vector<std::string>>> groups;
    std::string text;

    for (const CutDescription *protocol : cut_descriptions()) {
        for (const PhaseRow *row : rows(*protocol)) {
            const std::string what = cell_text(row->on(event));
            auto group = std::ranges::find(groups, what, &decltype(groups)::value_type::first);
            if (group == groups.end()) {
                group = groups.insert(groups.end(), {what, {}});
            }
            if (std::ranges::find(group->second, row->title) == group->second.end()) {
                group->second.emplace_back(row->title);
            }
        }
    }
    for (const auto &[what, where] : groups) {
        text += fmt::format("| {} | {} | {} |\n", event_name(event),
                            where == titles() ? "all" : fmt::format("{}", fmt::join(where, ", ")),
                            what);
    }
    return text;
}

std::string document_text()
{
    std::string text = table_of_phases() + "\n| event | in phases | what it does |\n"
                                           "| --- | --- | --- |\n";

    for (Event event : events()) {
        text += lines_of(event);
    }
    return text;
}

} // namespace

TEST(CutTable, EachCellIsDecided)
{
    for (const CutDescription *protocol : cut_descriptions()) {
        for (const PhaseRow *row : rows(*protocol)) {
            EXPECT_EQ(protocol->row(row->phase), row);
            EXPECT_STRNE(row->title, "");
            for (Event event : events()) {
                const Cell &cell = row->on(event);
                const bool acts =
                    cell.kind == Cell::Kind::handled || cell.kind == Cell::Kind::first;
                const std::string where =
                    fmt::format("{} in {} of {}", event_name(event), row->title, protocol->name);
                EXPECT_NE(cell.kind, Cell::Kind::undecided) << where;
                EXPECT_STRNE(cell.note, "") << where;
                EXPECT_EQ(cell.handle != nullptr, acts) << where;
            }
        }
    }
}

TEST(CutTable, ARequestBeginsTheProtocolThatItNames)
{
    for (Protocol protocol :
         {Protocol::sync_and_stop, Protocol::chandy_lamport, Protocol::network_sweep}) {
        const CutDescription &description = description_of(protocol);
        EXPECT_EQ(description.protocol, protocol);
        EXPECT_TRUE(description.is_checkpoint);
        EXPECT_NE(description.aligned, nullptr);
        for (Phase phase :
             {Phase::idle, Phase::align, Phase::write, Phase::commit, Phase::undo}) {
            EXPECT_NE(description.row(phase), nullptr) << description.name;
        }
    }
}

/* The document is written by hand from the text that a failure shows. */
TEST(CutTable, TheDocumentHasIt)
{
    std::ifstream file(std::string(CKPT_DOCS_DIRECTORY) + "/consistent-cuts.md");
    const std::string document(std::istreambuf_iterator<char>(file), {});

    ASSERT_FALSE(document.empty());
    EXPECT_NE(document.find(document_text()), std::string::npos)
        << "docs/consistent-cuts.md, section 7, lacks:\n"
        << document_text();
}

/* ---- What cannot happen ---------------------------------------------------- */

class CutViolations : public NonblockingCut
{
  public:
    void reach_standing(Phase phase)
    {
        void (Machine::*const steps[])(int) = {&Machine::report_free, &Machine::stopped,
                                               &Machine::drained, &Machine::ready};
        request();
        for (auto step = std::begin(steps); machine.phase() != phase && step != std::end(steps);
             step++) {
            all(*step);
        }
        for (int i = 0; i < count && phase == Phase::commit; i++) {
            machine.captured(i, now);
        }
        if (phase == Phase::commit) {
            machine.written(now);
        }
        settle();
    }
    void reach_moving(Protocol protocol, Phase phase)
    {
        request(false, {protocol, {}});
        for (int i = 0; i < count && phase != Phase::align; i++) {
            report_running(i);
        }
        if (phase > Phase::open) {
            machine.opened(now);
            settle();
        }
        for (int i = 0; i < count && phase > Phase::cut; i++) {
            cut_and_captured(i, phase == Phase::log ? 1 : 0);
        }
        for (int i = 0; i < count && phase > Phase::close; i++) {
            logged(i, 0, 0);
        }
        if (phase > Phase::write) {
            machine.written(now);
            settle();
        }
    }
    void reach(Protocol protocol, Phase phase)
    {
        for (int i = 0; i < count; i++) {
            machine.hello(i);
        }
        if (protocol == Protocol::sync_and_stop) {
            reach_standing(phase);
        } else {
            reach_moving(protocol, phase);
        }
        ASSERT_EQ(machine.phase(), phase);
        finish.reset();
        others.clear();
        forget_all();
    }

    void fire(Event event)
    {
        static const std::map<Event, ckpt_message_type> messages = {
            {Event::report, CKPT_MSG_REPORT},
            {Event::stopped, CKPT_MSG_STOPPED},
            {Event::drained, CKPT_MSG_DRAINED},
            {Event::ready, CKPT_MSG_READY},
            {Event::complete, CKPT_MSG_COMPLETE},
            {Event::logged, CKPT_MSG_LOGGED},
            {Event::refused, CKPT_MSG_REFUSED},
        };
        const std::map<Event, std::function<void()>> calls = {
            {Event::request, [this] { machine.request(epoch + 1, now); }},
            {Event::captured, [this] { machine.captured(1, now); }},
            {Event::written, [this] { machine.written(now); }},
            {Event::committed, [this] { machine.committed(now); }},
        };
        if (messages.contains(event)) {
            say(1, messages.at(event));
        } else {
            calls.at(event)();
            settle();
        }
    }

    /* No rank stays behind, and nothing is kept. */
    void expect_refused(Event event, const std::string &where)
    {
        EXPECT_EQ(machine.reason().name(), "internal-error") << where;
        EXPECT_TRUE(machine.reason().detail().starts_with(
            fmt::format("unexpected event '{}'", event_name(event))))
            << where << ": " << machine.reason().detail();
        if (machine.is_moving()) { /* the cut is completed first */
            machine.exited(2, now);
            settle();
        }
        if (machine.phase() == Phase::undo) {
            machine.undone(now);
            settle();
        }
        ASSERT_TRUE(finish.has_value()) << where;
        EXPECT_FALSE(finish->committed) << where;
        EXPECT_EQ(machine.phase(), Phase::idle) << where;
    }
};

TEST_F(CutViolations, AreRefusedInEachPhaseOfEachProtocol)
{
    int violations = 0;

    for (Protocol protocol :
         {Protocol::sync_and_stop, Protocol::chandy_lamport, Protocol::network_sweep}) {
        for (const PhaseRow *row : rows(description_of(protocol))) {
            for (Event event : events()) {
                if (row->on(event).kind != Cell::Kind::violation || row->phase == Phase::idle ||
                    row->phase == Phase::undo) {
                    continue;
                }
                const std::string where = fmt::format(
                    "{} in {} of {}", event_name(event), row->title, protocol_name(protocol));
                reach(protocol, row->phase);
                fire(event);
                expect_refused(event, where);
                violations++;
            }
        }
    }
    EXPECT_GT(violations, 50);
}

/* What the agent has read of it so far need not fit to the rest. */
TEST_F(CutViolations, ARankThatMovesBeforeItIsReadIsNotSaved)
{
    for (Event event : {Event::report, Event::stopped, Event::drained, Event::ready}) {
        reach(Protocol::sync_and_stop, Phase::write);
        machine.captured(0, now);
        fire(event);
        expect_refused(event, event_name(event));
    }
}

TEST_F(CutViolations, ARankThatIsReadMayMove)
{
    reach(Protocol::sync_and_stop, Phase::write);
    machine.captured(1, now);
    report(1);
    EXPECT_EQ(machine.phase(), Phase::write);
    EXPECT_TRUE(machine.reason().empty());
}

TEST_F(CutViolations, NoManifestIsWrittenBeforeAllRanksAreRead)
{
    reach(Protocol::sync_and_stop, Phase::write);
    machine.captured(0, now);
    machine.captured(2, now);
    fire(Event::written);
    EXPECT_FALSE(took<action::Commit>());
    expect_refused(Event::written, "rank 1 was not read");
}

TEST_F(CutViolations, ARequestDespiteAnObstacleIsRefused)
{
    machine.finalized(2, now);
    request();
    expect_given_up(CKPT_REFUSAL_JOB_ENDING, "rank 2 has already called MPI_Finalize");
    EXPECT_EQ(ordered(CKPT_MSG_REQUEST), 0);
}

TEST_F(CutViolations, ARankThatReturnsUnannouncedWasLost)
{
    reach(Protocol::sync_and_stop, Phase::drain);
    machine.hello(1, {}, now);
    settle();
    expect_given_up(CKPT_REFUSAL_RANK_DIED, "rank 1 has died");
    EXPECT_TRUE(machine.obstacle().empty());
    reach(Protocol::chandy_lamport, Phase::cut);
    machine.hello(1, {}, now);
    settle();
    EXPECT_EQ(machine.phase(), Phase::undo);
    EXPECT_EQ(ordered(0, CKPT_MSG_RESUME).end.outcome, CKPT_LEFT_OPEN);
    EXPECT_EQ(machine.present(), count);
}

TEST_F(CutViolations, AResultOfAnEarlierAttemptChangesNothing)
{
    for (Phase phase : {Phase::align, Phase::stop, Phase::drain, Phase::save}) {
        finish.reset();
        reach(Protocol::sync_and_stop, phase);
        for (Event event : {Event::captured, Event::written, Event::committed}) {
            fire(event);
        }
        machine.opened(now);
        machine.undone(now);
        machine.sweep_failed();
        settle();
        EXPECT_EQ(machine.phase(), phase);
        EXPECT_TRUE(others.empty());
        machine.failed({CKPT_REFUSAL_WRITE_FAILED, "end"}, now);
        settle();
    }
}

/* There are no files of a checkpoint to be removed, and the last checkpoint must stay. */
TEST_F(CutViolations, ADeathWhileACutIsCompletedUndoesNothing)
{
    for (bool dies : {true, false}) {
        for (int i = 0; i < count; i++) {
            machine.agent_lost(i, now);
        }
        epoch += 7;
        for (int i = 0; i < count; i++) {
            machine.hello(i, {epoch - (i == 0 ? 0 : 1), i == 0, i != 0}, now);
        }
        settle();
        ASSERT_TRUE(machine.is_settling());
        forget_all();
        dies ? machine.exited(2, now) : machine.finalized(2, now);
        settle();
        EXPECT_EQ(machine.phase(), Phase::idle);
        EXPECT_FALSE(machine.is_settling());
        EXPECT_TRUE(others.empty());
        EXPECT_FALSE(finish.has_value());
        EXPECT_EQ(ordered(1, CKPT_MSG_RESUME).end.outcome, CKPT_GIVEN_UP);
    }
}

} // namespace ckpt::test
