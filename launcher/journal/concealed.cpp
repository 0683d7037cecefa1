/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * concealed.cpp - directories with concealed outputs.
 */
#include "config.h"
#include "journal/concealed.hpp"

#include "ckpt/journal.h"
#include "common/error.hpp"
#include "common/files/files.hpp"
#include "common/invariant.hpp"
#include "journal/file_change.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace ckpt::journal
{

namespace fs = std::filesystem;

namespace
{

constexpr const char *temporary_prefix = ".ckpt-new-"; /* left by a killed process */

bool is_ours(const std::string &name)
{
    return name == CKPT_JOURNAL_MERGED || name == CKPT_JOURNAL_LINKS ||
           name.starts_with(temporary_prefix);
}

bool is_merged(const fs::path &directory)
{
    return status_of(directory / CKPT_JOURNAL_MERGED).has_value();
}

void add_names(const fs::path &directory, std::size_t prefix, std::vector<std::string> &names)
{
    std::vector<fs::path> entries;

    for (const auto &entry : fs::directory_iterator(directory)) {
        if (!is_ours(entry.path().filename())) {
            entries.push_back(entry.path());
        }
    }
    std::ranges::sort(entries);
    for (const fs::path &entry : entries) {
        const auto status = status_of(entry);
        const bool is_directory = status && S_ISDIR(status->st_mode);
        if (status && !(is_directory && is_merged(entry))) {
            names.push_back(entry.string().substr(prefix));
        }
        if (is_directory) {
            add_names(entry, prefix, names);
        }
    }
}

/* Whether a directory has the name of one with concealed outputs, which ckpt has made. */
bool is_place(const fs::path &directory)
{
    return directory.filename().string().starts_with(CKPT_JOURNAL_CONCEALED_PREFIX);
}

/* Removes ckpt's own files, and directories that are empty afterwards. */
void remove_around(const fs::path &directory)
{
    for (const auto &entry : fs::directory_iterator(directory)) {
        const auto status = status_of(entry.path());
        if (status && S_ISDIR(status->st_mode)) {
            remove_around(entry.path());
        }
    }
    bool is_empty = true;
    for (const auto &entry : fs::directory_iterator(directory)) {
        is_empty = is_empty && is_ours(entry.path().filename());
    }
    if (is_empty && (is_merged(directory) || is_place(directory))) {
        for (const auto &entry : fs::directory_iterator(directory)) {
            (void)::unlink(entry.path().c_str());
        }
        (void)::rmdir(directory.c_str());
    }
}

} // namespace

bool is_concealed(const fs::path &journal)
{
    return status_of(journal / CKPT_JOURNAL_CONCEALED).has_value();
}

void set_concealed(const fs::path &journal, bool conceals)
{
    const fs::path path = journal / CKPT_JOURNAL_CONCEALED;

    if (conceals) {
        (void)open_file(path, O_WRONLY | O_CREAT | O_NOFOLLOW, 0600, "lock file");
        sync_directory(journal);
    } else if (::unlink(path.c_str()) < 0 && errno != ENOENT) {
        fail_errno(errno, "cannot remove {}", path.string());
    }
}

Fd lock_concealed(const fs::path &journal)
{
    const fs::path path = journal / CKPT_JOURNAL_CONCEALED;
    Fd lock = open_file(path, O_RDWR | O_NOFOLLOW, 0, "lock file");

    while (::flock(lock.get(), LOCK_EX) < 0) {
        if (errno != EINTR) {
            fail_errno(errno, "cannot lock {}", path.string());
        }
    }
    return lock;
}

std::vector<fs::path> places_of(const fs::path &journal)
{
    std::vector<fs::path> places;

    for (const auto &entry : fs::directory_iterator(journal)) {
        std::error_code error;
        const std::string name = entry.path().filename();
        if (!name.starts_with(CKPT_JOURNAL_PLACE_PREFIX) || !entry.is_symlink(error)) {
            continue;
        }
        const fs::path place = fs::read_symlink(entry.path());
        const auto status = status_of(place);
        if (status && S_ISDIR(status->st_mode) && is_place(place)) {
            places.push_back(place);
        }
    }
    std::ranges::sort(places);
    return places;
}

std::string revealed_name(const std::string &path)
{
    const std::size_t begin = path.find("/" CKPT_JOURNAL_CONCEALED_PREFIX);

    if (begin == std::string::npos) {
        return "";
    }
    const std::size_t end = path.find('/', begin + 1);
    return end == std::string::npos ? "" : path.substr(end);
}

bool is_gone(const fs::path &path)
{
    std::error_code error;
    const auto status = status_of(path);

    return status && S_ISLNK(status->st_mode) &&
           fs::read_symlink(path, error) == CKPT_JOURNAL_GONE;
}

std::vector<std::string> names_in_place(const fs::path &place)
{
    std::vector<std::string> names;

    CKPT_EXPECT(is_place(place));
    add_names(place, place.string().size(), names);
    return names;
}

void forget_links(const fs::path &place)
{
    CKPT_EXPECT(is_place(place)); /* what is removed is ours */
    const fs::path directory = place / CKPT_JOURNAL_LINKS;

    if (status_of(directory)) {
        for (const auto &entry : fs::directory_iterator(directory)) {
            remove_name(entry.path());
        }
        remove_name(directory);
    }
}

std::vector<std::string> remove_place(const fs::path &journal, const fs::path &place)
{
    forget_links(place);
    remove_around(place);
    if (status_of(place)) {
        return names_in_place(place);
    }
    for (const auto &entry : fs::directory_iterator(journal)) {
        std::error_code error;
        if (entry.path().filename().string().starts_with(CKPT_JOURNAL_PLACE_PREFIX) &&
            fs::read_symlink(entry.path(), error) == place) {
            (void)::unlink(entry.path().c_str());
        }
    }
    return {};
}

} // namespace ckpt::journal
