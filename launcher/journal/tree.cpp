/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tree.cpp - a tree of files in memory, on top of the real tree.
 */
#include "config.h"
#include "journal/tree.hpp"

#include "common/error.hpp"
#include "common/invariant.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <filesystem>
#include <vector>

namespace ckpt::journal
{

namespace fs = std::filesystem;

namespace
{

constexpr std::int64_t second = 1000000000;
constexpr int most_links = 40; /* limit of symbolic links, as in the kernel */

std::string target_of(const std::string &path)
{
    std::array<char, PATH_MAX> buffer;
    const ssize_t size = ::readlink(path.c_str(), buffer.data(), buffer.size());

    return size < 0 ? std::string() : std::string(buffer.data(), static_cast<std::size_t>(size));
}

std::string joined(const std::string &directory, const std::string &name)
{
    return directory == "/" ? directory + name : directory + "/" + name;
}

/* Splits a path into names; omits "." and empty names. */
std::vector<std::string> names_of(std::string_view path)
{
    std::vector<std::string> names;

    while (!path.empty()) {
        const std::size_t slash = std::min(path.find('/'), path.size());
        const std::string_view name = path.substr(0, slash);
        if (!name.empty() && name != ".") {
            names.emplace_back(name);
        }
        path.remove_prefix(std::min(slash + 1, path.size()));
    }
    return names;
}

} // namespace

std::int64_t nanoseconds_of(const timespec &time)
{
    return static_cast<std::int64_t>(time.tv_sec) * second + time.tv_nsec;
}

timespec timespec_of(std::int64_t nanoseconds)
{
    timespec time = {};
    time.tv_sec = nanoseconds / second;
    time.tv_nsec = nanoseconds % second;
    if (time.tv_nsec < 0) { /* times before 1970 */
        time.tv_nsec += second;
        time.tv_sec--;
    }
    CKPT_INVARIANT(time.tv_nsec >= 0 && time.tv_nsec < second);
    return time;
}

void UnknownParts::add(std::uint64_t begin, std::uint64_t end)
{
    if (begin >= end) {
        return;
    }
    remove(begin, end);
    CKPT_INVARIANT(parts_.lower_bound(begin) == parts_.lower_bound(end)); /* none is there */
    parts_[begin] = end;
}

void UnknownParts::remove(std::uint64_t begin, std::uint64_t end)
{
    auto part = parts_.lower_bound(begin);

    if (part != parts_.begin() && std::prev(part)->second > begin) {
        --part;
    }
    while (part != parts_.end() && part->first < end) {
        const auto [first, last] = *part;
        part = parts_.erase(part);
        if (first < begin) {
            parts_[first] = begin;
        }
        if (last > end) {
            parts_[end] = last;
        }
    }
}

Tree::Tree()
    : root_(std::make_shared<Node>())
{
    root_->object = real_object("/");
}

std::shared_ptr<Object> Tree::real_object(const std::string &path)
{
    struct stat status;

    if (::lstat(path.c_str(), &status) < 0) {
        if (errno == ENOENT || errno == ENOTDIR) {
            return nullptr;
        }
        fail_errno(errno, "cannot look at {}", path);
    }
    auto &object = objects_[{status.st_dev, status.st_ino}];
    if (!object) {
        object = std::make_shared<Object>();
        object->inode = status.st_ino;
        object->mode = status.st_mode;
        object->owner = status.st_uid;
        object->size = static_cast<std::uint64_t>(status.st_size);
        object->modified = nanoseconds_of(status.st_mtim);
        object->real = path;
    }
    return object;
}

std::shared_ptr<Node> Tree::child(Node &directory, const std::string &name)
{
    CKPT_EXPECT(directory.object);
    auto &node = directory.names[name];

    if (!node) {
        node = std::make_shared<Node>();
        if (!directory.object->real.empty()) {
            const std::string path = joined(directory.object->real, name);
            node->object = real_object(path);
            if (node->is(S_IFLNK)) {
                node->target = target_of(path);
            }
        }
    }
    return node;
}

Tree::Place Tree::find(std::string_view path)
{
    return walk(path, 0);
}

Tree::Place Tree::walk(std::string_view path, int links)
{
    std::vector<std::string> names = names_of(path);
    std::vector<std::shared_ptr<Node>> above = {root_};

    if (names.empty()) {
        return {root_, ".", root_};
    }
    for (std::size_t i = 0; i < names.size(); i++) {
        Node &directory = *above.back();
        const bool is_last = i + 1 == names.size();
        if (names[i] == "..") {
            above.resize(std::max<std::size_t>(above.size() - 1, 1));
            if (is_last) {
                return {above.back(), ".", above.back()};
            }
            continue;
        }
        std::shared_ptr<Node> node = child(directory, names[i]);
        if (is_last) {
            return {above.back(), names[i], node};
        }
        if (node->is(S_IFLNK)) {
            if (links >= most_links) {
                return {};
            }
            const bool is_absolute = node->target.starts_with('/');
            std::string whole = node->target;
            for (std::size_t rest = i + 1; rest < names.size(); rest++) {
                whole += "/" + names[rest];
            }
            if (is_absolute) {
                return walk(whole, links + 1);
            }
            /* Continues the walk from this directory. */
            names = names_of(whole);
            i = static_cast<std::size_t>(-1);
            links++;
            continue;
        }
        if (!node->is_directory()) {
            return {};
        }
        above.push_back(node);
    }
    return {};
}

void Tree::set(const Place &place, std::shared_ptr<Node> node)
{
    CKPT_EXPECT(place.directory && node);
    place.directory->names[place.name] = std::move(node);
}

std::set<std::shared_ptr<Object>> Tree::named_objects() const
{
    std::set<std::shared_ptr<Object>> named;
    std::vector<const Node *> rest = {root_.get()};

    while (!rest.empty()) {
        const Node *node = rest.back();
        rest.pop_back();
        if (node->object) {
            named.insert(node->object);
        }
        for (const auto &[name, below] : node->names) {
            rest.push_back(below.get());
        }
    }
    return named;
}

bool Tree::is_empty(Node &directory)
{
    CKPT_EXPECT(directory.object);
    for (const auto &[name, node] : directory.names) {
        if (node->object) {
            return false;
        }
    }
    if (directory.object->real.empty()) {
        return true;
    }
    std::error_code error;
    for (fs::directory_iterator entry(directory.object->real, error), end;
         !error && entry != end; entry.increment(error)) {
        if (!directory.names.contains(entry->path().filename().string())) {
            return false;
        }
    }
    return !error;
}

} // namespace ckpt::journal
