/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * forecast.cpp - simulates a rollback in memory, and compares the result.
 */
#include "config.h"
#include "journal/forecast.hpp"

#include "common/error.hpp"
#include "journal/concealed.hpp"
#include "journal/content_hash.hpp"
#include "journal/kept_files.hpp"
#include "journal/tree.hpp"
#include "journal/visibility.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>

namespace ckpt::journal
{

namespace
{

class Simulation
{
  public:
    Simulation(const Journal &journal, const Plan &plan)
        : journal_(journal), plan_(plan), kept_(journal)
    {
        std::set<Identity> rewritten;
        for (const Record *step : plan.steps) {
            (step->type() == CKPT_JOURNAL_SIZE ? only_grown_ : rewritten)
                .insert(identity_of(*step));
        }
        for (const Identity &identity : rewritten) {
            only_grown_.erase(identity);
        }
    }

    void undo_all();
    void compare_states();
    void find_changes();
    Forecast take();
    Past take_past();

  private:
    using Place = Tree::Place;
    using Identity = std::pair<std::uint64_t, std::uint64_t>; /* device, inode */

    static Identity identity_of(const Record &record)
    {
        return {record.head.device, record.head.inode};
    }

    void undo(const Record &record);
    void undo_name(const Record &record);
    void make_absent(const Record &record, const Place &place);
    std::shared_ptr<Node> earlier(const Record &record);
    std::shared_ptr<Object> kept_object(const Record &record);
    void undo_move(const Record &record);
    void undo_content(const Record &record);
    void undo_attributes(const Record &record);
    std::shared_ptr<Object> object_of(const Record &record);
    bool may_change(const Node &directory) const;
    bool may_write(const Object &object) const;
    void rename_complaints(const Record &record);
    void compare_state(const Record &record);
    bool keeps_bytes(const Node &node) const;
    bool is_as_in(const Record &record, const Place &place) const;

    template <typename... Args>
    void obstacle(fmt::format_string<Args...> format, Args &&...args)
    {
        result_.obstacles.push_back(fmt::format(format, std::forward<Args>(args)...));
    }

