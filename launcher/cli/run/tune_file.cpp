/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tune_file.cpp - writes the parameter file that `mpirun --tune` reads.
 */
#include "cli/run/tune_file.hpp"

#include "agent/control/control.hpp"
#include "common/files/files.hpp"
#include "common/host.hpp"
#include "common/processes.hpp"
#include "common/files/run_directory.hpp"

#include "ckpt/input.h"

#include <CLI/StringTools.hpp>

#include <algorithm>
#include <chrono>
#include <optional>
#include <regex>

#include <unistd.h>

namespace fs = std::filesystem;

namespace ckpt::cli
{

namespace
{

constexpr const char *plugin_name = "libckpt-mpi.so";
constexpr const char *comment =
    "# Checkpoints of an MPI program: mpirun --tune FILE ..., see ckpt(7)\n";

/* Appends the user's preloaded libraries to ours, which appear only once. ld.so also
 * accepts blanks as separators, but a tune file cannot contain them. */
std::string merged_preload(const std::string &ours, std::string theirs)
{
    std::replace(theirs.begin(), theirs.end(), ' ', ':');
    std::string merged = ours;
    for (const std::string &library : CLI::detail::split(theirs, ':')) {
        if (!library.empty() && fs::path(library).filename() != plugin_name) {
            merged += ":" + library;
        }
    }
    return merged;
}

fs::path cache_directory()
{
    std::string cache = variable("XDG_CACHE_HOME");
    if (!cache.empty()) {
        return fs::path(cache) / "ckpt";
    }
    std::string home = variable("HOME");
    return home.empty() ? run_directory()
                        : fs::path(home) / ".cache" / "ckpt";
}

constexpr const char *kept_prefix = "tune-";
constexpr const char *launch_prefix = "launch-";
constexpr auto starting_time = std::chrono::hours(24);
constexpr auto longest_launch = std::chrono::hours(24 * 30);

/* The process to which a launch's file belongs, from the file's name: HOST and
 * process_identity(). */
struct Owner {
    std::string host;
    std::string identity;
};

std::optional<Owner> owner_of(const fs::path &path)
{
    static const std::regex pattern(std::string(launch_prefix) +
                                    "(.+)-([0-9]{10}-[0-9]{20})-[0-9a-f]{16}"
                                    "(\\.[0-9]+(\\.tmp)?)?"); /* or incomplete */
    const std::string name = path.filename();
    std::smatch parts;
    if (!std::regex_match(name, parts, pattern)) {
        return std::nullopt;
    }
    return Owner{parts[1], parts[2]};
}

bool is_there(const Owner &owner)
{
    return process_identity(std::stoll(owner.identity)) == owner.identity;
}

bool may_be_needed(const Owner &owner, std::chrono::nanoseconds age)
{
    if (owner.host != host_name()) {
        return age < longest_launch;
    }
    return is_there(owner) || age < starting_time;
}

/* Several processes may do so at once; files that are gone already are ignored. */
void remove_old_launch_files(const fs::path &directory)
{
    std::error_code error;
    for (const auto &entry : fs::directory_iterator(directory, error)) {
        const auto owner = owner_of(entry.path());
        const auto written = owner ? entry.last_write_time(error) : fs::file_time_type();
        if (owner && !error &&
            !may_be_needed(*owner, fs::file_time_type::clock::now() - written)) {
            fs::remove(entry.path(), error);
        }
    }
}

bool has_text(const fs::path &path, const std::string &text)
{
    std::error_code error;
    return fs::is_regular_file(path, error) &&
           read_text_file(path, "tune file") == text;
}

fs::path write_tune_file_in(const fs::path &directory, const std::string &prefix,
                            const std::string &text)
{
    make_private_directory(directory);
    fs::path path = directory / (prefix + control::namespace_hash(text));
    if (!has_text(path, text)) {
        /* Many jobs may create the file at once, so each writes its own file and
         * renames it. */
        fs::path own = path.string() + fmt::format(".{}", getpid());
        write_text_file_atomically(own, text, "tune file");
        fs::rename(own, path);
    }
    return path;
}

/* Falls back to another directory if the home directory is full or not writable on
 * this host. */
fs::path write_tune_file(const std::string &prefix, const std::string &text)
{
    try {
        return write_tune_file_in(cache_directory(), prefix, text);
    } catch (const std::exception &) {
        return write_tune_file_in(run_directory(), prefix, text);
    }
}

} // namespace

Environment plugin_environment(const fs::path &libraries,
                               const std::string &preload,
                               const Environment &settings)
{
    Environment all = settings;
    all["LD_PRELOAD"] = merged_preload(libraries / plugin_name, preload);
    all["CKPT_LIBDIR"] = libraries.string();
    all.emplace(CKPT_INPUT_VARIABLE, CKPT_INPUT_NEW);
    return all;
}

std::string tune_file_text(const Environment &environment)
{
    std::string text = comment;
    for (const auto &[name, value] : environment) {
        if (value.find_first_of(" \t\n,'\"\\") != std::string::npos) {
            stop_with(exit_usage,
                      "{}={} cannot be written into a tune file: no blanks, "
                      "quotes, commas or backslashes",
                      name, value);
        }
        text += fmt::format("-x {}={}\n", name, value);
    }
    return text;
}

fs::path provide_tune_file(const std::string &text)
{
    const fs::path installed = CKPT_TUNE_FILE;
    return has_text(installed, text) ? installed : write_tune_file(kept_prefix, text);
}

fs::path provide_launch_file(const std::string &text)
{
    const fs::path installed = CKPT_TUNE_FILE;
    if (has_text(installed, text)) {
        return installed;
    }
    for (const fs::path &directory : {cache_directory(), run_directory()}) {
        remove_old_launch_files(directory);
    }
    return write_tune_file(
        fmt::format("{}{}-{}-", launch_prefix, host_name(), process_identity(getpid())), text);
}

void remove_launch_file(const fs::path &path)
{
    const auto owner = owner_of(path);
    std::error_code error;
    if (owner && owner->host == host_name() && owner->identity == process_identity(getpid())) {
        fs::remove(path, error); /* on failure, a later launch removes it */
    }
}

bool is_own_tune_file(const fs::path &path)
{
    static const std::regex kept(std::string(kept_prefix) + "[0-9a-f]{16}");
    const std::string name = path.filename();
    return path == fs::path(CKPT_TUNE_FILE) || owner_of(path) ||
           std::regex_match(name, kept);
}

} // namespace ckpt::cli
