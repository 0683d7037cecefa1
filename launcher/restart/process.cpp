/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * process.cpp - turns this process into the saved process.
 */
#include "config.h"
#include "restart/process.hpp"

#include "common/error.hpp"
#include "common/invariant.hpp"
#include "image/model/file_identity.hpp"
#include "restart/launcher_channel.hpp"
#include "restart/shared_file.hpp"
#include "restart/surroundings.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <set>
#include <string_view>
#include <utility>

namespace ckpt::restart
{

namespace
{

constexpr std::uint64_t huge_page = 2u << 20;

void require_success(int error, const ckpt_failure &failure)
{
    if (error != 0) {
        throw Error(failure.text, -error, failure.identity);
    }
}

bool is_file(const ckpt_region &region)
{
    return region.kind == CKPT_REGION_FILE ||
           region.kind == CKPT_REGION_FILE_SHARED;
}

/* Whether the region is a shared file mapping that is written to. */
bool is_shared_file(const ckpt_region &region)
{
    return region.kind == CKPT_REGION_SHARED_ELSEWHERE ||
           (region.kind == CKPT_REGION_SHARED && region.inode != 0);
}

/* Whether the restart creates the file, so that it has no content yet. */
bool is_fresh(const ckpt_region &region)
{
    return region.mode == 0 && !is_system_v(region.inode);
}

/* Returns the part of the memory before the end of the file. descriptor: leads to the file,
 * or -1. */
std::span<std::byte> cut_to_file(const ckpt_region &region, int descriptor,
                                 std::span<std::byte> memory)
{
    struct stat status {
    };
    if (descriptor < 0 && region.mode == 0) {
        return memory; /* created with the size of the region */
    }
    status.st_size = static_cast<off_t>(region.device);
    if (descriptor >= 0 && ::fstat(descriptor, &status) != 0) {
        fail_errno(errno, "the size of shared memory cannot be read");
    }
    auto size = static_cast<std::uint64_t>(status.st_size);
    auto there = size > region.file_offset ? size - region.file_offset : 0;
    return memory.first(std::min<std::uint64_t>(memory.size(), there));
}

/* Returns the kernel's name for a socket. */
std::string socket_path(std::uint64_t inode)
{
    return fmt::format("socket:[{}]", inode);
}

/* Enters the working directory, or says why the program is in another one. */
void go_to_working_directory(const std::string &saved)
{
    const std::string path = enter_working_directory(saved);
    if (!path.empty()) {
        int error = errno;
        char here[4096] = "?";
        if (::getcwd(here, sizeof(here)) == nullptr) {
            std::strcpy(here, "?");
        }
        fmt::print(stderr,
                   "ckpt-restart: the working directory {} cannot be entered "
                   "({}); the program goes on in {}\n",
                   path, std::strerror(error), here);
    }
}

/* Whether nearly all of a large private region has content. Then huge pages, which the
 * kernel provides several times as fast, take no more memory. */
bool is_dense(const ckpt_region &region, std::uint64_t content)
{
    const std::uint64_t size = region.end - region.start;
    return may_be_packed(region) && size >= 2 * huge_page && content >= size - size / 16;
}

} // namespace

Process::Process(const RankImage &image)
    : image_(image), staged_(image.regions.size()), contents_(image.regions)
{
    ckpt_restore *restore = nullptr;
    ckpt_failure failure;
    require_success(ckpt_restore_open(&image.snapshot, image.regions.data(),
                                      image.strings.data(), &restore,
                                      &failure),
                    failure);
    restore_.reset(restore);
}

void *Process::stage(std::size_t region)
{
    void *address = nullptr;
    ckpt_failure failure;
    require_success(ckpt_restore_stage(restore_.get(), region, 1, &address, &failure), failure);
    CKPT_INVARIANT(address != nullptr);
    staged_[region] = {static_cast<std::byte *>(address), image_.length(region)};
    return address;
}

void Process::load_memory(const NodeFileReader &reader, int rank,
                          const std::set<std::size_t> &lazy)
{
    CKPT_EXPECT(restore_ && staged_.size() == image_.regions.size());
    std::vector<MemoryPlace> pages; /* places in private memory, to be read in one go */
    for (std::size_t i = 0; i < image_.regions.size(); i++) {
        const ckpt_region &region = image_.regions[i];
        const FileReference *reference = image_.reference(i);
        if (reference != nullptr) {
            require_same_file(image_.text(region.path), region, *reference);
            continue; /* no content to stage; mapped at the end */
        }
        if (is_shared_file(region)) { /* written when the file exists */
            const auto [content, is_new] =
                shared_content_.try_emplace(i, region.end - region.start);
            if (region.kind == CKPT_REGION_SHARED) {
                reader.read_region(rank, i, content->second.bytes());
            }
            continue;
        }
        if (region.kind == CKPT_REGION_FILE_CONTENT) {
            reader.read_region(rank, i,
                               contents_.find(region.start, region.end - region.start));
            continue;
        }
        const std::uint64_t content = reader.content_of(rank, i);
        if (!is_file(region) && content == 0) {
            continue; /* all zero */
        }
        if (lazy.contains(i)) {
            ckpt_failure failure;
            require_success(ckpt_restore_lazily(restore_.get(), i, &failure), failure);
            continue;
        }
        void *address = stage(i);
        if (is_dense(region, content)) {
            (void)::madvise(address, staged_[i].size(), MADV_HUGEPAGE);
        }
        if (may_be_packed(region)) {
            pages.push_back({region.start, staged_[i]});
        } else {
            reader.read_region(rank, i, staged_[i]);
        }
    }
    CKPT_INVARIANT(std::ranges::is_sorted(pages, {}, &MemoryPlace::address));
    reader.read_pages(rank, pages);
    load_message_log(reader, rank);
}

void Process::use_page_server(const Fd &faults, const Fd &server)
{
    CKPT_EXPECT(lazy_.empty() && faults && server);
    std::vector<Fd> lifted;
    for (const Fd *fd : {&faults, &server}) {
        lifted.emplace_back(::fcntl(fd->get(), F_DUPFD_CLOEXEC, first_free_descriptor(image_)));
        if (!lifted.back()) {
            fail_errno(errno, "a descriptor for the page server cannot be had");
        }
    }
    lazy_ = std::move(lifted);
    ckpt_restore_page_server(restore_.get(), lazy_[0].get(), lazy_[1].get());
}

void Process::load_message_log(const NodeFileReader &reader, int rank)
{
    const std::uint64_t size = image_.message_log.bytes;
    void *address = nullptr;
    ckpt_failure failure;
    if (size == 0) {
        return;
    }
    require_success(
        ckpt_restore_message_log(restore_.get(), size, &address, &failure),
        failure);
    CKPT_INVARIANT(address != nullptr);
    reader.read_message_log(rank, {static_cast<std::byte *>(address), size});
}

const ckpt_socket &Process::socket_of(const ckpt_file &file) const
{
    const void *saved = saved_bytes(file.payload, file.payload_size);
    if (saved == nullptr || file.payload_size < sizeof(ckpt_socket)) {
        fail("the image lacks the description of descriptor {} ({})",
             file.descriptor, image_.text(file.path));
    }
    return *static_cast<const ckpt_socket *>(saved);
}

/* Describes an end as a part of the connection. */
SharedObject Process::connection_of(const ckpt_file &file) const
{
    const ckpt_socket &end = socket_of(file);
    SharedObject object;
    object.inode = std::min(file.inode, file.value);
    object.other = std::max(file.inode, file.value);
    object.path = socket_path(object.inode);
    object.sharers = file.sharers;
    std::size_t i = file.inode == object.inode ? 0 : 1;
    object.ends[i] = end;
    for (const ckpt_file &other : image_.files) {
        if (other.kind == CKPT_FILE_SOCKET && other.same_as < 0 &&
            ckpt_files_listens(&socket_of(other), &end) != 0) {
            object.listening =
                i == 0 ? CKPT_FIRST_LISTENS : CKPT_SECOND_LISTENS;
        }
    }
    return object;
}

std::vector<SharedObject>
Process::shared_objects(const std::string &piece) const
{
    std::map<std::pair<std::uint64_t, std::string>, SharedObject> objects;
    for (const ckpt_region &region : image_.regions) {
        if (is_shared_file(region) && region.sharers > 1) {
            std::string path = image_.text(region.path);
            SharedObject &object = objects[{region.inode, path}];
            object.sharers = region.sharers;
            object.mode = region.mode;
            object.size = std::max(object.size, region.device);
            object.end = std::max(object.end, region.file_offset +
                                                  (region.end - region.start));
        }
    }
    for (const ckpt_file &file : image_.files) {
        if (file.sharers > 1 && file.kind == CKPT_FILE_SOCKET) {
            SharedObject end = connection_of(file);
            auto [entry, is_new] =
                objects.try_emplace({end.inode, end.path}, end);
            std::size_t i = file.inode == end.inode ? 0 : 1;
            entry->second.ends[i] = end.ends[i];
            entry->second.listening |= end.listening;
        } else if (file.sharers > 1 && file.kind == CKPT_FILE_PIPE) {
            SharedObject &object =
                objects[{file.inode, image_.text(file.path)}];
            object.sharers = file.sharers;
            object.is_pipe = true;
            object.size = file.value & CKPT_PIPE_MODE;
        } else if (file.sharers > 1) {
            SharedObject &object =
                objects[{file.inode, image_.text(file.path)}];
            object.sharers = static_cast<std::uint16_t>(file.sharers);
            object.size = std::max(object.size, file.size);
        }
    }
    std::vector<SharedObject> list;
    for (auto &[key, object] : objects) {
        object.piece = piece;
        object.inode = key.first;
        object.path = key.second;
        list.push_back(object);
    }
    return list;
}

void Process::give(std::uint64_t inode, const std::string &path, const Fd &fd)
{
    Fd lifted(
        ::fcntl(fd.get(), F_DUPFD_CLOEXEC, first_free_descriptor(image_)));
    if (!lifted) {
        fail_errno(errno, "{}, which ranks share, cannot be had", path);
    }
    given_paths_.push_back(path);
    given_.push_back({inode, given_paths_.back().c_str(), lifted.get()});
    given_owners_.push_back(std::move(lifted));
    CKPT_INVARIANT(given_.size() == given_owners_.size());
}

void Process::take_shared(const std::vector<SharedObject> &objects,
                          const std::vector<std::vector<Fd>> &descriptors)
{
    CKPT_EXPECT(objects.size() == descriptors.size());
    for (std::size_t i = 0; i < objects.size(); i++) {
        const SharedObject &object = objects[i];
        if (!object.is_pipe && is_system_v(object.inode)) {
            continue; /* System V memory has an id instead of a descriptor */
        }
        give(object.inode, object.path, descriptors.at(i).at(0));
        if (object.is_connection()) {
            give(object.other, socket_path(object.other),
                 descriptors.at(i).at(1));
        }
    }
}

ckpt_saved_files Process::saved_files()
{
    return {.files = image_.files.data(),
            .count = image_.files.size(),
            .strings = image_.strings.data(),
            .payload = payload,
            .written = written,
            .argument = this,
            .given = given_.data(),
            .given_count = given_.size()};
}

void Process::fill_connections()
{
    ckpt_failure failure;
    const ckpt_saved_files saved = saved_files();
    require_success(ckpt_files_fill(&saved, &failure), failure);
}

/* Creates the objects with a name or an id that only this rank has mapped. */
void Process::make_own_objects() const
{
    std::set<std::uint64_t> made; /* System V objects */
    for (const ckpt_region &region : image_.regions) {
        const char *path = image_.text(region.path);
        if (!is_shared_file(region) || region.sharers > 1) {
            continue;
        }
        if (is_system_v(region.inode)) {
            if (made.insert(region.inode).second) {
                make_system_v(path, region.inode, region.mode, region.device);
            }
        } else if (region.mode != 0) {
            const Fd fd = create_shared_file(path, region.mode);
            if (fd && ::ftruncate(fd.get(), static_cast<off_t>(
                                                region.device)) != 0) {
                fail_errno(errno, "{} cannot be made {} bytes long", path,
                           region.device);
            }
        }
    }
}

/* Returns a descriptor for a file that is shared with other ranks, or for a restored file
 * without a name; else -1. */
int Process::descriptor_of(const ckpt_region &region) const
{
    const std::string_view path = image_.text(region.path);
    for (const ckpt_given_file &given : given_) {
        if (given.inode == region.inode && path == given.path) {
            return given.fd;
        }
    }
    for (const ckpt_file &file : image_.files) {
        if ((file.kind == CKPT_FILE_UNNAMED || file.kind == CKPT_FILE_MEMFD) &&
            file.inode == region.inode &&
            path == image_.text(file.path)) {
            return file.descriptor;
        }
    }
    return -1;
}

void Process::restore_shared_files()
{
    ckpt_failure failure;
    for (auto &[index, content] : shared_content_) {
        const ckpt_region &region = image_.regions[index];
        int descriptor = descriptor_of(region);
        void *address = nullptr;
        require_success(ckpt_restore_stage_shared(restore_.get(), index,
                                                  descriptor, &address,
                                                  &failure),
                        failure);
        if (address == nullptr) {
            continue;
        }
        if (region.kind == CKPT_REGION_SHARED) {
            const std::span<std::byte> memory(static_cast<std::byte *>(address),
                                              region.end - region.start);
            content.move_to(cut_to_file(region, descriptor, memory), is_fresh(region));
        }
    }
    shared_content_.clear();
    given_.clear();
    given_paths_.clear();
    given_owners_.clear();
    ckpt_restore_close_shared_files(restore_.get());
}

const void *Process::saved_bytes(std::uint64_t address,
                                 std::uint64_t size) const
{
    auto region = std::ranges::upper_bound(image_.regions, address, {},
                                           &ckpt_region::start);
    if (region == image_.regions.begin()) {
        return nullptr;
    }
    --region;
    if (region->kind == CKPT_REGION_FILE_CONTENT) {
        return contents_.find(address, size).data();
    }
    auto bytes = staged_[static_cast<std::size_t>(
        region - image_.regions.begin())];
    std::uint64_t offset = address - region->start;
    if (offset > bytes.size() || size > bytes.size() - offset) {
        return nullptr;
    }
    return bytes.data() + offset;
}

const void *Process::payload(void *process, std::uint64_t address,
                             std::uint64_t size)
{
    return static_cast<const Process *>(process)->saved_bytes(address, size);
}

void Process::written(void *process, std::uint64_t address, std::uint64_t size)
{
    static_cast<const Process *>(process)->contents_.give_back(address, size);
}

void Process::restore_surroundings()
{
    const ckpt_snapshot &snapshot = image_.snapshot;
    ckpt_failure failure;
    go_to_working_directory(image_.text(snapshot.working_directory));
    ::umask(static_cast<mode_t>(snapshot.umask));
    std::vector<int> kept;
    const int channel = lift_launcher_channel(first_free_descriptor(image_));
    if (channel >= 0) {
        kept.push_back(channel);
    }
    for (const Fd &fd : lazy_) {
        kept.push_back(fd.get());
    }
    make_own_objects();
    const ckpt_saved_files saved = saved_files();
    require_success(
        ckpt_files_restore(&saved, kept.data(), kept.size(), &failure),
        failure);
}

void Process::go_on(const std::string &checkpoint,
                    std::uint64_t restart_started)
{
    ckpt_resume_info info{};
    ckpt_failure failure;
    require_sound();
    CKPT_EXPECT(restore_ != nullptr);
    info.restart_started = restart_started;
    checkpoint.copy(info.checkpoint, sizeof(info.checkpoint) - 1);
    int error = ckpt_restore_commit(restore_.get(), environ, &info, &failure);
    throw Error(failure.text, -error, failure.identity);
}

} // namespace ckpt::restart
