/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_interval_model.cpp - independent checkpoints with volatile logs. A failure of any process
 * has no effect on the result, and each rule is necessary.
 *
 * After each recovery the process is compared with its state before the failure. At the end, all
 * memory is compared with a run without failures (docs/independent-checkpoints.md).
 */
#include "simulation.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <iostream>
#include <string>

namespace model
{

namespace
{

/* The conditions of a run. */
using Conditions = void (*)(Settings &);

void usual(Settings &)
{
}

/* Five processes that fail often and take many checkpoints. */
void dense(Settings &settings)
{
    settings.processes = 5;
    settings.checkpoint_rate = .15;
    settings.crash_rate = .05;
}

/* Two processes that learn at once of each other's many checkpoints. */
void dense_pair(Settings &settings)
{
    settings.processes = 2;
    settings.checkpoint_rate = .3;
    settings.crash_rate = .05;
    settings.control_rate = 1;
}

/* Two processes with many pages, slow diffs, and the shortest possible logs. */
void slow_pair(Settings &settings)
{
    settings.processes = 2;
    settings.pages = 12;
    settings.control_rate = 1;
    settings.trimming_rate = .5;
    settings.delivery_rate = .1;
}

/* Diffs are slow, so that much is in flight when a process fails. */
void slow_diffs(Settings &settings)
{
    settings.crash_rate = .08;
    settings.delivery_rate = .05;
}

void each_page(Settings &settings)
{
    settings.each_page = true;
}

void each_page_of_dense_pair(Settings &settings)
{
    dense_pair(settings);
    settings.each_page = true;
}

void whole_pages(Settings &settings)
{
    settings.whole_pages = true;
}

void stale(Settings &settings)
{
    settings.control_rate = .05;
}

struct Variant {
    const char *name;
    Mode mode;
    Conditions conditions;
};

void add(Statistics &sum, const Statistics &one)
{
    sum.recoveries += one.recoveries;
    sum.replayed += one.replayed;
    sum.checkpoints += one.checkpoints;
    sum.logged += one.logged;
    sum.discarded += one.discarded;
    sum.longest_window = std::max(sum.longest_window, one.longest_window);
}

/* Runs seeds 0 to count - 1; fails at the first error. */
Statistics run_seeds(const Variant &variant, int count)
{
    Statistics sum;
    Settings settings;

    settings.mode = variant.mode;
    variant.conditions(settings);
    for (int seed = 0; seed < count; seed++) {
        settings.seed = seed;
        try {
            add(sum, compare_with_failure_free(settings));
        } catch (const Violation &violation) {
            ADD_FAILURE() << "seed " << seed << ": " << violation.what();
            break;
        }
    }
    return sum;
}

class Protocol : public testing::TestWithParam<Variant>
{
};

TEST_P(Protocol, is_as_if_nobody_had_failed)
{
    Statistics sum = run_seeds(GetParam(), 1000);

    std::cout << sum.recoveries << " recoveries, " << sum.replayed
              << " operations replayed\n";
    EXPECT_GT(sum.recoveries, 5000u);
    EXPECT_GT(sum.replayed, sum.recoveries);
    EXPECT_GT(sum.discarded, 0u);
    EXPECT_LT(sum.discarded, sum.logged);
    EXPECT_GT(sum.longest_window, 1u);
}

const Variant variants[] = {
    {"homes", Mode::homes, usual},
    {"homes_dense", Mode::homes, dense},
    {"homes_slow_pair", Mode::homes, slow_pair},
    {"homes_slow_diffs", Mode::homes, slow_diffs},
    {"homes_stale", Mode::homes, stale},
    {"homes_each_page", Mode::homes, each_page},
    {"homes_each_page_dense_pair", Mode::homes, each_page_of_dense_pair},
    {"shared", Mode::shared, usual},
    {"shared_dense", Mode::shared, dense},
    {"shared_dense_pair", Mode::shared, dense_pair},
    {"shared_stale", Mode::shared, stale},
    {"shared_each_page", Mode::shared, each_page},
    {"shared_each_page_dense_pair", Mode::shared, each_page_of_dense_pair},
    {"shared_whole_pages", Mode::shared, whole_pages},
};

INSTANTIATE_TEST_SUITE_P(All, Protocol, testing::ValuesIn(variants),
                         [](const auto &info) { return info.param.name; });

/* T16: safety does not depend on how fresh control data is; space does. */
TEST(ControlData, if_stale_costs_space_and_nothing_else)
{
    for (Mode mode : {Mode::homes, Mode::shared}) {
        Statistics fresh = run_seeds({"", mode, usual}, 200);
        Statistics old = run_seeds({"", mode, stale}, 200);

        EXPECT_EQ(fresh.recoveries, old.recoveries);
        EXPECT_LT(2 * old.discarded, fresh.discarded);
        EXPECT_LT(fresh.longest_window, old.longest_window);
    }
}

void against_any_order(Settings &settings)
{
    settings.mutant = Mutant::against_happened_before;
}

/* In shared memory each word knows its newest release. */
TEST(OrderOfDiffs, is_of_no_matter_where_the_highest_sequence_wins)
{
    EXPECT_GT(run_seeds({"", Mode::shared, against_any_order}, 300).recoveries,
              1000u);
}

/* A mutant, and how many seeds suffice to detect it. */
struct Hunt {
    Mutant mutant;
    Mode mode;
    Conditions conditions;
    int seeds;
};

class MutantHunt : public testing::TestWithParam<Hunt>
{
};

TEST_P(MutantHunt, catches_it)
{
    const Hunt &hunt = GetParam();
    Settings settings;
    int first = -1;
    int caught = 0;

    settings.mode = hunt.mode;
    hunt.conditions(settings);
    for (int seed = 0; seed < hunt.seeds; seed++) {
        settings.seed = seed;
        settings.mutant = hunt.mutant;
        try {
            compare_with_failure_free(settings);
        } catch (const Violation &violation) {
            first = first < 0 ? seed : first;
            caught++;
        }
    }
    std::cout << name(hunt.mutant) << ": wrong in " << caught << " of "
              << hunt.seeds << " runs, first with seed " << first << "\n";
    ASSERT_GT(caught, 0);
    settings.seed = first;
    settings.mutant = Mutant::none;
    EXPECT_NO_THROW(compare_with_failure_free(settings));
}

const Hunt of_homes[] = {
    {Mutant::counter_only_if_dirty, Mode::homes, usual, 300},
    {Mutant::diff_bound_plus_one, Mode::homes, usual, 300},
    {Mutant::notice_bound_plus_one, Mode::homes, usual, 300},
    {Mutant::grant_bound_plus_one, Mode::homes, usual, 300},
    {Mutant::acquire_bound_plus_one, Mode::homes, usual, 300},
    {Mutant::barrier_bound_plus_one, Mode::homes, usual, 300},
    {Mutant::newest_checkpoint_only, Mode::homes, usual, 300},
    {Mutant::newest_starting_copy, Mode::homes, usual, 300},
    {Mutant::no_mirror, Mode::homes, usual, 300},
    {Mutant::own_diffs_unlogged, Mode::homes, usual, 300},
    {Mutant::replay_everything, Mode::homes, usual, 300},
    {Mutant::against_happened_before, Mode::homes, usual, 300},
    {Mutant::no_resend, Mode::homes, usual, 300},
    {Mutant::home_not_caught_up, Mode::homes, usual, 300},
    {Mutant::batches_split, Mode::homes, slow_pair, 400},
    {Mutant::duplicates_applied, Mode::homes, slow_diffs, 300},
};

const Hunt of_shared[] = {
    {Mutant::counter_only_if_dirty, Mode::shared, usual, 300},
    {Mutant::diff_bound_plus_one, Mode::shared, usual, 300},
    {Mutant::notice_bound_plus_one, Mode::shared, usual, 300},
    {Mutant::grant_bound_plus_one, Mode::shared, usual, 300},
    {Mutant::acquire_bound_plus_one, Mode::shared, usual, 300},
    {Mutant::barrier_bound_plus_one, Mode::shared, usual, 300},
    {Mutant::newest_checkpoint_only, Mode::shared, usual, 300},
    {Mutant::newest_starting_copy, Mode::shared, usual, 300},
    {Mutant::no_mirror, Mode::shared, usual, 300},
    {Mutant::own_diffs_unlogged, Mode::shared, usual, 300},
    {Mutant::replay_everything, Mode::shared, usual, 300},
    {Mutant::image_as_twin, Mode::shared, usual, 300},
    {Mutant::whole_pages_regenerated, Mode::shared, usual, 300},
    {Mutant::live_segment_checkpointed, Mode::shared, usual, 300},
    {Mutant::lower_sequence_overwrites, Mode::shared, usual, 300},
    {Mutant::sums_for_sequences, Mode::shared, usual, 300},
    {Mutant::sequence_not_kept, Mode::shared, usual, 300},
    {Mutant::own_copy_not_exempt, Mode::shared, dense_pair, 400},
};

std::string hunt_name(const testing::TestParamInfo<Hunt> &info)
{
    return name(info.param.mutant);
}

INSTANTIATE_TEST_SUITE_P(Homes, MutantHunt, testing::ValuesIn(of_homes),
                         hunt_name);
INSTANTIATE_TEST_SUITE_P(Shared, MutantHunt, testing::ValuesIn(of_shared),
                         hunt_name);

} // namespace

} // namespace model
