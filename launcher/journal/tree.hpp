/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tree.hpp - the tree of files as a roll back will have changed it, without changing it.
 *
 * Names are looked up in the real tree when they are first needed. Later changes stay in
 * memory. Directories keep the name under which they are in the real tree, so that their
 * content is found also when they or their parents are renamed.
 */
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace ckpt::journal
{

/* Parts [begin, end) of a file whose right content is not known. */
class UnknownParts
{
  public:
    void add(std::uint64_t begin, std::uint64_t end);
    void remove(std::uint64_t begin, std::uint64_t end);
    bool empty() const { return parts_.empty(); }
    std::uint64_t first() const { return parts_.begin()->first; }

  private:
    std::map<std::uint64_t, std::uint64_t> parts_; /* begin to end */
};

/* What names lead to: an inode. */
struct Object {
    std::uint64_t inode = 0; /* of a copy: that of the file it stands for; 0: a new one */
    mode_t mode = 0;
    uid_t owner = 0;
    std::uint64_t size = 0;
    std::int64_t modified = 0; /* nanoseconds since 1970 */
    std::string real;          /* a name of it in the real tree; empty: there is none */
    UnknownParts unknown{};
};

struct Node {
    std::shared_ptr<Object> object; /* null: nothing has this name */
    std::string target;             /* of a symbolic link */
    std::map<std::string, std::shared_ptr<Node>, std::less<>> names; /* of a directory */

    bool is(mode_t type) const { return object && (object->mode & S_IFMT) == type; }
    bool is_directory() const { return is(S_IFDIR); }
    bool is_file() const { return is(S_IFREG); }
};

class Tree
{
  public:
    Tree();

    /* A name, perhaps of nothing, in a directory that exists. */
    struct Place {
        std::shared_ptr<Node> directory; /* null: it does not exist */
        std::string name;
        std::shared_ptr<Node> node; /* null if directory is; else never */
    };

    /* Symbolic links before the last name are followed. path: absolute. */
    Place find(std::string_view path);
    /* Replaces what the place names. */
    static void set(const Place &place, std::shared_ptr<Node> node);
    /* The object of this name in the real tree, shared by all of its names; null: none. */
    std::shared_ptr<Object> real_object(const std::string &path);
    /* Whether a directory has no names. */
    bool is_empty(Node &directory);
    /* The objects that have a name which find() has looked up. */
    std::set<std::shared_ptr<Object>> named_objects() const;

  private:
    std::shared_ptr<Node> child(Node &directory, const std::string &name);
    Place walk(std::string_view path, int links);

    std::shared_ptr<Node> root_;
    std::map<std::pair<dev_t, ino_t>, std::shared_ptr<Object>> objects_;
};

std::int64_t nanoseconds_of(const timespec &time);
timespec timespec_of(std::int64_t nanoseconds);

} // namespace ckpt::journal