    const Journal &journal_;
    const Plan &plan_;
    const KeptFiles kept_;
    Tree tree_;
    Forecast result_;
    /* Files that were only appended to: logs, which may have been rotated. */
    std::set<Identity> only_grown_;
    /* Messages about files that were not found, by path. A missing file does not matter if an
     * older record replaces the path. */
    std::map<std::string, std::string> missing_;
    /* Messages about kept files that have changed since. A change does not matter if an older
     * record removes the names or replaces the content. */
    std::map<std::shared_ptr<Object>, std::string> unfit_;
    /* Objects with changed content, and the records of these changes. */
    std::map<std::shared_ptr<Object>, std::vector<const Record *>> written_;
};

void Simulation::undo_all()
{
    for (const Record *step : plan_.steps) {
        undo(*step);
    }
    /* Files created since the checkpoint do not exist after the rollback. An inode may have
     * been reused by several such files, so the content found may belong to another one.
     * Unknown content only matters in files that still have a name. */
    const auto named = tree_.named_objects();
    for (const auto &[object, records] : written_) {
        if (!object->unknown.empty() && named.contains(object)) {
            obstacle("{}: the content from byte {} on is lost, the journal does not have it",
                     records.front()->path, object->unknown.first());
        }
    }
    for (const auto &[path, text] : missing_) {
        result_.obstacles.push_back(text);
    }
    for (const auto &[object, complaint] : unfit_) {
        if (named.contains(object)) {
            result_.obstacles.push_back(complaint);
        }
    }
}

Forecast Simulation::take()
{
    return std::move(result_);
}

Past Simulation::take_past()
{
    return {std::move(tree_), std::move(written_), std::move(result_.obstacles)};
}

void Simulation::undo(const Record &record)
{
    switch (record.type()) {
    case CKPT_JOURNAL_MOVED:
        undo_move(record);
        break;
    case CKPT_JOURNAL_SIZE:
    case CKPT_JOURNAL_DATA:
    case CKPT_JOURNAL_CONTENT:
        undo_content(record);
        break;
    case CKPT_JOURNAL_ATTRIBUTES:
        undo_attributes(record);
        break;
    default:
        undo_name(record);
        break;
    }
}

/* Whether the rollback can create and remove names in the directory. The owner can make it
 * writable. */
bool Simulation::may_change(const Node &directory) const
{
    const Object &object = *directory.object;

    return object.real.empty() ||
           ::faccessat(AT_FDCWD, object.real.c_str(), W_OK | X_OK, AT_EACCESS) == 0 ||
           (errno != EROFS && object.owner == ::geteuid());
}

/* The owner can make the file writable. */
bool Simulation::may_write(const Object &object) const
{
    return object.real.empty() ||
           ::faccessat(AT_FDCWD, object.real.c_str(), W_OK, AT_EACCESS) == 0 ||
           (errno != EROFS && object.owner == ::geteuid());
}

/* ---- Names ------------------------------------------------------------------------- */

void Simulation::undo_name(const Record &record)
{
    const Place place = tree_.find(record.path);

    missing_.erase(record.path);
    if (record.type() == CKPT_JOURNAL_ABSENT) {
        make_absent(record, place);
        return;
    }
    if (!place.directory) {
        obstacle("{}: its directory does not exist any more", record.path);
        return;
    }
    std::shared_ptr<Node> node = earlier(record);
    if (!node) {
        return;
    }
    if (place.node->object && place.node->object == node->object) {
        return; /* the path already names this file */
    }
    if (!may_change(*place.directory)) {
        obstacle("{}: its directory may not be written", record.path);
    } else if (place.node->is_directory() && !node->is_directory() &&
               !tree_.is_empty(*place.node)) {
        obstacle("{}: a directory that is not empty is in its place", record.path);
    } else if (place.node->is_directory() && node->is_directory()) {
        place.node->object->mode = node->object->mode;
    } else {
        Tree::set(place, std::move(node));
    }
}

void Simulation::make_absent(const Record &record, const Place &place)
{
    if (!place.directory || !place.node->object) {
        return;
    }
    if (!may_change(*place.directory)) {
        obstacle("{}: cannot be removed, its directory may not be written", record.path);
    } else if (place.node->is_directory() && !tree_.is_empty(*place.node)) {
        obstacle("{}: cannot be removed, the directory has files that are not in the journal",
                 record.path);
    } else {
        Tree::set(place, std::make_shared<Node>());
    }
}

/* Returns what the path named; null if that is unavailable. */
std::shared_ptr<Node> Simulation::earlier(const Record &record)
{
    auto node = std::make_shared<Node>();

    if (record.type() == CKPT_JOURNAL_FILE) {
        node->object = kept_object(record);
        return node->object ? node : nullptr;
    }
    node->object = std::make_shared<Object>();
    node->object->mode = record.head.mode;
    node->object->owner = ::geteuid();
    node->object->modified = record.head.modified;
    node->target = record.type() == CKPT_JOURNAL_SYMLINK ? record.other : "";
    const mode_t type = record.head.mode & S_IFMT;
    if (record.type() == CKPT_JOURNAL_SPECIAL && (type == S_IFCHR || type == S_IFBLK) &&
        ::geteuid() != 0) {
        obstacle("{}: only root can make this device again", record.path);
        return nullptr;
    }
    if (record.type() == CKPT_JOURNAL_SYMLINK) {
        node->object->mode = S_IFLNK | 0777;
    } else if (record.type() == CKPT_JOURNAL_DIRECTORY) {
        node->object->mode = S_IFDIR | (record.head.mode & 07777);
        node->object->inode = record.head.inode; /* older records refer to this inode */
    }
    return node;
}

/* Returns the kept file of the record: the inode itself or a copy. The program may still write
 * to the inode, but it never changes a copy. */
std::shared_ptr<Object> Simulation::kept_object(const Record &record)
{
    const std::string path = journal_.kept_file(record);
    const auto kept = tree_.real_object(path);
    const bool is_copy = record.has(CKPT_JOURNAL_IS_COPY);
    const auto wrong_size = [&] {
        return fmt::format("{}: {}, which was kept of it, has {} bytes and not {}", record.path,
                           path, kept->size, record.head.size);
    };

    if (!kept || (kept->mode & S_IFMT) != S_IFREG) {
        obstacle("{}: the file that was kept of it, {}, is gone", record.path, path);
    } else if (!is_copy && kept->inode != record.head.inode) {
        obstacle("{}: {}, which was kept of it, is another file", record.path, path);
    } else if (is_copy && kept->size < record.head.size) {
        obstacle("{}", wrong_size()); /* the rollback could not copy it */
    } else {
        auto object = is_copy ? std::make_shared<Object>(*kept) : kept;
        if (kept->size != record.head.size) {
            unfit_[object] = wrong_size();
        }
        object->size = is_copy ? record.head.size : kept->size; /* the rollback copies no more */
        object->inode = record.head.inode;
        object->mode = S_IFREG | (record.head.mode & 07777);
        object->modified = record.head.modified;
        return object;
    }
    return nullptr;
}

/* ---- Directories ------------------------------------------------------------------- */

void Simulation::undo_move(const Record &record)
{
    const Place from = tree_.find(record.other);
    const Place to = tree_.find(record.path);
    auto is_it = [&](const Place &place) {
        return place.directory && place.node->is_directory() &&
               place.node->object->inode == record.head.inode;
    };

    if (is_it(to)) {
        return; /* the call did not take effect */
    }
    if (to.directory && to.node->is(S_IFLNK) && to.node->target == CKPT_JOURNAL_GONE) {
        to.node->object = nullptr; /* a mark made by the launcher */
    }
    if (!is_it(from) || !to.directory) {
        obstacle("{}: the directory was renamed to {}, but is not there", record.path,
                 record.other);
    } else if (!may_change(*from.directory) || !may_change(*to.directory)) {
        obstacle("{}: cannot be renamed back from {}, a directory may not be written",
                 record.path, record.other);
    } else if (record.has(CKPT_JOURNAL_EXCHANGED)) {
        Tree::set(from, to.node);
        Tree::set(to, from.node);
    } else if (to.node->object && !(to.node->is_directory() && tree_.is_empty(*to.node))) {
        obstacle("{}: cannot be renamed back from {}, something else has the name", record.path,
                 record.other);
    } else {
        Tree::set(to, from.node);
        Tree::set(from, std::make_shared<Node>());
        rename_complaints(record);
    }
}

void Simulation::rename_complaints(const Record &record)
{
    const std::string prefix = record.other + "/";
    std::map<std::string, std::string> renamed;

    for (auto &[path, text] : missing_) {
        renamed[path.starts_with(prefix) ? record.path + path.substr(record.other.size())
                                         : path] = text;
    }
    missing_ = std::move(renamed);
}

/* ---- Content ----------------------------------------------------------------------- */

/* Returns the object to which the record refers: under its path, or kept. Null: it is
 * gone. */
std::shared_ptr<Object> Simulation::object_of(const Record &record)
{
    const Place place = tree_.find(record.path);

    if (place.directory && place.node->object && place.node->object->inode == record.head.inode) {
        return place.node->object;
    }
    for (const std::string &path : kept_.of_file(record)) {
        auto object = tree_.real_object(path);
        if (object && object->inode == record.head.inode) {
            return object;
        }
    }
    return nullptr;
}

void Simulation::undo_content(const Record &record)
{
    const auto object = object_of(record);
    const ckpt_journal_record &head = record.head;

    if (!object && only_grown_.contains(identity_of(record))) {
        return; /* compare_state() reports it */
    }
    if (!object || (object->mode & S_IFMT) != S_IFREG) {
        missing_[record.path] = fmt::format(
            "{}: the file that was changed is not there any more (inode {})", record.path,
            head.inode);
        return;
    }
    if (!may_write(*object)) {
        obstacle("{}: may not be written", record.path);
    }
    if (record.type() == CKPT_JOURNAL_CONTENT) {
        const std::string path = journal_.kept_file(record);
        const auto kept = tree_.real_object(path);
        if (!kept || (kept->mode & S_IFMT) != S_IFREG || kept->size < head.size) {
            obstacle("{}: the copy that was kept of it, {}, is gone or too short", record.path,
                     path);
        }
        object->unknown = {};
    } else {
        object->unknown.add(object->size, head.size);
        object->unknown.remove(head.size, UINT64_MAX);
        object->unknown.remove(head.offset, head.offset + head.data_size);
    }
    object->size = head.size;
    object->modified = head.modified;
    unfit_.erase(object);
    written_[object].push_back(&record);
}

void Simulation::undo_attributes(const Record &record)
{
    const auto object = object_of(record);

    if (!object) {
        missing_[record.path] = fmt::format(
            "{}: its mode or times were changed, and it is not there any more (inode {})",
            record.path, record.head.inode);
        return;
    }
    if (object->owner != ::geteuid() && ::geteuid() != 0) {
        obstacle("{}: belongs to another user, its mode and times cannot be set", record.path);
    }
    object->mode = (object->mode & S_IFMT) | (record.head.mode & 07777);
    object->modified = record.head.modified;
}

/* ---- Comparison --------------------------------------------------------------------- */

void Simulation::compare_states()
{
    for (const Record *state : plan_.states) {
        compare_state(*state);
    }
}

/* Compares the oldest record of each name with the current tree. */
void Simulation::find_changes()
{
    std::map<std::string_view, const Record *> oldest;

    for (const Record *step : plan_.steps) { /* the newest first */
        oldest[step->path] = step;
    }
    for (const auto &[path, record] : oldest) {
        const Place place = tree_.find(path);
        const bool is_there = place.directory && place.node->object;
        if (record->type() == CKPT_JOURNAL_ABSENT ? is_there : !is_as_in(*record, place)) {
            result_.differing.push_back(fmt::format("{}: was changed by the job itself", path));
        }
    }
}

/* Whether the inode, size and modification time are those in the record. */
bool Simulation::is_as_in(const Record &record, const Place &place) const
{
    const ckpt_journal_record &head = record.head;

    return place.directory && place.node->object && place.node->object->inode == head.inode &&
           (!place.node->is_file() || (place.node->object->size == head.size &&
                                       place.node->object->modified == head.modified));
}

void Simulation::compare_state(const Record &record)
{
    const ckpt_journal_record &head = record.head;
    Place place = tree_.find(record.path);
    bool is_there = place.directory && place.node->object;
    if (const std::string revealed = revealed_name(record.path); !is_there && !revealed.empty()) {
        place = tree_.find(revealed);
        is_there = place.directory && place.node->object;
    }
    const bool is_rotated = only_grown_.contains(identity_of(record)) &&
                            (!is_there || place.node->object->inode != head.inode);
    auto &found = record.has(CKPT_JOURNAL_WRITTEN) && !is_rotated ? result_.differing
                                                                  : result_.inputs;

    if (!is_there) {
        found.push_back(fmt::format("{}: is not there any more", record.path));
        return;
    }
    const Object &object = *place.node->object;
    if (!place.node->is_file()) {
        found.push_back(fmt::format("{}: is not a regular file any more", record.path));
    } else if (object.size != head.size) {
        found.push_back(fmt::format("{}: has {} bytes, at the checkpoint it had {}", record.path,
                                    object.size, head.size));
    } else if (object.modified != head.modified) {
        found.push_back(fmt::format("{}: was modified after the checkpoint, by something that "
                                    "the journal has not seen",
                                    record.path));
    } else if (record.has(CKPT_JOURNAL_HASHED) && keeps_bytes(*place.node) &&
               content_hash(object.real, head.size) != head.value) {
        found.push_back(fmt::format("{}: has another content than at the checkpoint, though size "
                                    "and time are the same",
                                    record.path));
    }
}

/* Whether the start of the file stays unchanged: the rollback at most truncates the file. */
bool Simulation::keeps_bytes(const Node &node) const
{
    const auto written = written_.find(node.object);

    return !node.object->real.empty() &&
           (written == written_.end() ||
            std::ranges::all_of(written->second, [](const Record *record) {
                return record->type() == CKPT_JOURNAL_SIZE;
            }));
}

} // namespace

Forecast forecast(const Journal &journal, const Plan &plan)
{
    Simulation simulation(journal, plan);

    simulation.undo_all();
    simulation.compare_states();
    Forecast result = simulation.take();
    std::ranges::move(elsewhere(journal, plan), std::back_inserter(result.obstacles));
    return result;
}

Past past_of(const Journal &journal, const Plan &plan)
{
    Simulation simulation(journal, plan);

    simulation.undo_all();
    return simulation.take_past();
}

Forecast compare(const Journal &journal, const Plan &plan)
{
    Simulation simulation(journal, plan);

    simulation.find_changes();
    simulation.compare_states();
    return simulation.take();
}

} // namespace ckpt::journal
