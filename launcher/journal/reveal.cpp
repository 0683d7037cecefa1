/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reveal.cpp - reveals concealed outputs in the order of their production.
 *
 * While the job runs, its processes change the concealed objects. The state at the checkpoint
 * is determined as in a rollback, from the records after the checkpoint. A file that may change
 * is copied first, and then the records are read. Each change is recorded before it is made. So
 * the records restore the copy, whatever state of the file it has.
 */
#include "config.h"
#include "journal/reveal.hpp"

#include "common/error.hpp"
#include "common/fault_injection.hpp"
#include "common/files/files.hpp"
#include "common/invariant.hpp"
#include "journal/concealed.hpp"
#include "journal/file_change.hpp"
#include "journal/forecast.hpp"
#include "journal/undo.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

namespace ckpt::journal
{

namespace fs = std::filesystem;

namespace
{

constexpr const char *staging_name = ".ckpt-new-revealed";

using Identity = std::pair<dev_t, ino_t>;

/* One object, or complete lines of output of one process, to be revealed. */
struct Item {
    fs::path place;
    std::string name; /* name that the program knows; "" for output */
    std::shared_ptr<Node> node;
    std::vector<const Record *> output{};
    const Record *product = nullptr; /* last product record of this name; null: none */

    fs::path shadow() const { return place.string() + name; }
    bool is_gone() const { return node && node->is(S_IFLNK) && node->target == CKPT_JOURNAL_GONE; }
    std::uint64_t kind() const { return product == nullptr ? 0 : product->head.value; }
    /* Whether it must be revealed last: a file that was open at the checkpoint may refer to all
     * others. */
    bool is_last() const
    {
        return node && node->is_file() &&
               (product == nullptr || kind() == CKPT_JOURNAL_WAS_OPENED);
    }
    auto order() const
    {
        const std::uint64_t order = !output.empty()      ? output.back()->head.order
                                    : product != nullptr ? product->head.order
                                                         : 0;
        const std::int64_t modified = node && is_last() ? node->object->modified : 0;
        return std::tuple(is_last(), modified, order);
    }
};

/* A copy of a file that the program can still write to. `original` stays open, so that no other
 * file gets its inode. */
struct Copy {
    fs::path path;
    Fd original;
};

class Revealer
{
  public:
    explicit Revealer(const Revealing &wish)
        : wish_(wish), places_(places_of(wish.journal)), note_(Revealed::load(wish.journal))
    {
    }

    /* Copies files that are being written to. Runs without the lock, because that takes
     * time. */
    void prepare();
    void reveal_all();
    void clean_up();
    std::vector<std::string> take_warnings() { return std::move(warnings_); }

  private:
    void find_closed();
    std::string read_records();
    void look();
    void find_names(const fs::path &place);
    void find_products();
    const Record *product_of(const std::string &name) const;
    void find_objects();
    bool appears_as_whole(const Item &item) const;
    void leave_out_parts_of_whole();
    void find_outputs();
    bool is_same_object(const Item &item) const;
    bool has_to_copy(const Item &item) const;
    void copy(const Item &item);
    bool copy_missing();
    fs::path stage(const fs::path &place);
    void reveal(const Item &item);
    bool is_removable(const std::string &name) const;
    bool remove_visible(const std::string &name);
    void reveal_gone(const Item &item);
    void reveal_directory(const Item &item);
    void reveal_whole(const Item &item);
    void put(const Item &item, const fs::path &target);
    bool is_revealed(const Item &item, const fs::path &target) const;
    void put_copy(const Item &item, const fs::path &target);
    void put_file(const Item &item, const fs::path &target);
    void pass_on(const std::vector<const Record *> &output);
    void put_and_settle(const Item &item, const fs::path &target);
    void settle(const Item &item, const fs::path &target, bool was_same, bool was_there);
    void keep_outdated();
    void hide(const Item &item) const;
    void let_merge(const Item &item) const;
    void fill(const Node &node, const fs::path &place, const std::string &name,
              const fs::path &target);

    template <typename... Args>
    void warn(fmt::format_string<Args...> format, Args &&...args)
    {
        warnings_.push_back(fmt::format(format, std::forward<Args>(args)...));
    }

