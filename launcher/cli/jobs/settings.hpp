/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * settings.hpp - the settings of a job's processes: CKPT_* variables.
 */
#pragma once

#include "cli/base/command.hpp"
#include "cli/base/levels.hpp"
#include "image/store/tiers.hpp"

#include <filesystem>
#include <map>

namespace ckpt::cli
{

/* Environment variables by name. */
using Environment = std::map<std::string, std::string>;

/* The job options of `ckpt tune` and `ckpt run`. */
class JobSettings
{
  public:
    void declare(CLI::App &app);

    /* Returns the given options, validated, as variables; paths are absolute.
     * Throws CommandError(exit_usage). */
    Environment environment() const;

    const std::string &name() const { return name_; }
    void set_name(const std::string &name) { name_ = name; }
    /* Returns absolute paths; the default if --dir was not given. Throws
     * CommandError(exit_usage). */
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

/* Returns where the run-time files are: $CKPT_LIBDIR or the installation
 * directory. */
std::filesystem::path library_directory();

/* Returns a variable of this process, or "". */
std::string variable(const char *name);

} // namespace ckpt::cli
