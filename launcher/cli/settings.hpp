/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * settings.hpp - what the processes of a job can be told: CKPT_* variables.
 */
#pragma once

#include "cli/command.hpp"
#include "cli/levels.hpp"
#include "image/tiers.hpp"

#include <filesystem>
#include <map>

namespace ckpt::cli
{

/* Environment variables by name. */
using Environment = std::map<std::string, std::string>;

/* The options that steer a job, as `ckpt tune` and `ckpt run` take them. */
class JobSettings
{
  public:
    void declare(CLI::App &app);

    /* Those that were given, checked, as variables; paths made absolute.
     * Throws CommandError(exit_usage). */
    Environment environment() const;

    const std::string &name() const { return name_; }
    void set_name(const std::string &name) { name_ = name; }
    /* Absolute; the default if --dir was not given. CommandError(exit_usage). */
    TierDirectories directories() const;

  private:
    Levels levels() const;

    std::string directory_;
    std::string levels_;
    std::string domains_;
    std::string fabric_;
    std::string interval_;
    std::string mtbf_;
    std::string pool_;
    std::string granule_;
    std::string share_pages_;
    std::string direct_io_;
    std::string write_rate_;
    std::string incremental_;
    std::string name_;
    std::string protocol_;
    std::string windows_;
    std::string stagger_;
    std::string sweep_dimensions_;
    std::string codec_;
    std::string key_;
    std::string snapshot_;
    std::string keep_;
    std::string timeout_;
    std::string metrics_;
};

/* Where the run-time parts are: $CKPT_LIBDIR or the place of installation. */
std::filesystem::path library_directory();

/* A variable of this process, or "". */
std::string variable(const char *name);

} // namespace ckpt::cli