    const Revealing &wish_;
    const std::vector<fs::path> places_;
    Revealed note_;
    std::unique_ptr<Journal> journal_;
    Plan plan_;
    std::unique_ptr<Past> past_;
    std::map<std::string, const Record *> products_; /* by name: last before the mark */
    /* Names and inodes of visible objects that the program has removed. */
    std::set<std::pair<std::string, std::uint64_t>> removed_;
    std::map<std::string, std::uint64_t> outdated_;   /* as in Revealed, for this revealing */
    std::map<fs::path, std::set<std::string>> names_; /* names of objects, by place */
    /* paths whose names were given to other objects since */
    std::set<std::string> renewed_;
    std::set<Identity> closed_;  /* files that no process has open for writing */
    std::set<Identity> staying_; /* files with another name that stays concealed */
    std::vector<Item> items_;
    /* The items that are files, including those in directories that appear as a whole. */
    std::vector<Item> files_;
    std::map<Identity, Copy> copies_;                      /* by the original file */
    std::map<std::shared_ptr<Object>, fs::path> revealed_; /* where copies were revealed */
    std::size_t staged_ = 0;
    std::vector<std::string> warnings_;
};

/* ---- What to reveal ---------------------------------------------------------------------- */

/* Called before the records are read, so that the records include all changes of these
 * files. */
void Revealer::find_closed()
{
    closed_.clear();
    for (const fs::path &place : places_) {
        for (const std::string &name : names_in_place(place)) {
            const fs::path path = place.string() + name;
            const auto status = status_of(path);
            if (status && S_ISREG(status->st_mode) && is_open_nowhere(path)) {
                closed_.insert({status->st_dev, status->st_ino});
            }
        }
    }
}

/* Reads the records, and simulates the return to the checkpoint. Returns what prevents it, "" if
 * nothing. */
std::string Revealer::read_records()
{
    past_.reset();
    journal_ = std::make_unique<Journal>(Journal::read(wish_.journal));
    plan_ = Plan();
    if (wish_.checkpoint != 0) {
        plan_ = make_plan(*journal_, wish_.checkpoint, wish_.ranks);
        if (!plan_.obstacles.empty()) {
            return plan_.obstacles.front();
        }
    } else {
        for (const Log &log : journal_->logs) {
            plan_.consumed.emplace_back(log.records.size());
        }
    }
    CKPT_INVARIANT(plan_.consumed.size() == journal_->logs.size());
    past_ = std::make_unique<Past>(past_of(*journal_, plan_));
    const auto concealed = std::ranges::find_if(past_->obstacles, [](const auto &obstacle) {
        return !revealed_name(obstacle).empty();
    });
    return concealed == past_->obstacles.end() ? "" : *concealed;
}

/* The program may have changed a file between the reading of the records and the look at the file.
 * Then it has recorded the change before, and the records that are there now explain the file. */
void Revealer::look()
{
    std::optional<std::uint64_t> before;

    items_.clear();
    for (std::string obstacle = read_records(); !obstacle.empty(); obstacle = read_records()) {
        if (before == journal_->last_order()) {
            fail("outputs cannot be revealed up to the checkpoint: {}", obstacle);
        }
        before = journal_->last_order();
    }
    names_.clear();
    for (const fs::path &place : places_) {
        find_names(place);
    }
    renewed_.clear();
    for (const Record *step : plan_.steps) {
        if (step->sets_name() || step->type() == CKPT_JOURNAL_MOVED) {
            renewed_.insert(step->path);
            renewed_.insert(step->type() == CKPT_JOURNAL_MOVED ? step->other : step->path);
        }
    }
    find_products();
    find_objects();
    find_outputs();
    std::ranges::stable_sort(items_, {}, &Item::order);
}

/* Finds the names of existing concealed objects, and of those in the records. */
void Revealer::find_names(const fs::path &place)
{
    const std::string prefix = place.string() + "/";
    const std::vector<std::string> now = names_in_place(place);
    std::set<std::string> &names = names_[place];

    names.insert(now.begin(), now.end());
    for (const Record *step : plan_.steps) { /* the newest first */
        for (const std::string &path : {step->path, step->other}) {
            if (path.starts_with(prefix) && fs::path(path).filename() != CKPT_JOURNAL_MERGED) {
                names.insert(path.substr(prefix.size() - 1));
            }
        }
        const std::string from = revealed_name(step->other), to = revealed_name(step->path);
        if (step->type() == CKPT_JOURNAL_MOVED && !from.empty() && !to.empty()) {
            const std::set<std::string> before = names;
            for (const std::string &name : before) {
                if (name.starts_with(from + "/")) {
                    names.insert(to + name.substr(from.size()));
                }
            }
        }
    }
}

void Revealer::find_products()
{
    products_.clear();
    removed_ = {note_.outdated.begin(), note_.outdated.end()};
    for (std::size_t i = 0; i < journal_->logs.size(); i++) {
        const auto &records = journal_->logs[i].records;
        for (std::size_t k = 0; k < records.size(); k++) {
            if (records[k].type() != CKPT_JOURNAL_PRODUCED || plan_.consumed[i][k]) {
                continue;
            }
            if (records[k].head.inode != 0) {
                removed_.insert({records[k].path, records[k].head.inode});
            }
            const Record *&last = products_[records[k].path];
            if (last == nullptr || last->head.order < records[k].head.order) {
                last = &records[k];
            }
        }
    }
}

const Record *Revealer::product_of(const std::string &name) const
{
    const auto product = products_.find(name);

    return product == products_.end() ? nullptr : product->second;
}

void Revealer::find_objects()
{
    staying_.clear();
    for (const auto &[place, names] : names_) {
        for (const std::string &name : names) {
            Item item = {place, name, nullptr, {}, nullptr};
            const Tree::Place found = past_->tree.find(item.shadow().string());
            if (!found.directory || !found.node->object) { /* created after the checkpoint */
                if (const auto status = status_of(item.shadow())) {
                    staying_.insert({status->st_dev, status->st_ino});
                }
                continue;
            }
            item.node = found.node;
            const auto merged =
                past_->tree.find((item.shadow() / CKPT_JOURNAL_MERGED).string());
            if (item.node->is_directory() && merged.directory && merged.node->object) {
                continue; /* the directory is already visible */
            }
            item.product = product_of(name);
            items_.push_back(std::move(item));
        }
    }
    files_.clear();
    std::ranges::copy_if(items_, std::back_inserter(files_),
                         [](const Item &item) { return item.node->is_file(); });
    leave_out_parts_of_whole();
}

/* A renamed directory appears with all of its content, unless it is visible already. */
bool Revealer::appears_as_whole(const Item &item) const
{
    if (item.kind() != CKPT_JOURNAL_WAS_RENAMED || !item.node->is_directory()) {
        return false;
    }
    const auto status = status_of(item.name);
    return !status || !S_ISDIR(status->st_mode) || is_removable(item.name);
}

void Revealer::leave_out_parts_of_whole()
{
    std::set<fs::path> whole;

    for (const Item &item : items_) {
        if (appears_as_whole(item)) {
            whole.insert(item.shadow());
        }
    }
    std::erase_if(items_, [&](const Item &item) {
        for (fs::path above = item.shadow().parent_path(); above.has_relative_path();
             above = above.parent_path()) {
            if (whole.contains(above)) {
                return true;
            }
        }
        return false;
    });
}

std::string stem_of(const Log &log)
{
    std::string stem = log.path.stem();

    while (stem.ends_with('+')) {
        stem.pop_back();
    }
    return stem;
}

bool ends_line(int file, const Log &log, const Record &record)
{
    const std::uint64_t end = record.data_offset() + record.head.data_size;
    char byte = 0;

    if (const int error = read_exactly(file, &byte, 1, end - 1); error != 0) {
        fail_errno(error, "cannot read {}", log.path.string());
    }
    return byte == '\n';
}

/* Processes may write a line in several parts; it is revealed as a whole. */
void Revealer::find_outputs()
{
    for (std::size_t i = 0; i < journal_->logs.size(); i++) {
        const Log &log = journal_->logs[i];
        const auto passed_on = note_.outputs.find(stem_of(log));
        const std::uint64_t order = passed_on == note_.outputs.end() ? 0 : passed_on->second;
        const Fd file = open_file(log.path, O_RDONLY | O_NOFOLLOW, 0, "file journal");
        Item lines;
        for (std::size_t k = 0; k < log.records.size(); k++) {
            const Record &record = log.records[k];
            if (record.type() != CKPT_JOURNAL_OUTPUT || plan_.consumed[i][k] ||
                record.head.order <= order || record.head.data_size == 0) {
                continue;
            }
            lines.output.push_back(&record);
            if (ends_line(file.get(), log, record)) {
                items_.push_back(std::exchange(lines, {}));
            }
        }
        if (!lines.output.empty()) {
            items_.push_back(std::move(lines));
        }
    }
}

/* ---- Copies ------------------------------------------------------------------------------ */

/* Whether the concealed name still names the object that it named at the checkpoint. Inode
 * numbers cannot tell, because they are reused. */
bool Revealer::is_same_object(const Item &item) const
{
    for (fs::path above = item.shadow(); above.has_relative_path(); above = above.parent_path()) {
        if (renewed_.contains(above)) {
            return false;
        }
    }
    return status_of(item.shadow()).has_value();
}

/* Whether the file must be revealed as a copy. It need not if nothing has changed it since the
 * checkpoint, and nothing can change it later. A file that was open at the checkpoint can be
 * changed after a restart, although no process may have it open now. */
bool Revealer::has_to_copy(const Item &item) const
{
    CKPT_EXPECT(item.node && item.node->object);
    const Object &object = *item.node->object;
    const auto status = status_of(item.shadow());

    if (wish_.checkpoint == 0) { /* no process is alive */
        return wish_.keeps_open && item.is_last();
    }
    return wish_.keeps_open || item.kind() == CKPT_JOURNAL_WAS_OPENED || !status ||
           !is_same_object(item) ||
           past_->changes.contains(item.node->object) || status->st_mode != object.mode ||
           nanoseconds_of(status->st_mtim) != object.modified ||
           staying_.contains({status->st_dev, status->st_ino}) ||
           !closed_.contains({status->st_dev, status->st_ino});
}

fs::path Revealer::stage(const fs::path &place)
{
    const fs::path path =
        place / fmt::format("{}-{}-{}", staging_name, ::getpid(), staged_++);

    if (::unlink(path.c_str()) < 0 && errno != ENOENT) {
        fail_errno(errno, "cannot remove {}", path.string());
    }
    return path;
}

void Revealer::copy(const Item &item)
{
    Fd from(::open(item.node->object->real.c_str(),
                   O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    struct stat status;

    if (!from || ::fstat(from.get(), &status) < 0 || !S_ISREG(status.st_mode)) {
        return; /* removed just now; the records will show that */
    }
    Copy copy{stage(item.place), std::move(from)};
    const Fd to(::open(copy.path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!to) {
        fail_errno(errno, "cannot make {}", copy.path.string());
    }
    copy_open_file(copy.original.get(), to.get(), item.node->object->real);
    if (::fchown(to.get(), status.st_uid, status.st_gid) < 0 && errno != EPERM) {
        fail_errno(errno, "cannot give {} its owner", copy.path.string());
    }
    copies_.insert_or_assign({status.st_dev, status.st_ino}, std::move(copy));
}

/* Copies files that need a copy and have none yet. Returns whether it has copied any. */
bool Revealer::copy_missing()
{
    const std::size_t before = copies_.size();

    for (const Item &item : files_) {
        const auto status = status_of(item.node->object->real);
        if (status && has_to_copy(item) &&
            !copies_.contains({status->st_dev, status->st_ino})) {
            copy(item);
        }
    }
    return copies_.size() > before;
}

void Revealer::prepare()
{
    if (wish_.checkpoint == 0) {
        return;
    }
    try {
        find_closed();
        look();
        (void)copy_missing();
    } catch (const Error &) {
        /* The job has changed the tree meanwhile; reveal_all() reads everything again. */
    } catch (const fs::filesystem_error &) {
        /* The same, seen by the library. */
    }
}

/* ---- Single objects ---------------------------------------------------------------------- */

/* Whether others already see this state of the object; the program's own object stays
 * concealed. */
bool Revealer::is_revealed(const Item &item, const fs::path &target) const
{
    const auto status = status_of(target);
    const Object &object = *item.node->object;

    return status && S_ISREG(status->st_mode) &&
           static_cast<std::uint64_t>(status->st_size) == object.size &&
           nanoseconds_of(status->st_mtim) == object.modified &&
           (status->st_mode & 07777) == (object.mode & 07777);
}

void Revealer::put_copy(const Item &item, const fs::path &target)
{
    const Object &object = *item.node->object;
    const auto status = status_of(object.real);
    const auto copy = status ? copies_.find({status->st_dev, status->st_ino}) : copies_.end();

    if (const auto other = revealed_.find(item.node->object); other != revealed_.end()) {
        replace_name(target, stage(item.place),
                     [&](const char *name) { /* make a hard link */
                                             return ::linkat(AT_FDCWD, other->second.c_str(),
                                                             AT_FDCWD, name, 0);
                     });
        return;
    }
    if (copy == copies_.end()) {
        warn("{}: cannot be revealed, its content is not there any more", item.name);
        return;
    }
    const fs::path path = copy->second.path;
    const auto changes = past_->changes.find(item.node->object);
    if (changes != past_->changes.end()) {
        const Fd file = open_writable(path);
        for (const Record *change : changes->second) {
            bring_back_content(*journal_, *change, file.get());
        }
    }
    const auto owner = status_of(path);
    CKPT_INVARIANT(owner.has_value());
    set_attributes(path, {object.mode, owner->st_uid, owner->st_gid, object.modified});
    copies_.erase(copy);
    if (::rename(path.c_str(), target.c_str()) < 0) {
        const int error = errno;
        (void)::unlink(path.c_str());
        fail_errno(error, "{}: cannot be revealed", item.name);
    }
    revealed_[item.node->object] = target;
}

/* Makes the concealed object itself visible. */
void move_to(const Item &item, const fs::path &target)
{
    const fs::path shadow = item.shadow();

    /* If both names are links to the same file, rename() keeps both; unlink() then removes the
     * concealed one. */
    if (::rename(shadow.c_str(), target.c_str()) < 0 ||
        (::unlink(shadow.c_str()) < 0 && errno != ENOENT)) {
        fail_errno(errno, "{}: cannot be revealed", item.name);
    }
}

void Revealer::put_file(const Item &item, const fs::path &target)
{
    CKPT_EXPECT(item.node && item.node->is_file());
    if (!has_to_copy(item)) {
        move_to(item, target);
    } else if (!is_revealed(item, target)) {
        put_copy(item, target);
    }
}

/* Makes the object visible under this name. */
void Revealer::put(const Item &item, const fs::path &target)
{
    if (item.node->is_file()) {
        put_file(item, target);
    } else if (is_same_object(item)) {
        move_to(item, target);
    } else if (item.node->is(S_IFLNK)) {
        replace_name(target, stage(item.place), [&](const char *name) {
            return ::symlink(item.node->target.c_str(), name);
        });
    } else {
        warn("{}: a pipe, socket or device that has been removed since is not revealed",
             item.name);
    }
}

/* Whether the program has removed the object of this name, and everything within it. */
bool Revealer::is_removable(const std::string &name) const
{
    const auto status = status_of(name);

    if (!status || !removed_.contains({name, status->st_ino})) {
        return !status;
    }
    return !S_ISDIR(status->st_mode) ||
           std::ranges::all_of(fs::directory_iterator(name), [this](const auto &entry) {
               return is_removable(entry.path());
           });
}

/* Removes objects that the program has removed, also within a directory, but not objects that
 * others have created there since. Returns whether the name is free then. */
bool Revealer::remove_visible(const std::string &name)
{
    const auto status = status_of(name);

    if (!status) {
        return true;
    }
    if (!removed_.contains({name, status->st_ino})) {
        return false;
    }
    if (!S_ISDIR(status->st_mode)) {
        remove_name(name);
        return true;
    }
    bool is_empty = true;
    for (const auto &entry : fs::directory_iterator(name)) {
        is_empty = remove_visible(entry.path()) && is_empty;
    }
    if (is_empty) {
        remove_name(name);
    }
    return is_empty;
}

void Revealer::reveal_gone(const Item &item)
{
    if (!remove_visible(item.name)) {
        warn("{}: was removed by the program, but has been made or changed by another one since: "
             "it stays",
             item.name);
    }
    if (is_same_object(item)) {
        remove_name(item.shadow());
    }
}

/* Marks a concealed directory whose counterpart is visible now. Concealed names in it hide
 * visible ones of the same name. */
void Revealer::let_merge(const Item &item) const
{
    const fs::path shadow = item.shadow();

    if (is_same_object(item) &&
        ::symlink(CKPT_JOURNAL_MERGED, (shadow / CKPT_JOURNAL_MERGED).c_str()) < 0 &&
        errno != EEXIST) {
        fail_errno(errno, "cannot mark {}", shadow.string());
    }
}

/* The program has removed the object since the checkpoint, and must not see it again. A
 * rollback replaces this mark by the object. */
void Revealer::hide(const Item &item) const
{
    if (::symlink(CKPT_JOURNAL_GONE, item.shadow().c_str()) < 0 && errno != EEXIST &&
        errno != ENOENT && errno != ENOTDIR) { /* the directory is gone, too */
        fail_errno(errno, "cannot hide {}", item.name);
    }
}

/* Cleans up after the object was revealed as `target`. The program may have replaced or removed
 * it since. If it removes the directory of a copy, its records do not name the copy. */
void Revealer::settle(const Item &item, const fs::path &target, bool was_same, bool was_there)
{
    const auto revealed = status_of(target), own = status_of(item.shadow());
    const bool is_copy = revealed && own && S_ISREG(revealed->st_mode) &&
                         S_ISREG(own->st_mode) && revealed->st_ino != own->st_ino;

    if (!was_there) {
        hide(item);
    }
    if (revealed && (!was_same || is_copy)) {
        outdated_[item.name] = revealed->st_ino;
    }
}

/* The objects of earlier revealings that others still see. */
void Revealer::keep_outdated()
{
    for (const auto &[name, inode] : note_.outdated) {
        if (const auto status = status_of(name); status && status->st_ino == inode) {
            outdated_.emplace(name, inode);
        }
    }
}

void Revealer::put_and_settle(const Item &item, const fs::path &target)
{
    const bool was_same = is_same_object(item);
    const bool was_there = status_of(item.shadow()).has_value();

    put(item, target);
    settle(item, target, was_same, was_there);
}

void give_attributes(const fs::path &path, const Object &object)
{
    const auto owner = status_of(object.real.empty() ? path : fs::path(object.real));

    if (owner) {
        set_attributes(path, {object.mode, owner->st_uid, owner->st_gid, object.modified});
    }
}

void Revealer::reveal_directory(const Item &item)
{
    auto status = status_of(item.name);

    if (status && !S_ISDIR(status->st_mode)) {
        remove_name(item.name);
        status.reset();
    } else if (status && remove_visible(item.name)) {
        status.reset(); /* it was another directory */
    }
    if (item.kind() == CKPT_JOURNAL_WAS_RENAMED && !status) {
        reveal_whole(item);
    } else if (::mkdir(item.name.c_str(), 0700) < 0 && errno != EEXIST) {
        fail_errno(errno, "{}: cannot be revealed", item.name);
    } else if (!status) {
        give_attributes(item.name, *item.node->object);
    }
    settle(item, item.name, is_same_object(item), status_of(item.shadow()).has_value());
    let_merge(item);
}

/* Moves the former content of the directory into `target`. */
void Revealer::fill(const Node &node, const fs::path &place, const std::string &name,
                    const fs::path &target)
{
    const std::set<std::string> &names = names_[place];

    for (auto at = names.upper_bound(name + "/");
         at != names.end() && at->starts_with(name + "/"); ++at) {
        const std::string below = at->substr(name.size() + 1);
        if (below.find('/') != std::string::npos) {
            continue;
        }
        Item item = {place, *at, nullptr, {}, nullptr};
        const Tree::Place found = past_->tree.find(item.shadow().string());
        if (!found.directory || !found.node->object) {
            continue;
        }
        item.node = found.node;
        item.product = product_of(item.name);
        if (!item.node->is_directory()) {
            put_and_settle(item, target / below);
            continue;
        }
        if (::mkdir((target / below).c_str(), 0700) < 0) {
            fail_errno(errno, "{}: cannot be revealed", item.name);
        }
        fill(*item.node, place, item.name, target / below);
        settle(item, target / below, is_same_object(item),
               status_of(item.shadow()).has_value());
        let_merge(item);
    }
    give_attributes(target, *node.object);
}

/* Reveals a directory together with all of its content. */
void Revealer::reveal_whole(const Item &item)
{
    const fs::path staged = stage(item.place);

    fs::remove_all(staged); /* left by a killed process */
    if (::mkdir(staged.c_str(), 0700) < 0) {
        fail_errno(errno, "cannot make {}", staged.string());
    }
    fill(*item.node, item.place, item.name, staged);
    if (::rename(staged.c_str(), item.name.c_str()) < 0) {
        fail_errno(errno, "{}: cannot be revealed", item.name);
    }
}

/* ---- Output --------------------------------------------------------------------------------- */

void Revealer::pass_on(const std::vector<const Record *> &output)
{
    CKPT_EXPECT(!output.empty());
    const Log &log = journal_->log_of(*output.front());
    const Fd from = open_file(log.path, O_RDONLY | O_NOFOLLOW, 0, "file journal");
    std::string text;

    for (const Record *record : output) {
        const std::size_t before = text.size();
        text.resize(before + record->head.data_size);
        const int error = read_exactly(from.get(), text.data() + before, record->head.data_size,
                                       record->data_offset());
        if (error != 0) {
            fail_errno(error, "cannot read {}", log.path.string());
        }
    }
    for (std::size_t written = 0; written < text.size();) {
        const ssize_t result =
            ::write(wish_.output, text.data() + written, text.size() - written);
        if (result < 0 && errno != EINTR) {
            fail_errno(errno, "cannot write to standard output");
        }
        written += result > 0 ? static_cast<std::size_t>(result) : 0;
    }
    note_.outputs[stem_of(log)] = output.back()->head.order;
}

/* ---- All ------------------------------------------------------------------------------------- */

void Revealer::reveal(const Item &item)
{
    if (!item.output.empty()) {
        pass_on(item.output);
    } else if (item.is_gone()) {
        reveal_gone(item);
    } else if (item.node->is_directory()) {
        reveal_directory(item);
    } else {
        const auto status = status_of(item.name);
        if (status && S_ISDIR(status->st_mode) && !remove_visible(item.name)) {
            warn("{}: cannot be revealed, a directory has its name", item.name);
        } else {
            put_and_settle(item, item.name);
        }
    }
    fault_kill("reveal-after-step");
}

void Revealer::reveal_all()
{
    const Fd records = lock_records(wish_.journal, LOCK_EX);

    for (const fs::path &place : places_) {
        forget_links(place);
    }
    find_closed();
    look();
    while (copy_missing()) {
        look(); /* reads the records of changes made meanwhile */
    }
    note_.checkpoint = std::max({note_.checkpoint, wish_.checkpoint, wish_.noted});
    note_.is_done = false;
    note_.write(wish_.journal);
    fault_kill("reveal-after-intent");
    bool has_output = false;
    for (const Item &item : items_) {
        if (has_output && item.output.empty()) {
            note_.write(wish_.journal); /* recorded first, so that no line is printed twice */
        }
        has_output = !item.output.empty();
        try {
            reveal(item);
        } catch (const Error &problem) {
            if (!item.output.empty()) {
                note_.write(wish_.journal);
                throw;
            }
            warnings_.push_back(problem.what());
        }
    }
    fault_kill("reveal-before-done");
    note_.is_done = true;
    keep_outdated();
    note_.outdated = std::move(outdated_);
    note_.write(wish_.journal);
}

void Revealer::clean_up()
{
    for (const auto &[identity, copy] : copies_) {
        (void)::unlink(copy.path.c_str());
    }
    if (wish_.checkpoint != 0) {
        return;
    }
    for (const fs::path &place : places_) {
        const auto left = remove_place(wish_.journal, place);
        for (const std::string &name : wish_.keeps_open ? std::vector<std::string>() : left) {
            warn("{}: could not be revealed, it is {}{}", name, place.string(), name);
        }
    }
}

std::vector<std::string> reveal_once(const Revealing &revealing)
{
    Revealer revealer(revealing);
    revealer.prepare();
    const Fd lock = lock_concealed(revealing.journal);
    revealer.reveal_all();
    revealer.clean_up();
    return revealer.take_warnings();
}

} // namespace

std::vector<std::string> finish_interrupted_reveal(const Revealing &next)
{
    if (!is_concealed(next.journal)) {
        return {};
    }
    const Revealed note = Revealed::load(next.journal);
    const bool has_passed = next.checkpoint == 0 || next.checkpoint > note.checkpoint;
    if (note.is_done || note.checkpoint == 0 || !has_passed) {
        return {};
    }
    Revealing again = next;
    again.checkpoint = note.checkpoint;
    again.ranks = {}; /* their marks were there when it began */
    again.noted = 0;
    try {
        return reveal_once(again);
    } catch (const Error &problem) { /* the next revealing still reveals everything */
        return {problem.what()};
    }
}

std::vector<std::string> reveal(const Revealing &revealing)
{
    if (!is_concealed(revealing.journal)) {
        return {};
    }
    std::vector<std::string> warnings;
    if (!revealing.keeps_open) {
        warnings = finish_interrupted_reveal(revealing);
    }
    std::ranges::move(reveal_once(revealing), std::back_inserter(warnings));
    return warnings;
}

} // namespace ckpt::journal
