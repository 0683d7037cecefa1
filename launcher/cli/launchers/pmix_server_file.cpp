/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pmix_server_file.cpp - finds PRRTE's session directory in the directory for
 * temporary files. Depending on the version it is "ompi.PID", or "dvm.PID" in
 * "prte.HOST.UID".
 */
#include "cli/launchers/pmix_server_file.hpp"

#include <fmt/format.h>

#include <fstream>
#include <map>
#include <string>

#include <sys/stat.h>
#include <unistd.h>

namespace fs = std::filesystem;

namespace ckpt::cli
{

namespace
{

constexpr int session_depth = 2; /* nested directories */

std::map<std::string, std::string> environment_of(pid_t process)
{
    std::ifstream file(fmt::format("/proc/{}/environ", process));
    std::map<std::string, std::string> variables;

    for (std::string setting; std::getline(file, setting, '\0');) {
        const std::size_t equals = setting.find('=');
        if (equals != setting.npos) {
            variables.emplace(setting.substr(0, equals), setting.substr(equals + 1));
        }
    }
    return variables;
}

/* Whether `word` is one of the dot-separated words of `name`. */
bool has_word(const std::string &name, const std::string &word)
{
    const std::string dotted = "." + name + ".";
    return dotted.find("." + word + ".") != dotted.npos;
}

bool is_own_file(const fs::path &path)
{
    struct stat status {
    };
    return lstat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
           status.st_uid == geteuid();
}

/* Returns the names in a directory; none if it cannot be read. */
std::vector<std::string> names_in(const fs::path &directory)
{
    std::vector<std::string> names;
    std::error_code error;

    for (fs::directory_iterator entry(directory, error), end; !error && entry != end;
         entry.increment(error)) {
        names.push_back(entry->path().filename().string());
    }
    return names;
}

/* "pmix.HOST.tool.PID" */
std::optional<fs::path> file_in(const fs::path &session, const std::string &pid)
{
    for (const std::string &name : names_in(session)) {
        if (name.starts_with("pmix.") && name.ends_with(".tool." + pid) &&
            is_own_file(session / name)) {
            return session / name;
        }
    }
    return std::nullopt;
}

std::optional<fs::path> search(const fs::path &directory, const std::string &pid, int depth)
{
    for (const std::string &name : names_in(directory)) {
        std::optional<fs::path> found;
        if (has_word(name, pid)) {
            found = file_in(directory / name, pid);
        } else if (depth > 1 && (name.starts_with("prte.") || name.starts_with("ompi."))) {
            found = search(directory / name, pid, depth - 1);
        }
        if (found) {
            return found;
        }
    }
    return std::nullopt;
}

} // namespace

std::vector<fs::path> temporary_directories_of(pid_t launcher)
{
    const auto variables = environment_of(launcher);
    std::vector<fs::path> directories;

    for (const char *name : {"PRTE_MCA_prte_tmpdir_base", "PRTE_MCA_prte_local_tmpdir_base",
                             "TMPDIR", "TEMP", "TMP"}) {
        const auto found = variables.find(name);
        if (found != variables.end() && !found->second.empty()) {
            directories.emplace_back(found->second);
        }
    }
    directories.emplace_back("/tmp");
    return directories;
}

std::optional<fs::path> pmix_server_file(pid_t launcher, const std::vector<fs::path> &directories)
{
    for (const fs::path &directory : directories) {
        if (auto found = search(directory, std::to_string(launcher), session_depth)) {
            return found;
        }
    }
    return std::nullopt;
}

} // namespace ckpt::cli
