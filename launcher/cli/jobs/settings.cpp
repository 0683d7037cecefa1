/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * settings.cpp - options of a job, and the variables that carry them.
 */
#include "cli/jobs/settings.hpp"

#include "cli/jobs/checkpoints.hpp"
#include "common/durations.hpp"
#include "common/invariant.hpp"
#include "image/seal/image_key.hpp"
#include "settings/declare.hpp"

#include <cstdlib>

namespace fs = std::filesystem;

namespace ckpt::cli
{

namespace
{

bool is_of_job(const settings::Setting &setting)
{
    return setting.is_of("run") && setting.is_of("tune");
}

} // namespace

void JobSettings::declare(CLI::App &app)
{
    for (const settings::Setting *setting : settings::options_of(app.get_name())) {
        if (is_of_job(*setting)) {
            settings::declare(app, *setting, values_.given(setting->variable),
                              settings::Target::keeps_empty);
        }
    }
}

Environment JobSettings::environment() const
{
    Environment variables;

    for (const settings::Setting &setting : settings::all()) {
        const bool is_for_others = (setting.readers & ~settings::launcher_reads) != 0;
        if (is_of_job(setting) && is_for_others && values_.is_given(setting.variable)) {
            variables[setting.variable] =
                settings::handed_on(setting, values_.text(setting.variable));
        }
    }
    if (values_.is_given("CKPT_LEVELS")) {
        check_levels();
        variables["CKPT_DIR"] = directories().text();
        variables["CKPT_REDUNDANCY"] = levels().redundancy;
        variables["CKPT_COPY_INTERVAL"] =
            fmt::format("{}", std::chrono::duration<double>(levels().disk).count());
    }
    if (values_.is_given(key_variable)) {
        check_key();
    }
    return variables;
}

void JobSettings::check_levels() const
{
    if (values_.number("CKPT_INCREMENTAL") != 0) {
        stop_with(exit_usage, "--levels: increments are for one directory that all nodes "
                              "see, not with --incremental");
    }
}

void JobSettings::check_key() const
{
    const std::string protocol = values_.text("CKPT_PROTOCOL");
    if (protocol != "sns" && protocol != "auto") {
        stop_with(exit_usage, "--protocol {} does not take a key yet: only sns does", protocol);
    }
}

TierDirectories JobSettings::directories() const
{
    TierDirectories directories = directories_of(values_.text("CKPT_DIR"));
    if (values_.is_given("CKPT_LEVELS") && !directories.has_slow()) {
        directories = directories_of(levels().on_nodes.string() + "," + directories.text());
    }
    return directories;
}

/* Throws CommandError(exit_usage) if --levels is invalid. */
Levels JobSettings::levels() const
{
    CKPT_EXPECT(values_.is_given("CKPT_LEVELS"));
    try {
        return Levels::parse(values_.text("CKPT_LEVELS"));
    } catch (const Error &problem) {
        stop_with(exit_usage, "--levels: {}", problem.what());
    }
}

fs::path library_directory()
{
    std::string given = variable("CKPT_LIBDIR");
    return given.empty() ? CKPT_LIBRARY_DIRECTORY : given;
}

std::string variable(const char *name)
{
    const char *value = std::getenv(name);
    return value != nullptr ? value : "";
}

} // namespace ckpt::cli
