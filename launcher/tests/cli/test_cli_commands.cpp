/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_cli_commands.cpp - the commands of `ckpt` on checkpoints on disk, their
 * output and exit codes; supervision by `ckpt run`.
 */
#include "config.h"

#include "cli/run/launch_process.hpp"
#include "cli/base/options.hpp"
#include "cli/base/program.hpp"
#include "common/files/files.hpp"
#include "common/host.hpp"
#include "image/store/job_directory.hpp"
#include "image/store/job_owner.hpp"
#include "image/write/node_file_writer.hpp"
#include "image/store/node_record.hpp"
#include "tests/cli/cli_fixture.hpp"
#include "tests/common/logged_messages.hpp"

#include <nlohmann/json.hpp>

#include <csignal>

using namespace ckpt;
using namespace ckpt::cli;
using namespace ckpt::test;
namespace fs = std::filesystem;

namespace
{

using Options = CliTest;

TEST_F(Options, HaveAnEnvironmentVariable)
{
    Program program;
    for (CLI::App *command : program.app.get_subcommands({})) {
        for (const CLI::Option *option : command->get_options()) {
            if (!option->get_positional() && option->get_name() != "--help") {
                EXPECT_EQ(option->get_envname(),
                          settings::option_of(command->get_name(), option->get_name()).variable)
                    << command->get_name();
            }
        }
    }
}

TEST_F(Options, TheCommandLineWinsOverTheEnvironment)
{
    Variable keep("CKPT_KEEP", "3");
    EXPECT_NE(ckpt_says({"tune", "--print"}).out.find("CKPT_KEEP=3"),
              std::string::npos);
    EXPECT_NE(
        ckpt_says({"tune", "--print", "--keep", "4"}).out.find("CKPT_KEEP=4"),
        std::string::npos);
    Variable print("CKPT_PRINT", "1");
    EXPECT_NE(ckpt_says({"tune"}).out.find("-x LD_PRELOAD="),
              std::string::npos);
}

/* Returns a valid value, which is not the default. */
std::string value_of(const settings::Setting &setting)
{
    const std::pair<const char *, const char *> values[] = {
        {"CKPT_CODEC", "lz4"},
        {"CKPT_COMPONENTS", "search"},
        {"CKPT_DIR", "/a,/b"},
        {"CKPT_FABRIC", "tcp"},
        {"CKPT_KEEP_COPIES", "yes"},
        {"CKPT_LAZY", "auto"},
        {"CKPT_PROTOCOL", "cl"},
        {"CKPT_SNAPSHOT", "cow"},
        {"CKPT_STAGGER", "job"},
        {"CKPT_STANDBY", "yes"},
        {"CKPT_WINDOWS", "direct"},
    };
    for (const auto &[variable, value] : values) {
        if (std::string_view(setting.variable) == variable) {
            return value;
        }
    }
    switch (setting.type) {
    case settings::Type::auto_switch:
        return "on";
    case settings::Type::path:
    case settings::Type::key:
        return "/file";
    case settings::Type::granule:
        return "4096";
    default:
        return "5";
    }
}

TEST_F(Options, OfAJobAreHandedOnToItsProcesses)
{
    for (const settings::Setting &setting : settings::all()) {
        const std::string variable = setting.variable;
        if (!setting.is_of("run") || !setting.is_of("tune") || variable == "CKPT_LEVELS") {
            continue;
        }
        const std::string value = value_of(setting);
        const Outcome outcome =
            ckpt_says({"tune", "--print", setting.option + ("=" + value)});
        if (value.find(',') != value.npos) {
            EXPECT_EQ(outcome.exit_code, exit_usage) << "a tune file cannot carry a comma";
        } else {
            EXPECT_NE(outcome.out.find("-x " + variable + "=" + value + "\n"), std::string::npos)
                << outcome.out << outcome.err;
        }
        EXPECT_EQ(ckpt_says({"tune", "--print"}).out.find(variable + "=" + value),
                  std::string::npos);
    }
}

TEST_F(Options, AreRefusedByTheNameOfTheirVariable)
{
    const std::tuple<const char *, const char *, const char *> wrong[] = {
        {"CKPT_KEEP", "x", "CKPT_KEEP: invalid number 'x': expected a whole number from 1 on"},
        {"CKPT_POOL", "12Q", "CKPT_POOL: invalid number of bytes '12Q'"},
        {"CKPT_WINDOWS", "open", "CKPT_WINDOWS: 'open' is none of staged, direct"},
        {"CKPT_PRINT", "maybe", "CKPT_PRINT: 'maybe' is neither 1 nor 0"},
        {"CKPT_INTERVAL", "soon", "CKPT_INTERVAL: 'soon' is not a duration"},
    };
    for (const auto &[variable, value, message] : wrong) {
        const Variable given(variable, value);
        const Outcome outcome = ckpt_says({"tune"});
        EXPECT_EQ(outcome.exit_code, exit_usage) << variable;
        EXPECT_NE(outcome.err.find(message), std::string::npos) << outcome.err;
    }
    const Variable given("CKPT_KEEP", "x");
    EXPECT_EQ(ckpt_says({"tune", "--keep", "3"}).exit_code, exit_done) << "the option wins";
    EXPECT_NE(ckpt_says({"tune", "--keep", "y"}).err.find("--keep: invalid number 'y'"),
              std::string::npos);
}

TEST_F(Options, OfOtherCommandsDoNotMatter)
{
    const Variable pool("CKPT_POOL", "12Q"), restarts("CKPT_MAX_RESTARTS", "x");
    const Variable rank("CKPT_RANK", "x"), verify("CKPT_VERIFY", "some");
    EXPECT_EQ(ckpt_says({"tune", "--pool", "64M"}).exit_code, exit_done);
    EXPECT_EQ(ckpt_says({"list"}).exit_code, exit_not_found);
    EXPECT_EQ(ckpt_says({"restart"}).exit_code, exit_usage);
}

TEST_F(Options, AreChecked)
{
    const std::vector<Words> wrong = {
        {},
        {"frobnicate"},
        {"list", "--frobnicate"},
        {"tune", "--interval", "soon"},
        {"tune", "--keep", "0"},
        {"tune", "--keep", "many"},
        {"tune", "--codec", "gzip"},
        {"tune", "--name", "a/b"},
        {"tune", "--timeout", "-1"},
        {"tune", "--windows", "open"},
        {"run", "--components", "all", "--", "true"},
        {"restart", "--components", "none"},
        {"run"},
        {"run", "--"},
        {"run", "mpirun"},
        {"run", "--max-restarts", "-1", "--", "true"},
        {"run", "--bind-to", "core", "--", "mpirun", "true"},
        {"run", "-n", "2", "--bind-to", "hwthread", "true"},
        {"run", "--name", "a b", "--", "true"},
        {"run", "--spares", "1", "--", "true"},
        {"run", "--spares", "2", "--", "mpirun", "--host", "a,b", "true"},
        {"run", "--migrate-signal", "USR1", "--nodes-file", "x", "--", "true"},
        {"restart", "--verify", "some"},
        {"restart", "--lazy=perhaps"},
        {"list", "--", "x"},
        {"gc", "--keep", "0"},
        {"list", "a b"},
        {"gc", "a b"},
        {"status", "a b"},
        {"checkpoint", "a b"},
        {"inspect", "--rank", "-1"},
    };
    for (const Words &words : wrong) {
        Outcome outcome = ckpt_says(words);
        EXPECT_EQ(outcome.exit_code, exit_usage) << shell_words(words);
        EXPECT_TRUE(outcome.err.starts_with("ckpt: ")) << outcome.err;
        EXPECT_EQ(outcome.out, "") << shell_words(words);
    }
}

TEST_F(Options, HelpAndVersionSucceed)
{
    EXPECT_EQ(ckpt_says({"--version"}).out, "ckpt " PACKAGE_VERSION "\n");
    Program program;
    for (CLI::App *command : program.app.get_subcommands({})) {
        Outcome outcome = ckpt_says({command->get_name(), "--help"});
        EXPECT_EQ(outcome.exit_code, 0);
        EXPECT_NE(outcome.out.find("ckpt " + command->get_name()),
                  std::string::npos)
            << outcome.out;
    }
}

using Checkpoints = CliTest;

TEST_F(Checkpoints, AreListed)
{
    commit("a", 1);
    commit("b", 2);
    fs::create_directory(store_.directory() / "b" / "0000");
    store_.begin_checkpoint("b", 3);
    Outcome outcome = ckpt_says({"list"});
    EXPECT_EQ(outcome.exit_code, exit_done);
    EXPECT_NE(outcome.out.find("a/1         1970-01-01T00:00:01Z  2      5 B"),
              std::string::npos)
        << outcome.out;
    EXPECT_NE(outcome.out.find("b/3         -"), std::string::npos);

    auto json = nlohmann::json::parse(ckpt_says({"list", "--json", "b"}).out);
    ASSERT_EQ(json.size(), 2u);
    EXPECT_EQ(json[0]["state"], "committed");
    EXPECT_EQ(json[1]["state"], "incomplete");
}

TEST_F(Checkpoints, DirectoriesOfOthersAreNamed)
{
    fs::create_directories(store_.directory() / "mine" / "000001");
    fs::create_directories(store_.directory() / "no-job" / "x");
    const std::string named = fmt::format("ckpt: {} was not made by ckpt: only whole checkpoints "
                                          "in it are listed\n",
                                          (store_.directory() / "mine").string());
    EXPECT_EQ(ckpt_says({"list"}).exit_code, exit_not_found);
    EXPECT_TRUE(ckpt_says({"list"}).err.starts_with(named)) << ckpt_says({"list"}).err;
    commit("a", 1);
    EXPECT_EQ(ckpt_says({"list"}).exit_code, exit_done);
    EXPECT_EQ(ckpt_says({"list", "--json"}).err, named);
    EXPECT_EQ(ckpt_says({"list", "a"}).err, "");
}

TEST_F(Checkpoints, ThatAreNotThereAreNotFound)
{
    for (const char *command : {"list", "inspect", "verify", "restart"}) {
        Outcome outcome = ckpt_says({command});
        EXPECT_EQ(outcome.exit_code, exit_not_found) << command;
        EXPECT_EQ(ckpt_says({command, "--dir", "/no/such"}).exit_code,
                  exit_not_found)
            << command;
    }
    EXPECT_EQ(ckpt_says({"verify", "a/7"}).exit_code, exit_not_found);
    commit("a", 1);
    EXPECT_EQ(ckpt_says({"verify", "a/7"}).exit_code, exit_not_found);
    EXPECT_EQ(ckpt_says({"inspect", "b"}).exit_code, exit_not_found);
}

TEST_F(Checkpoints, DamagedOnesAreNamed)
{
    Checkpoint checkpoint = commit("a", 1);
    Outcome outcome = ckpt_says({"verify"}); /* "piece" is not an HDF5 file */
    EXPECT_EQ(outcome.exit_code, exit_failed);
    EXPECT_NE(outcome.err.find("node-a.h5"), std::string::npos);
    EXPECT_EQ(ckpt_says({"restart", "a/1"}).exit_code, exit_failed);

    fs::resize_file(checkpoint.directory / "node-a.h5", 4);
    outcome = ckpt_says({"verify", "a/1"});
    EXPECT_EQ(outcome.exit_code, exit_failed);
    EXPECT_NE(outcome.err.find("node-a.h5"), std::string::npos);

    fs::resize_file(checkpoint.directory / "manifest.json", 0);
    outcome = ckpt_says({"restart", "a/1"});
    EXPECT_EQ(outcome.exit_code, exit_failed);
    EXPECT_NE(outcome.err.find("manifest"), std::string::npos);
}

TEST_F(Checkpoints, GarbageGoesUnlessItIsADryRun)
{
    for (std::uint64_t number = 1; number <= 4; number++) {
        commit("a", number);
    }
    EXPECT_EQ(ckpt_says({"gc", "--dry-run", "--keep", "3"}).out,
              "would remove a/1 (committed)\n");
    EXPECT_EQ(store_.checkpoints("a").size(), 4u);
    ckpt_says({"gc", "--keep", "1"});
    ASSERT_EQ(store_.checkpoints("a").size(), 1u);
    EXPECT_EQ(store_.checkpoints("a")[0].number, 4u);
}

TEST_F(Checkpoints, TwoDirectoriesAreOne)
{
    Store slow = Store::create(scratch_ / "slow");
    make_job_directory(scratch_ / "slow/a");
    Variable directories("CKPT_DIR", store_.directory().string() + "," + (scratch_ / "slow"));
    for (std::uint64_t number = 1; number <= 3; number++) {
        fs::copy(commit("a", number).directory, slow.directory_of("a", number),
                 fs::copy_options::recursive);
    }
    fs::remove_all(store_.directory_of("a", 1));
    fs::remove_all(slow.directory_of("a", 3));
    std::string listed = ckpt_says({"list"}).out;
    for (const char *line : {"slow        committed", "fast, slow  committed",
                             "fast        committed"}) {
        EXPECT_NE(listed.find(line), std::string::npos) << listed;
    }
    EXPECT_NE(ckpt_says({"status"}).out.find("3 checkpoints, newest a/3"),
              std::string::npos);
    EXPECT_EQ(ckpt_says({"gc", "--keep", "1"}).out,
              fmt::format("removed a/2 (committed) in {}\n"
                          "removed a/1 (committed) in {}\n",
                          store_.directory().string(), slow.directory().string()));
    EXPECT_EQ(ckpt_says({"list", "--dir", scratch_ / "slow"}).exit_code, exit_done);
    EXPECT_EQ(ckpt_says({"list", "--dir", scratch_ / "slow,"}).exit_code, exit_usage);
}

/* If a user names the directories on nodes, their checkpoints must not count as incomplete ones,
 * which gc removes. */
TEST_F(Checkpoints, GarbageOnNodes)
{
    const Store memory = Store::create(scratch_ / "memory");
    for (std::uint64_t number : {1, 2}) {
        Manifest noted = manifest("a", number);
        noted.pieces = {{"node-a.h5", host_name(), 5, 0, {0}}, {"node-b.h5", "n2", 5, 0, {1}}};
        std::ofstream(memory.begin_checkpoint("a", number) / "node-a.h5") << "piece";
        NodeRecord{noted, memory.directory_of("a", number), {{"scheme", "partner"}}}.write(
            store_.directory() / "a");
    }
    const std::string says =
        fmt::format("a/1 (committed) on nodes; ckpt gc on n2 removes its files, in {}\n",
                    memory.directory_of("a", 1).string());
    const std::string both = memory.directory().string() + "," + store_.directory().string();
    EXPECT_EQ(ckpt_says({"gc", "--dir", both, "--dry-run", "--keep", "1"}).out,
              "would remove " + says);
    EXPECT_TRUE(fs::exists(memory.directory_of("a", 1)));
    EXPECT_EQ(ckpt_says({"gc", "--keep", "1"}).out, "removed " + says);
    EXPECT_EQ(ckpt_says({"gc", "--dir", both, "--keep", "1"}).out, "nothing was to be removed\n");
    EXPECT_FALSE(fs::exists(memory.directory_of("a", 1)));
    EXPECT_TRUE(fs::exists(memory.directory_of("a", 2) / "node-a.h5"));
}

/* A committed checkpoint of a real (child) process, as rank 0 of 1. */
class RealImage : public CliTest
{
  protected:
    RealImage()
    {
        ChildProcess child([](Description &description) {
            fill_text(description.map(3 * mebibyte), 7);
            ckpt_file file{};
            file.descriptor = 5;
            file.kind = CKPT_FILE_REGULAR;
            file.same_as = -1;
            file.path = description.add_string("/data/input");
            description.files.push_back(file);
            description.summary = R"({"communicators": 3})";
        });
        Manifest record = manifest("real", 1);
        record.rank_count = 1;
        directory_ = store_.begin_checkpoint("real", 1);
        NodeFileWriter writer(directory_, "a", {});
        writer.capture(child.pid(), child.snapshot());
        std::ofstream(directory_ / "log") << message_log(12);
        writer.add_message_log(0, directory_ / "log");
        fs::remove(directory_ / "log");
        record.pieces = {writer.commit()};
        record.write(directory_);
    }

