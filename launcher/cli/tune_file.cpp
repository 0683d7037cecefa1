/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tune_file.cpp - writes the parameter file that `mpirun --tune` reads.
 */
#include "cli/tune_file.hpp"

#include "agent/control.hpp"
#include "common/files.hpp"

#include <algorithm>

#include <unistd.h>

namespace fs = std::filesystem;

namespace ckpt::cli
{

namespace
{

constexpr const char *plugin_name = "libckpt-mpi.so";
constexpr const char *comment =
    "# Checkpoints of an MPI program: mpirun --tune FILE ..., see ckpt(7)\n";

/* The user's preloaded libraries after ours; ours only once. ld.so separates
 * by blanks as well, which a tune file cannot carry. */
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
    return home.empty() ? control::run_directory()
                        : fs::path(home) / ".cache" / "ckpt";
}

bool has_text(const fs::path &path, const std::string &text)
{
    std::error_code error;
    return fs::is_regular_file(path, error) &&
           read_text_file(path, "tune file") == text;
}

} // namespace

Environment plugin_environment(const fs::path &libraries,
                               const std::string &preload,
                               const Environment &settings)
{
    Environment all = settings;
    all["LD_PRELOAD"] = merged_preload(libraries / plugin_name, preload);
    all["CKPT_LIBDIR"] = libraries.string();
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
    fs::path installed = CKPT_TUNE_FILE;
    if (has_text(installed, text)) {
        return installed;
    }
    fs::path directory = cache_directory();
    make_private_directory(directory);
    fs::path path = directory / ("tune-" + control::namespace_hash(text));
    if (!has_text(path, text)) {
        /* Many jobs may want it at once: each renames a file of its own. */
        fs::path own = path.string() + fmt::format(".{}", getpid());
        write_text_file_atomically(own, text, "tune file");
        fs::rename(own, path);
    }
    return path;
}

} // namespace ckpt::cli
