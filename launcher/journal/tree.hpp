/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tree.hpp - the tree of files as it will be after a rollback, simulated in memory.
 *
 * Names are looked up in the real tree when they are first needed. Later changes stay in
 * memory. Directories remember their name in the real tree, so that their content is found
 * even after they or their parents are renamed.
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

/* Ranges [begin, end) of a file whose correct content is unknown. */
class UnknownParts
{
  public:
    void add(std::uint64_t begin, std::uint64_t end);
    void remove(std::uint64_t begin, std::uint64_t end);
    bool empty() const { return parts_.empty(); }
    std::uint64_t first() const { return parts_.begin()->first; }

  private:
    std::map<std::uint64_t, std::uint64_t> parts_; /* by begin: the end */
};

/* An inode. */
struct Object {
    std::uint64_t inode = 0; /* of a copy: that of the original; 0: a new file */
    mode_t mode = 0;
    uid_t owner = 0;
    std::uint64_t size = 0;
    std::int64_t modified = 0; /* nanoseconds since 1970 */
    std::string real;          /* one of its names in the real tree; empty: none */
    UnknownParts unknown{};
};

struct Node {
    /* null: the name does not exist */
    std::shared_ptr<Object> object;
    std::string target;                                              /* symbolic links only */
    std::map<std::string, std::shared_ptr<Node>, std::less<>> names; /* directories only */

    bool is(mode_t type) const { return object && (object->mode & S_IFMT) == type; }
    bool is_directory() const { return is(S_IFDIR); }
    bool is_file() const { return is(S_IFREG); }
};

class Tree
{
  public:
    Tree();

    /* A name in an existing directory; the name itself may not exist. */
    struct Place {
        std::shared_ptr<Node> directory; /* null: the directory does not exist */
        std::string name;
        std::shared_ptr<Node> node; /* null if and only if `directory` is null */
    };

    /* Follows symbolic links, except one at the end of the path. path: absolute. */
    Place find(std::string_view path);
    /* Replaces the node of the place. */
    static void set(const Place &place, std::shared_ptr<Node> node);
    /* Returns the object of this name in the real tree, shared by all of its names; null:
     * none. */
    std::shared_ptr<Object> real_object(const std::string &path);
    /* Whether a directory is empty. */
    bool is_empty(Node &directory);
    /* Returns the objects that have a name, among the names that find() has looked up. */
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
