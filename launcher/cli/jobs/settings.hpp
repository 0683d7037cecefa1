/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * settings.hpp - the settings of a job's processes: those options of settings/table.py that both
 * `ckpt tune` and `ckpt run` have.
 */
#pragma once

#include "cli/base/command.hpp"
#include "cli/base/levels.hpp"
#include "image/store/tiers.hpp"
#include "settings/values.hpp"

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

    std::string name() const { return values_.text("CKPT_NAME"); }
    void set_name(const std::string &name) { values_.given("CKPT_NAME") = name; }
    /* Returns absolute paths; the default if --dir was not given. Throws
     * CommandError(exit_usage). */
    TierDirectories directories() const;

  private:
    Levels levels() const;
    /* Throw CommandError(exit_usage) for options that cannot be combined. */
    void check_levels() const;
    void check_key() const;

    settings::Values values_;
};

/* Returns where the run-time files are: $CKPT_LIBDIR or the installation
 * directory. */
std::filesystem::path library_directory();

/* Returns a variable of this process, or "". */
std::string variable(const char *name);

} // namespace ckpt::cli
