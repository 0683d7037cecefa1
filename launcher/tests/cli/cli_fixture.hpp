/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cli_fixture.hpp - shared by tests of the program `ckpt`: a scratch store, a
 * clean environment, and the program's output.
 */
#pragma once

#include "cli/base/command.hpp"
#include "cli/jobs/settings.hpp"
#include "image/store/store.hpp"
#include "tests/common/child_process.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

namespace ckpt::test
{

/* The output and the exit code of a command. */
struct Outcome {
    int exit_code = -1;
    std::string out;
    std::string err;
};

/* Runs `ckpt WORDS` in this process. */
inline Outcome ckpt_says(const cli::Words &words)
{
    cli::Words argv = {"ckpt"};
    argv.insert(argv.end(), words.begin(), words.end());
    Outcome outcome;
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    outcome.exit_code = cli::run_program(argv);
    std::fflush(stdout);
    outcome.out = testing::internal::GetCapturedStdout();
    outcome.err = testing::internal::GetCapturedStderr();
    return outcome;
}

/* Sets a variable while this object lives; nullptr unsets it. */
class Variable
{
  public:
    Variable(const char *name, std::optional<std::string> value)
        : name_(name)
    {
        if (const char *before = std::getenv(name)) {
            before_ = before;
        }
        set(value);
    }
    Variable(const Variable &) = delete;
    Variable &operator=(const Variable &) = delete;
    ~Variable() { set(before_); }

  private:
    void set(const std::optional<std::string> &value)
    {
        if (value) {
            ::setenv(name_, value->c_str(), 1);
        } else {
            ::unsetenv(name_);
        }
    }

    const char *name_;
    std::optional<std::string> before_;
};

/* A scratch directory with a store DIR/ckpt, a run directory and a cache. */
class CliTest : public testing::Test
{
  protected:
    CliTest()
        : store_(Store::create(scratch_ / "ckpt")),
          run_directory_("CKPT_RUN_DIR", scratch_ / "run"),
          cache_("XDG_CACHE_HOME", scratch_ / "cache"),
          directory_("CKPT_DIR", scratch_ / "ckpt"),
          libraries_("CKPT_LIBDIR", "/lib/ckpt"),
          preload_("LD_PRELOAD", std::nullopt)
    {
        std::filesystem::create_directory(scratch_ / "run");
    }

    static Manifest manifest(const std::string &job, std::uint64_t number)
    {
        Manifest manifest;
        manifest.job = job;
        manifest.number = number;
        manifest.created = static_cast<std::int64_t>(number) * 1'000'000'000;
        manifest.rank_count = 2;
        manifest.codec = "zstd:1";
        manifest.hosts = {"a"};
        manifest.pieces = {{"node-a.h5", "a", 5, 0, {0, 1}}};
        manifest.launch.launcher = {"mpirun", "-np", "2", "./app", "-x"};
        manifest.launch.launcher_directory = "/";
        manifest.launch.application = {"./app", "-x"};
        return manifest;
    }

    /* A committed checkpoint whose piece has the right size, but no content. */
    Checkpoint commit(const Manifest &manifest) const
    {
        auto directory =
            store_.begin_checkpoint(manifest.job, manifest.number);
        std::ofstream(directory / "node-a.h5") << "piece";
        manifest.write(directory);
        return store_.resolve(directory);
    }

    Checkpoint commit(const std::string &job, std::uint64_t number) const
    {
        return commit(manifest(job, number));
    }

    ScratchDirectory scratch_;
    Store store_;

  private:
    Variable run_directory_;
    Variable cache_;
    Variable directory_;
    Variable libraries_;
    Variable preload_;
};

} // namespace ckpt::test
