/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * new_node_file.cpp - a node file that is being written.
 */
#include "config.h"
#include "image/nodefile/new_node_file.hpp"

#include "common/error.hpp"
#include "common/fault_injection.hpp"
#include "common/files/files.hpp"
#include "common/files/temporary_name.hpp"
#include "common/invariant.hpp"
#include "image/io/direct_io.hpp"
#include "image/nodefile/hdf5_objects.hpp"
#include "image/seal/image_key.hpp"
#include "image/nodefile/sealed_tables.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace ckpt
{

namespace fs = std::filesystem;
namespace names = node_file_names;

namespace
{

/* HDF5 allocates file space for small objects in blocks of this size. */
constexpr hsize_t small_block = 64u << 10;
static_assert(sizeof(Extent) == 16 && std::has_unique_object_representations_v<Extent>);

/* Writeback to the disk starts in parts of this size during the capture, so
 * that the final fsync has little left to write. */
constexpr std::uint64_t writeback_part = 8u << 20;

/* Whether none of the extents, in ascending order, overlaps the next one. */
bool are_apart(const std::vector<Extent> &extents)
{
    return std::ranges::adjacent_find(extents, [](const Extent &one, const Extent &next) {
               return one.offset + one.length > next.offset;
           }) == extents.end();
}

} // namespace

NewNodeFile::NewNodeFile(const fs::path &directory, const std::string &name,
                         bool is_direct, const FileSeal *seal, std::string owner)
    : path_(directory / name), temporary_path_(temporary_name(path_)),
      is_direct_(is_direct), seal_(seal), owner_(std::move(owner))
{
    if (seal_ != nullptr) {
        if (owner_.size() > longest_owner || owner_.find('\n') != owner_.npos) {
            fail("'{}' is not the name of a checkpoint", owner_);
        }
        version_ = sealed_version;
        driver_.tables = &tables_;
    }
}

void NewNodeFile::check(int error) const
{
    if (error == ENOSPC || error == EDQUOT) {
        throw Error(fmt::format("no space left in {}", path_.parent_path().string()),
                    ENOSPC);
    }
    if (error != 0) {
        fail_errno(error, "cannot write {}", temporary_path_.string());
    }
}

void NewNodeFile::with_hdf5(const std::function<void()> &action)
{
    Hdf5Lock lock;
    try {
        action();
    } catch (const Error &error) {
        check(driver_.error);
        fail("cannot write {}: {}", temporary_path_.string(), error.what());
    }
    check(driver_.error);
}

void NewNodeFile::start_writeback(std::uint64_t written_to)
{
    std::uint64_t from = 0;
    {
        std::lock_guard lock(mutex_);
        if (written_to < started_writeback_ + writeback_part) {
            return;
        }
        from = std::exchange(started_writeback_, written_to);
    }
    /* Only a hint to the kernel; fsync reports errors. */
    ::sync_file_range(fd_.get(), static_cast<off_t>(from),
                      static_cast<off_t>(written_to - from), SYNC_FILE_RANGE_WRITE);
}

/* Some file systems accept O_DIRECT at open, but refuse the writes with EINVAL.
 * Then the file is written through the page cache. */
void NewNodeFile::write_direct(std::span<const std::byte> part, std::uint64_t offset)
{
    int error = write_exactly(direct_.get(), part.data(), part.size(), offset);
    if (error == EINVAL) {
        error = write_exactly(fd_.get(), part.data(), part.size(), offset);
    }
    check(error);
}

void NewNodeFile::write(const ChunkRecord &place, std::span<const std::byte> chunk)
{
    CKPT_EXPECT(place.size == chunk.size());
    check(fault_strikes("image-write-enospc") ? ENOSPC : 0);
    const std::size_t direct = direct_ ? direct_part(chunk, place.offset) : 0;
    if (direct > 0) {
        write_direct(chunk.first(direct), place.offset);
    }
    const std::span rest = chunk.subspan(direct);
    check(write_exactly(fd_.get(), rest.data(), rest.size(), place.offset + direct));
    if (direct == 0) {
        start_writeback(place.offset + chunk.size());
    }
}

void NewNodeFile::create()
{
    require_known_fault();
    remove_temporaries(path_);
    fd_ = Fd(::open(temporary_path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!fd_) {
        check(errno);
    }
    driver_.fd = fd_.get();
    if (is_direct_) {
        direct_ = open_direct(temporary_path_);
    }
}

void NewNodeFile::open(const std::function<void(hid_t)> &describe)
{
    with_hdf5([&] {
        open_hdf5();
        describe(file_.get());
    });
}

void NewNodeFile::open_hdf5()
{
    constexpr const char *what = "cannot make an HDF5 file";
    Hdf5Id access = make_driver_access(driver_);
    require_hdf5(H5Pset_libver_bounds(access.get(), H5F_LIBVER_LATEST,
                                      H5F_LIBVER_LATEST),
                 what);
    require_hdf5(H5Pset_meta_block_size(access.get(), small_block), what);
    require_hdf5(H5Pset_small_data_block_size(access.get(), small_block), what);
    if (direct_) {
        require_hdf5(H5Pset_alignment(access.get(), least_direct, direct_alignment), what);
    }

    /* Metadata stays in memory until the end: after a failed write, HDF5 could
     * not read it back from the file. */
    H5AC_cache_config_t cache;
    cache.version = H5AC__CURR_CACHE_CONFIG_VERSION;
    require_hdf5(H5Pget_mdc_config(access.get(), &cache), what);
    cache.evictions_enabled = false;
    cache.incr_mode = H5C_incr__off;
    cache.flash_incr_mode = H5C_flash_incr__off;
    cache.decr_mode = H5C_decr__off;
    require_hdf5(H5Pset_mdc_config(access.get(), &cache), what);

    Hdf5Id creation(require_hdf5(H5Pcreate(H5P_FILE_CREATE), what));
    /* HDF5 requires the user block to be larger than the alignment of
     * objects. */
    const hsize_t user_block = direct_ ? 2 * direct_alignment : header_size;
    require_hdf5(H5Pset_userblock(creation.get(), user_block), what);
    file_ = Hdf5Id(require_hdf5(H5Fcreate(temporary_path_.c_str(), H5F_ACC_TRUNC,
                                          creation.get(), access.get()),
                                what));
}

void NewNodeFile::require_version(unsigned version)
{
    std::lock_guard lock(mutex_);
    version_ = std::max(version_, version);
}

std::uint64_t NewNodeFile::note(const std::vector<ChunkRecord> &chunks)
{
    std::uint64_t bytes = 0;
    std::lock_guard lock(mutex_);
    for (const ChunkRecord &chunk : chunks) {
        extents_.push_back({chunk.offset, chunk.size});
        bytes += chunk.size;
    }
    return bytes;
}

void NewNodeFile::close_hdf5(std::vector<int> &ranks)
{
    with_hdf5([&] {
        Hdf5Id type(H5Tcopy(H5T_STD_I32LE));
        std::ranges::sort(ranks);
        write_array(file_.get(), names::ranks, type, ranks.size(), ranks.data());
        write_number_attribute(file_.get(), names::format, version_);
        driver_.closing = true;
        require_hdf5(H5Fclose(file_.get()), "cannot close the file");
        file_.release();
    });
    CKPT_INVARIANT(std::ranges::adjacent_find(ranks) == ranks.end());
}

/* Called after HDF5 has closed its file, all of which is in memory except the
 * chunks. */
void NewNodeFile::write_seals(NodeFileHeader &header)
{
    header.key = name_of_key(image_key().value());
    header.salt = seal_->salt();
    header.owner = owner_;
    try {
        write_sealed_tables(fd_.get(), header, extents_, *seal_, tables_,
                            temporary_path_.string());
    } catch (const Error &error) {
        check(error.code());
        throw;
    }
}

NodeFileHeader NewNodeFile::seal(std::vector<int> &ranks)
{
    close_hdf5(ranks);
    struct stat status;
    check(::fstat(fd_.get(), &status) < 0 ? errno : 0);
    merge_extents(extents_);
    CKPT_INVARIANT(are_apart(extents_));
    NodeFileHeader header;
    header.version = version_;
    auto end = static_cast<std::uint64_t>(status.st_size);
    CKPT_INVARIANT(extents_.empty() || extents_.front().offset >= header_size);
    CKPT_INVARIANT(extents_.empty() || extents_.back().offset + extents_.back().length <= end);
    header.extent_count = extents_.size();
    header.seal_count = seal_ != nullptr ? count_seals(end, extents_) : 0;
    header.bytes = end + header.seal_count * FileSeal::overhead +
                   extents_.size() * sizeof(Extent);
    if (seal_ != nullptr) {
        write_seals(header);
    }
    check(write_exactly(fd_.get(), extents_.data(), extents_.size() * sizeof(Extent),
                        header.extents_offset()));
    header.checksum =
        checksum_outside(fd_.get(), header.bytes, extents_, temporary_path_.string());
    std::string text = header.text();
    check(write_exactly(fd_.get(), text.data(), text.size(), 0));
    return header;
    CKPT_INVARIANT(text.size() == header_size);
}

void NewNodeFile::sync()
{
    check(::fsync(fd_.get()) < 0 ? errno : 0);
}

void NewNodeFile::publish()
{
    CKPT_EXPECT(fd_); /* not published yet */
    fault_kill("image-before-rename");
    check(::rename(temporary_path_.c_str(), path_.c_str()) < 0 ? errno : 0);
    fd_.reset();
    direct_.reset();
    sync_directory(path_.parent_path());
    fault_kill("image-after-rename");
}

void NewNodeFile::abandon() noexcept
{
    file_.reset();
    if (fd_) {
        fd_.reset();
        direct_.reset();
        ::unlink(temporary_path_.c_str());
    }
}

} // namespace ckpt
