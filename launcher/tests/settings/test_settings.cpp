/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_settings.cpp - the table of settings: its values, its defaults, and those of an agent.
 */
#include "agent/base/settings.hpp"
#include "common/error.hpp"
#include "settings/environment.hpp"
#include "settings/values.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <set>
#include <stdexcept>

using namespace ckpt;
using settings::Values;

namespace
{

TEST(SettingsTable, HasValidDefaults)
{
    for (const settings::Setting &setting : settings::all()) {
        if (setting.has_default()) {
            EXPECT_NO_THROW(settings::check(setting, setting.standard)) << setting.variable;
        }
    }
}

TEST(SettingsTable, DerivesVariablesFromOptions)
{
    EXPECT_STREQ(settings::option_of("run", "--max-restarts").variable, "CKPT_MAX_RESTARTS");
    EXPECT_STREQ(settings::option_of("list", "--dir").variable, "CKPT_DIR");
    EXPECT_STREQ(settings::setting_of("CKPT_SIGNAL").option, "");
    EXPECT_THROW(settings::option_of("list", "--max-restarts"), std::logic_error);
    EXPECT_THROW(settings::setting_of("CKPT_NON_MPI"), std::logic_error) << "is internal";
}

TEST(SettingsTable, HasNoOptionOfACommandTwice)
{
    for (const char *command : {"run", "tune", "ckptd", "gc", "restart", "status"}) {
        std::set<std::string> options;
        for (const settings::Setting *setting : settings::options_of(command)) {
            EXPECT_TRUE(options.insert(setting->option).second) << command << setting->option;
        }
        EXPECT_FALSE(options.empty());
    }
}

TEST(SettingsTable, SaysWhatARestartHandsOn)
{
    for (const char *variable : {"CKPT_INTERVAL", "CKPT_PROTOCOL", "CKPT_WINDOWS",
                                 "CKPT_REDUNDANCY", "CKPT_SIGNAL", "CKPT_RUN_COMMAND"}) {
        EXPECT_TRUE(settings::is_kept(variable)) << variable;
        EXPECT_TRUE(settings::is_recorded(variable)) << variable;
    }
    for (const char *variable : {"CKPT_DIR", "CKPT_NAME", "CKPT_HOST", "CKPT_NODES", "CKPT_WATCH",
                                 "CKPT_SVG", "CKPT_JOURNAL_OUTPUT", "CKPT_OF_A_STRANGER"}) {
        EXPECT_FALSE(settings::is_kept(variable)) << variable;
        EXPECT_TRUE(settings::is_recorded(variable)) << variable;
    }
    for (const char *variable : {"CKPT_KEY", "CKPT_OWNER", "CKPT_INCARNATION", "CKPT_RESTART_JOB",
                                 "CKPT_RESTART_NUMBER", "CKPT_RESTART_SALT"}) {
        EXPECT_FALSE(settings::is_kept(variable)) << variable;
        EXPECT_FALSE(settings::is_recorded(variable)) << variable;
    }
}

TEST(SettingsTable, ChecksValues)
{
    const std::pair<const char *, std::vector<const char *>> wrong[] = {
        {"CKPT_KEEP", {"0", "-1", "many", "1.5", "4294967296", " 2"}},
        {"CKPT_SWEEP_DIMENSIONS", {"33"}},
        {"CKPT_POOL", {"12Q", "-1"}},
        {"CKPT_GRANULE", {"3K", "2M"}},
        {"CKPT_TIMEOUT", {"-1", "soon"}},
        {"CKPT_MTBF", {"0"}},
        {"CKPT_NAME", {"a/b", "a b"}},
        {"CKPT_WINDOWS", {"open"}},
        {"CKPT_SHARE_PAGES", {"yes"}},
        {"CKPT_STAGGER", {"racks"}},
        {"CKPT_REDUNDANCY", {"rs"}},
        {"CKPT_KILL", {"maybe"}},
    };
    for (const auto &[variable, values] : wrong) {
        for (const char *value : values) {
            EXPECT_THROW(settings::check(settings::setting_of(variable), value), Error)
                << variable << " " << value;
        }
    }
    const std::pair<const char *, std::vector<const char *>> right[] = {
        {"CKPT_KEEP", {"1", "4294967295"}},
        {"CKPT_SWEEP_DIMENSIONS", {"0", "32"}},
        {"CKPT_POOL", {"0", "64M", "1g"}},
        {"CKPT_GRANULE", {"4K", "1M", "65536"}},
        {"CKPT_TIMEOUT", {"0", "1.5h"}},
        {"CKPT_INTERVAL", {"auto", "0", "10m"}},
        {"CKPT_KILL", {"1", "true", "0"}},
        {"CKPT_INCARNATION", {"18446744073709551615"}},
    };
    for (const auto &[variable, values] : right) {
        for (const char *value : values) {
            EXPECT_NO_THROW(settings::check(settings::setting_of(variable), value))
                << variable << " " << value;
        }
    }
}

TEST(SettingsTable, HandsOnPathsAndNumbersOfBytes)
{
    const auto handed = [](const char *variable, const char *value) {
        return settings::handed_on(settings::setting_of(variable), value);
    };
    const std::string here = std::filesystem::current_path();
    EXPECT_EQ(handed("CKPT_POOL", "64M"), "67108864");
    EXPECT_EQ(handed("CKPT_DOMAINS", "f"), here + "/f");
    EXPECT_EQ(handed("CKPT_DIR", "a,/b"), here + "/a,/b");
    EXPECT_EQ(handed("CKPT_CODEC", "zstd:3"), "zstd:3");
}

TEST(SettingValues, AreTheDefaultsUnlessGiven)
{
    Values values;
    EXPECT_EQ(values.number("CKPT_KEEP"), 2u);
    EXPECT_EQ(values.bytes("CKPT_GRANULE"), 65536u);
    EXPECT_EQ(values.duration("CKPT_TIMEOUT"), std::chrono::minutes(30));
    EXPECT_EQ(values.text("CKPT_NAME"), "");
    values.given("CKPT_KEEP") = "5";
    EXPECT_TRUE(values.is_given("CKPT_KEEP"));
    EXPECT_EQ(values.number("CKPT_KEEP"), 5u);
    values.given("CKPT_KEEP") = "x";
    try {
        values.number("CKPT_KEEP");
        ADD_FAILURE() << "x is no number";
    } catch (const Error &problem) {
        EXPECT_STREQ(problem.what(),
                     "CKPT_KEEP: invalid number 'x': expected a whole number from 1 on");
    }
    EXPECT_THROW(values.given("CKPT_KEPT"), std::logic_error);
}

TEST(AgentSettings, AreTheDefaultsUnlessGiven)
{
    const Settings agent{Values()};
    EXPECT_EQ(agent.directory, std::filesystem::current_path() / "ckpt");
    EXPECT_TRUE(agent.slow_directory.empty());
    EXPECT_EQ(agent.protocol, "sns");
    EXPECT_EQ(agent.stagger, "auto");
    EXPECT_EQ(agent.snapshot, SnapshotMethod::cll) << "what auto means";
    EXPECT_EQ(agent.share_pages, Switch::automatic);
    EXPECT_EQ(agent.direct_io, Switch::automatic);
    EXPECT_TRUE(agent.fabric.is_auto());
    EXPECT_EQ(agent.redundancy.kind, redundancy::Scheme::Kind::none);
    EXPECT_EQ(agent.increments, 0u);
    EXPECT_EQ(agent.keep, 2u);
    EXPECT_EQ(agent.timeout, std::chrono::minutes(30));
    EXPECT_EQ(agent.node_count, 0);
    EXPECT_FALSE(agent.host.empty());
    EXPECT_FALSE(agent.owner_token.empty());
}

TEST(AgentSettings, ReplaceWhatCannotBeCombined)
{
    Values values;
    values.given("CKPT_INCREMENTAL") = "4";
    EXPECT_EQ(Settings(values).increments, 4u);
    EXPECT_EQ(Settings(values).snapshot, SnapshotMethod::cow);
    values.given("CKPT_SNAPSHOT") = "stop";
    EXPECT_EQ(Settings(values).snapshot, SnapshotMethod::stop);
    values.given("CKPT_REDUNDANCY") = "partner";
    EXPECT_EQ(Settings(values).increments, 0u);
}

TEST(SettingValues, OfVariablesAreCheckedToo)
{
    unsetenv("CKPT_LOG_LEVEL");
    EXPECT_EQ(settings::from_environment("CKPT_LOG_LEVEL"), "info");
    setenv("CKPT_LOG_LEVEL", "debug", 1);
    EXPECT_EQ(settings::from_environment("CKPT_LOG_LEVEL"), "debug");
    setenv("CKPT_LOG_LEVEL", "debugs", 1);
    EXPECT_THROW(settings::from_environment("CKPT_LOG_LEVEL"), Error);
    unsetenv("CKPT_LOG_LEVEL");
}

TEST(AgentSettings, OfProcessesAreChecked)
{
    setenv("CKPT_WINDOWS", "open", 1);
    EXPECT_THROW(settings::check_other_variables("ckptd", settings::process_reads), Error);
    EXPECT_NO_THROW(settings::check_other_variables("ckptd", settings::agent_reads));
    EXPECT_NO_THROW(settings::check_other_variables("run", settings::process_reads))
        << "run has an option for it";
    setenv("CKPT_WINDOWS", "direct", 1);
    EXPECT_NO_THROW(settings::check_other_variables("ckptd", settings::process_reads));
    unsetenv("CKPT_WINDOWS");
}

} // namespace