    fs::path directory_;
};

TEST_F(RealImage, IsVerified)
{
    Outcome outcome = ckpt_says({"verify", "real/1"});
    EXPECT_EQ(outcome.exit_code, exit_done) << outcome.err;
    EXPECT_TRUE(outcome.out.starts_with("real/1: good, 1 rank, 1 file, "));
    EXPECT_EQ(ckpt_says({"verify", directory_}).exit_code, exit_done);
}

TEST_F(RealImage, IsGoodWhateverItsTraceIs)
{
    std::ofstream(directory_ / "trace.json") << "nonsense";
    EXPECT_EQ(ckpt_says({"trace"}).exit_code, exit_failed);
    EXPECT_EQ(ckpt_says({"verify"}).exit_code, exit_done);
}

TEST_F(RealImage, AFlippedByteIsFound)
{
    fs::path piece = directory_ / "node-a.h5";
    std::fstream file(piece, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(static_cast<std::streamoff>(fs::file_size(piece) / 2));
    int byte = file.get();
    file.seekp(static_cast<std::streamoff>(fs::file_size(piece) / 2));
    file.put(static_cast<char>(byte ^ 1));
    file.close();
    Outcome outcome = ckpt_says({"verify"});
    EXPECT_EQ(outcome.exit_code, exit_failed);
    EXPECT_NE(outcome.err.find("node-a.h5"), std::string::npos) << outcome.err;
}

TEST_F(RealImage, IsInspected)
{
    Outcome outcome = ckpt_says({"inspect"});
    EXPECT_EQ(outcome.exit_code, exit_done) << outcome.err;
    EXPECT_NE(outcome.out.find("checkpoint   real/1"), std::string::npos);

    auto all = nlohmann::json::parse(ckpt_says({"inspect", "--json"}).out);
    EXPECT_EQ(all["ranks"][0]["file_count"], 1);
    EXPECT_EQ(all["ranks"][0]["logged_messages"], 12);
    EXPECT_EQ(all["ranks"][0]["logged_bytes"], message_log(12).size());

    outcome = ckpt_says({"inspect", "--rank", "0"});
    EXPECT_NE(outcome.out.find("/data/input"), std::string::npos)
        << outcome.out;
    EXPECT_NE(outcome.out.find("logged: 12 messages that crossed the cut, "),
              std::string::npos)
        << outcome.out;
    auto rank = nlohmann::json::parse(
        ckpt_says({"inspect", "--rank", "0", "--json"}).out);
    EXPECT_EQ(rank["working_directory"], "/tmp");
    EXPECT_EQ(rank["files"][0]["descriptor"], 5);
    EXPECT_EQ(rank["mpi"]["communicators"], 3);
    EXPECT_GE(rank["memory_bytes"], 3 * mebibyte);
    EXPECT_EQ(ckpt_says({"inspect", "--rank", "1"}).exit_code,
              exit_not_found);
}

TEST_F(RealImage, RestartPrintsItsCommand)
{
    for (const char *how : {"none", "quick", "full"}) {
        Outcome outcome = ckpt_says({"restart", "--print", "--verify", how});
        EXPECT_EQ(outcome.exit_code, exit_done) << outcome.err;
        EXPECT_NE(outcome.out.find("cd / &&\n"), std::string::npos);
        EXPECT_NE(outcome.out.find("-np 1 /lib/ckpt/ckpt-restart " +
                                   directory_.string()),
                  std::string::npos)
            << outcome.out;
    }
}

TEST_F(RealImage, RestartTellsTheRanksToBeLazy)
{
    const auto says = [&](const std::string &option) {
        Outcome outcome = ckpt_says({"restart", "--print", option});
        EXPECT_EQ(outcome.exit_code, exit_done) << outcome.err;
        return outcome.out;
    };
    EXPECT_NE(says("--lazy").find("-x CKPT_LAZY=auto"), std::string::npos);
    EXPECT_NE(says("--lazy=always").find("-x CKPT_LAZY=always"), std::string::npos);
    EXPECT_NE(says("--lazy=no").find("-x CKPT_LAZY=no"), std::string::npos);
    EXPECT_EQ(says("--verify=quick").find("CKPT_LAZY"), std::string::npos);
}

TEST_F(RealImage, RestartPutsAMovedCheckpointIntoItsNewStore)
{
    fs::path moved = scratch_ / "moved";
    fs::rename(store_.directory(), moved);
    Outcome outcome = ckpt_says({"restart", "--print", moved / "real/000001"});
    EXPECT_EQ(outcome.exit_code, exit_done) << outcome.err;
    EXPECT_NE(outcome.out.find("-x CKPT_DIR=" + moved.string()),
              std::string::npos)
        << outcome.out;
}

TEST_F(RealImage, RestartRefusesWhileTheJobRuns)
{
    const JobOwnership launch(store_.directory() / "real", {.token = "launch"},
                              JobOwnership::Take::ask);
    Outcome outcome = ckpt_says({"restart"});
    EXPECT_EQ(outcome.exit_code, exit_refused);
    EXPECT_NE(outcome.err.find("[job-running]"), std::string::npos);
    EXPECT_EQ(ckpt_says({"restart", "--", "-np", "3"}).exit_code, exit_usage);
}

/* `ckpt run` with a fake launcher: a script called mpirun that records its arguments, and carries
 * out the test's commands. */
class Run : public RealImage
{
  protected:
    Run() { fs::remove_all(store_.directory() / "real"); }

    void write_launcher(const std::string &body)
    {
        fs::path path = scratch_ / "mpirun";
        std::ofstream(path) << "#!/bin/sh\ncd " << scratch_.path()
                            << "\necho \"$@\" >>calls\n"
                            << "n=$(wc -l <calls)\n"
                            << body << "\n";
        fs::permissions(path, fs::perms::owner_all);
    }

    /* Keeps the real checkpoint aside, for the script to commit. */
    void set_aside(std::uint64_t number)
    {
        ChildProcess child([](Description &) {});
        Manifest record = manifest("real", number);
        record.rank_count = 1;
        record.launch.launcher = {scratch_ / "mpirun", "./app"};
        fs::path directory =
            scratch_ / ("aside-" + std::to_string(number));
        fs::create_directory(directory);
        NodeFileWriter writer(directory, "a", {});
        writer.capture(child.pid(), child.snapshot());
        record.pieces = {writer.commit()};
        record.write(directory);
    }

    static std::string commit_aside(int number)
    {
        return fmt::format("mkdir -p ckpt/real && mv aside-{0} "
                           "ckpt/real/$(printf %06d {0})",
                           number);
    }

    Outcome run(const Words &options = {}) const
    {
        Words words = {"run", "--name", "real"};
        words.insert(words.end(), options.begin(), options.end());
        words.insert(words.end(),
                     {"--", scratch_ / "mpirun", "-np", "1", "./app"});
        return ckpt_says(words);
    }

    Words calls() const
    {
        std::ifstream file(scratch_ / "calls");
        Words lines;
        for (std::string line; std::getline(file, line);) {
            lines.push_back(line);
        }
        return lines;
    }
};

/* Otherwise, if `ckpt run` is killed now, `ckpt restart` would take its job for lost, and start a
 * second copy. */
TEST_F(Run, TheLauncherOwnsTheJobBeforeItBegins)
{
    write_launcher("cp ckpt/real/owner seen\necho $$ >pid");
    EXPECT_EQ(run().exit_code, exit_done);
    const auto seen = nlohmann::json::parse(std::ifstream(scratch_ / "seen"));
    int pid = 0;
    std::ifstream(scratch_ / "pid") >> pid;
    EXPECT_GT(pid, 0);
    EXPECT_EQ(std::atoll(seen.at("launcher").get<std::string>().c_str()), pid);
}

TEST_F(Run, PassesTheExitCodeOn)
{
    write_launcher("exit 0");
    EXPECT_EQ(run().exit_code, 0);
    write_launcher("exit 42");
    Outcome outcome = run();
    EXPECT_EQ(outcome.exit_code, 42);
    EXPECT_NE(outcome.err.find("no checkpoint to restart from"),
              std::string::npos);
    write_launcher("kill -KILL $$");
    outcome = run({"--no-fresh-start"});
    EXPECT_EQ(outcome.exit_code, 137);
    EXPECT_NE(outcome.err.find("must not start over"), std::string::npos) << outcome.err;
    EXPECT_EQ(calls().size(), 3u);
    EXPECT_NE(calls()[0].find("--tune " + (scratch_ / "cache/ckpt/launch-")),
              std::string::npos);
    EXPECT_TRUE(fs::is_empty(scratch_ / "cache/ckpt"));
}

TEST_F(Run, BeginsAnewIfItWasKilledBeforeItsFirstCheckpoint)
{
    write_launcher("[ $n = 1 ] && kill -KILL $$\nexit 0");
    const Outcome outcome = run();
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    ASSERT_EQ(calls().size(), 2u);
    EXPECT_NE(outcome.err.find("code 137; restart 1 of at most 10, from the beginning"),
              std::string::npos)
        << outcome.err;
    EXPECT_NE(calls()[1].find("--tune "), std::string::npos);
}

TEST_F(Run, SaysThatTheLauncherIsNotThere)
{
    Outcome outcome = ckpt_says({"run", "--", "/no/such/mpirun", "./app"});
    EXPECT_EQ(outcome.exit_code, 127);
}

TEST_F(Run, RestartsFromTheNewestCheckpoint)
{
    set_aside(1);
    write_launcher("[ $n = 1 ] && { " + commit_aside(1) +
                   "; exit 137; }\nexit 0");
    Outcome outcome = run();
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    ASSERT_EQ(calls().size(), 2u);
    EXPECT_NE(calls()[1].find("/lib/ckpt/ckpt-restart"), std::string::npos);
    EXPECT_NE(calls()[1].find("CKPT_RESTART_NUMBER=1"), std::string::npos);
    EXPECT_NE(outcome.err.find("restart 1 of at most 10"), std::string::npos);
}

TEST_F(Run, TakesAnOlderOneIfTheNewestIsDamaged)
{
    set_aside(1);
    set_aside(2);
    write_launcher("[ $n = 1 ] && { " + commit_aside(1) + "; " + commit_aside(2) +
                   "; truncate -s -1 ckpt/real/000002/node-*; exit 137; }\nexit 0");
    Outcome outcome = run();
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    ASSERT_EQ(calls().size(), 2u);
    EXPECT_NE(calls()[1].find("CKPT_RESTART_NUMBER=1"), std::string::npos);
    EXPECT_NE(outcome.err.find("real/2 cannot be used"), std::string::npos) << outcome.err;
}

TEST_F(Run, GivesUpWithoutNewCheckpoints)
{
    set_aside(1);
    write_launcher("[ $n = 1 ] && " + commit_aside(1) + "\nexit 9");
    Outcome outcome = run();
    EXPECT_EQ(outcome.exit_code, 9);
    EXPECT_EQ(calls().size(), 3u);
    EXPECT_NE(outcome.err.find("again and again"), std::string::npos);
}

TEST_F(Run, GoesOnAsLongAsThereAreNewCheckpoints)
{
    for (std::uint64_t number = 1; number <= 4; number++) {
        set_aside(number);
    }
    write_launcher("[ $n = 5 ] && exit 0\nmkdir -p ckpt/real\n"
                   "mv aside-$n ckpt/real/$(printf %06d $n)\nexit 9");
    EXPECT_EQ(run().exit_code, 0);
    EXPECT_EQ(calls().size(), 5u);
}

TEST_F(Run, KeepsToTheLimitOfRestarts)
{
    set_aside(1);
    write_launcher(commit_aside(1) + " 2>/dev/null\nexit 9");
    EXPECT_EQ(run({"--max-restarts", "1"}).exit_code, 9);
    EXPECT_EQ(calls().size(), 2u);
}

TEST_F(Run, DoesNotStartFromACheckpointOfEarlier)
{
    set_aside(1);
    fs::create_directories(store_.directory() / "real");
    fs::rename(scratch_ / "aside-1", store_.directory() / "real" / "000001");
    write_launcher("exit 9");
    EXPECT_EQ(run().exit_code, 9);
    EXPECT_EQ(calls().size(), 1u);
}

TEST_F(Run, RefusesTheNameOfARunningJob)
{
    make_job_directory(store_.directory() / "real");
    const JobOwnership launch(store_.directory() / "real", {.token = "launch"},
                              JobOwnership::Take::ask);
    write_launcher("exit 0");
    EXPECT_EQ(run().exit_code, exit_refused);
}

TEST_F(Run, AnEndThatTheUserAsksForIsNoFailure)
{
    set_aside(1);
    /* A shell cannot trap a signal that was ignored at the shell's start, as SIGINT is in the
     * background of a script. */
    std::signal(SIGINT, SIG_DFL);
    /* The launcher sends SIGINT to ckpt, and dies of the signal that ckpt sends on. */
    write_launcher(commit_aside(1) +
                   "\ntrap 'kill $!; exit 130' INT\nkill -INT $PPID\n"
                   "sleep 10 &\nwait");
    EXPECT_EQ(run().exit_code, 130);
    EXPECT_EQ(calls().size(), 1u);
}

} // namespace
