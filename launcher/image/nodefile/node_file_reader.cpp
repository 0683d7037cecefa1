/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * node_file_reader.cpp - reads a node file back and validates it completely.
 *
 * Several threads read chunks with pread at the offsets in the rank's table;
 * HDF5 reads only the tables.
 */
#include "config.h"
#include "image/nodefile/node_file_reader.hpp"

#include "common/bytes.hpp"
#include "common/error.hpp"
#include "common/files/files.hpp"
#include "common/invariant.hpp"
#include "common/parallel.hpp"
#include "image/nodefile/encoded_chunk.hpp"
#include "image/hdf5/hdf5_file_driver.hpp"
#include "image/nodefile/hdf5_objects.hpp"
#include "image/seal/image_key.hpp"
#include "image/nodefile/message_log_content.hpp"
#include "image/nodefile/message_log_dataset.hpp"
#include "image/nodefile/page_lookup.hpp"
#include "image/nodefile/sealed_tables.hpp"
#include "image/nodefile/shared_pages.hpp"
#include "image/nodefile/stream_dataset.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>

namespace ckpt
{

namespace fs = std::filesystem;
namespace names = node_file_names;

namespace
{

constexpr std::size_t page_size = 4096;
constexpr std::uint64_t largest_chunk = 1u << 30;
constexpr std::size_t most_ranks = 1u << 20;
constexpr std::size_t longest_attribute = 4096;

/* Returns the address ranges of the places, ascending, with neighbours
 * merged. */
PageRanges ranges_of(std::span<const MemoryPlace> places)
{
    PageRanges ranges;
    for (const MemoryPlace &place : places) {
        append_range(ranges, {place.address, place.end()});
    }
    return ranges;
}

/* Copies the pages that are not all zero. */
void copy_data_pages(std::span<const std::byte> source,
                     std::span<std::byte> destination)
{
    CKPT_EXPECT(source.size() <= destination.size());
    for (std::size_t at = 0; at < source.size(); at += page_size) {
        std::size_t part = std::min(page_size, source.size() - at);
        std::span page = source.subspan(at, part);
        if (!is_all_zero(page)) {
            std::memcpy(&destination[at], page.data(), part);
        }
    }
}

/* The same for pages at `address` and above; copies only the parts that have a
 * place. */
void copy_to_places(std::span<const std::byte> source, std::uint64_t address,
                    std::span<const MemoryPlace> places)
{
    const std::uint64_t end = address + source.size();
    auto place = std::ranges::upper_bound(places, address, {}, &MemoryPlace::end);
    for (; place != places.end() && place->address < end; ++place) {
        const std::uint64_t from = std::max(address, place->address);
        copy_data_pages(source.subspan(from - address, std::min(end, place->end()) - from),
                        place->bytes.subspan(from - place->address));
    }
}

/* Throws unless the records are in order, inside the file and of valid
 * sizes. */
void require_sane_chunks(const RankImage &image, std::uint64_t chunk_size,
                         const ChunkFile &file, const std::string &whose)
{
    const ChunkRecord *last = nullptr;
    for (const ChunkRecord &chunk : image.chunks) {
        bool sane =
            chunk.region < image.regions.size() &&
            (last == nullptr || std::pair(last->region, last->index) <
                                    std::pair(chunk.region, chunk.index));
        if (sane) {
            const ckpt_region &region = image.regions[chunk.region];
            sane = is_sane_chunk(chunk, region.end - region.start,
                                 region_chunk_size(region, chunk_size), file) &&
                   image.reference(chunk.region) == nullptr;
        }
        if (!sane) {
            fail("{}: chunk {} of region {} has an impossible record", whose,
                 chunk.index, chunk.region);
        }
        last = &chunk;
    }
}

void require_sane_references(const RankImage &image, const std::string &whose)
{
    const FileReference *last = nullptr;
    for (const FileReference &reference : image.references) {
        bool sane = reference.region < image.regions.size() &&
                    (last == nullptr || last->region < reference.region);
        if (sane) {
            std::uint32_t kind = image.regions[reference.region].kind;
            sane = kind == CKPT_REGION_FILE || kind == CKPT_REGION_FILE_SHARED;
        }
        if (!sane) {
            fail("{}: region {} cannot be a reference to a file", whose,
                 reference.region);
        }
        last = &reference;
    }
}

} // namespace

struct NodeFileReader::Impl {
    Impl(const fs::path &path, const ReaderOptions &options);

    void open_checked();
    void read_header(const ReaderOptions &options);
    void read_extents();
    void require_key(const ReaderOptions &options);
    void open_seals();
    void read_tables();
    ChunkFile chunk_file() const;
    RankImage read_rank(hid_t group, const std::string &whose) const;
    void read_references(hid_t file);
    void require_bases() const;
    void read_pages(int rank, const PageRanges &wanted,
                    std::span<const MemoryPlace> places) const;
    void read_shared(const RankImage &image, const PageRanges &wanted,
                     std::span<const MemoryPlace> places) const;
    void describe_pages(hid_t group, RankImage &image, const std::string &whose) const;
    std::string text_of(int rank, const ChunkRecord &chunk) const;
    bool is_of_pages(int rank, const ChunkRecord &chunk) const;
    const RankImage &image(int rank) const;
    std::span<const std::byte> load_chunk(int rank, const ChunkRecord &chunk,
                                          ChunkBuffers &buffers) const;
    MessageLogContent message_log(int rank) const;
    void require_no_stray_bytes() const;

    const std::string path;
    unsigned threads;
    Fd fd;
    NodeFileHeader header;
    std::vector<Extent> extents;
    std::optional<FileSeal> seal;
    TableMemory tables; /* of a sealed file, until HDF5 has read them */
    std::string codec;
    std::uint64_t chunk_size = 0;
    std::uint64_t identity = 0, base_identity = 0;
    std::shared_ptr<const NodeFileReader> base;
    std::vector<int> ranks;
    std::map<int, RankImage> images;
};

NodeFileReader::Impl::Impl(const fs::path &path, const ReaderOptions &options)
    : path(path.string()),
      threads(options.threads != 0 ? options.threads : online_cpus()), base(options.base)
{
    open_checked();
    read_header(options);
    require_key(options);
    open_seals();
    read_tables();
    if (base != nullptr) {
        require_bases();
    }
}

/* Opens the file; it must belong to this user. */
void NodeFileReader::Impl::open_checked()
{
    fd = open_own_file(path, "image");
    struct stat status;
    if (::fstat(fd.get(), &status) < 0) {
        fail_errno(errno, "cannot read {}", path);
    }
    header.bytes = static_cast<std::uint64_t>(status.st_size);
}

void NodeFileReader::Impl::read_header(const ReaderOptions &options)
{
    std::uint64_t bytes = header.bytes;
    if (bytes < header_size) {
        fail("{} is truncated: it has {} bytes", path, bytes);
    }
    std::string text(header_size, '\0');
    int error = read_exactly(fd.get(), text.data(), text.size(), 0);
    if (error != 0) {
        fail_errno(error, "cannot read {}", path);
    }
    header = NodeFileHeader::parse(text, path);
    if (bytes != header.bytes) {
        fail("{} is {}: it has {} bytes, not {}", path,
             bytes < header.bytes ? "truncated" : "too long", bytes,
             header.bytes);
    }
    read_extents();
    if (checksum_outside(fd.get(), bytes, extents, path) != header.checksum) {
        fail("{} is damaged: the checksum of its tables is wrong", path);
    }
    if (options.checksum && *options.checksum != header.checksum) {
        fail("{} is not the file that the manifest names: its checksum is "
             "{:016x}, not {:016x}",
             path, header.checksum, *options.checksum);
    }
}

void NodeFileReader::Impl::read_extents()
{
    if (header.extent_count > (header.bytes - header_size) / sizeof(Extent)) {
        fail("{}: its header is damaged", path);
    }
    extents.resize(header.extent_count);
    int error = read_exactly(fd.get(), extents.data(),
                             extents.size() * sizeof(Extent),
                             header.extents_offset());
    if (error != 0) {
        fail_errno(error, "cannot read {}", path);
    }
    std::uint64_t position = header_size;
    for (const Extent &extent : extents) {
        if (extent.offset < position ||
            extent.offset > header.extents_offset() ||
            extent.length > header.extents_offset() - extent.offset) {
            fail("{} is damaged: its table of extents is wrong", path);
        }
        position = extent.offset + extent.length;
    }
}

/* If this process has a key, the file must be sealed with it; without a key,
 * the file must not be sealed. */
void NodeFileReader::Impl::require_key(const ReaderOptions &options)
{
    const std::optional<MessageKey> &key = image_key();
    if (!key && !header.is_sealed()) {
        return;
    }
    if (!key) {
        throw Error(fmt::format("{} is encrypted: give its key (--key)", path), EKEYREJECTED);
    }
    if (!header.is_sealed()) {
        throw Error(fmt::format("{} was not made with a key, but one was given (--key)", path),
                    EKEYREJECTED);
    }
    if (header.key != name_of_key(*key)) {
        throw Error(fmt::format("{} was made with another key: with {}, not {}", path,
                                header.key, name_of_key(*key)),
                    EKEYREJECTED);
    }
    if (!options.salt.empty() && header.salt != options.salt) {
        fail("{} is not the file that the manifest names: its salt is another one", path);
    }
    if (!options.owner.empty() && header.owner != options.owner) {
        fail("{} is of checkpoint {}, not {}", path, header.owner, options.owner);
    }
    seal.emplace(*key, header.owner, header.salt);
}

void NodeFileReader::Impl::open_seals()
{
    if (!seal) {
        return;
    }
    const std::uint64_t last = extents.empty()
                                   ? header_size
                                   : extents.back().offset + extents.back().length;
    if (header.seal_count > header.extents_offset() / FileSeal::overhead ||
        header.seals_offset() < last ||
        count_seals(header.seals_offset(), extents) != header.seal_count) {
        fail("{}: its header is damaged", path);
    }
    tables = read_sealed_tables(fd.get(), header, extents, *seal, path);
}

ChunkFile NodeFileReader::Impl::chunk_file() const
{
    return {header.bytes, seal ? FileSeal::overhead : 0};
}

/* Reads all tables with HDF5, and closes the HDF5 file again. */
void NodeFileReader::Impl::read_tables()
{
    Hdf5Lock lock;
    DriverFile driver;
    driver.fd = fd.get();
    driver.tables = seal ? &tables : nullptr;
    try {
        Hdf5Id access = make_driver_access(driver);
        Hdf5Id file(
            require_hdf5(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.get()),
                         "HDF5 cannot open it"));
        if (read_number_attribute(file.get(), names::format) !=
            header.version) {
            fail("it is not of version {} inside", header.version);
        }
        codec =
            read_text_attribute(file.get(), names::codec, longest_attribute);
        chunk_size = read_number_attribute(file.get(), names::chunk_size);
        if (chunk_size == 0 || chunk_size % page_size != 0 ||
            chunk_size > largest_chunk) {
            fail("its chunks have an impossible size of {} bytes", chunk_size);
        }
        read_references(file.get());
        Hdf5Id type(H5Tcopy(H5T_STD_I32LE));
        std::size_t count = 0;
        Hdf5Id list =
            open_table(file.get(), names::ranks, type, most_ranks, count);
        ranks.resize(count);
        read_array(list, names::ranks, type, ranks.data());
        for (int rank : ranks) {
            Hdf5Id group = open_group(file.get(), names::rank_group(rank));
            std::string whose = fmt::format("rank {}", rank);
            RankImage image = read_rank(group.get(), whose);
            if (std::max(0, image.snapshot.rank) != rank ||
                !images.emplace(rank, std::move(image)).second) {
                fail("{} is not the rank it should be", whose);
            }
            message_log(rank); /* throws if its description is invalid */
        }
        require_shared_places(images);
    } catch (const Error &error) {
        fail("{} is damaged: {}", path, error.what());
    }
    tables = {};
}

RankImage NodeFileReader::Impl::read_rank(hid_t group,
                                          const std::string &whose) const
{
    RankImage image;
    auto snapshots =
        read_records<ckpt_snapshot>(group, names::snapshot, 1);
    if (snapshots.size() != 1) {
        fail("{} has no snapshot", whose);
    }
    image.snapshot = snapshots.front();
    require_sane_snapshot(image.snapshot, whose);
    image.regions =
        read_records<ckpt_region>(group, names::regions, most_regions);
    image.threads =
        read_records<ckpt_thread>(group, names::threads, most_threads);
    image.files = read_records<ckpt_file>(group, names::files, most_files);
    std::string strings = read_text(group, names::strings, most_text);
    image.strings.assign(strings.begin(), strings.end());
    image.summary = read_text(group, names::summary, most_text);
    image.summary.resize(std::strlen(image.summary.c_str()));
    image.references =
        read_records<FileReference>(group, names::references, most_regions);
    image.chunks = read_records<ChunkRecord>(group, names::chunks, SIZE_MAX);
    image.message_log = describe_message_log(group);
    require_sane_image(image, whose);
    require_sane_references(image, whose);
    require_sane_chunks(image, chunk_size, chunk_file(), whose);
    describe_pages(group, image, whose);
    image.shared_runs = read_records<SharedRun>(group, names::shared_runs, SIZE_MAX);
    require_sane_shared_runs(image, whose);
    return image;
}

void NodeFileReader::Impl::describe_pages(hid_t group, RankImage &image,
                                          const std::string &whose) const
{
    image.page_runs = read_records<PageRun>(group, names::page_runs, SIZE_MAX);
    image.is_packed = !image.page_runs.empty();
    open_stream(group, names::pages, image.pages.bytes, image.pages.chunks);
    require_sane_page_runs(image, chunk_size, chunk_file(), whose);
    for (const ChunkRecord &chunk : image.chunks) {
        if (image.is_packed && may_be_packed(image.regions[chunk.region])) {
            fail("{}: region {} is there twice", whose, chunk.region);
        }
    }
}

/* Reads the identities by which files refer to each other. */
void NodeFileReader::Impl::read_references(hid_t file)
{
    if (has_attribute(file, names::identity)) {
        identity = read_number_attribute(file, names::identity);
    }
    if (has_attribute(file, names::base)) {
        base_identity = read_number_attribute(file, names::base_identity);
    }
}

void NodeFileReader::Impl::require_bases() const
{
    if (base->identity() != base_identity || base->ranks() != ranks) {
        fail("{} was not made on top of {}", path, base->impl_->path);
    }
    for (const auto &[rank, image] : images) {
        require_base(image, base->rank(rank), fmt::format("{}: rank {}", path, rank));
    }
}

bool NodeFileReader::Impl::is_of_pages(int rank, const ChunkRecord &chunk) const
{
    const std::vector<ChunkRecord> &chunks = image(rank).pages.chunks;
    return !chunks.empty() && &chunk >= &chunks.front() && &chunk <= &chunks.back();
}

const RankImage &NodeFileReader::Impl::image(int rank) const
{
    auto found = images.find(rank);
    if (found == images.end()) {
        fail("{} has no rank {}", path, rank);
    }
    return found->second;
}

std::string NodeFileReader::Impl::text_of(int rank,
                                          const ChunkRecord &chunk) const
{
    if (is_of_pages(rank, chunk)) {
        return fmt::format("chunk {} of the pages of rank {} in {}", chunk.index, rank,
                           path);
    }
    return fmt::format("chunk {} of region {:x} of rank {} in {}", chunk.index,
                       image(rank).regions[chunk.region].start, rank, path);
}

/* Returns the verified content of a chunk, which points into the buffers. */
std::span<const std::byte>
NodeFileReader::Impl::load_chunk(int rank, const ChunkRecord &chunk,
                                 ChunkBuffers &buffers) const
{
    std::uint64_t size =
        is_of_pages(rank, chunk)
            ? stream_chunk_size(image(rank).pages.bytes, chunk_size)
            : region_chunk_size(image(rank).regions[chunk.region], chunk_size);
    const ChunkSeal sealed = {seal ? &*seal : nullptr,
                              !seal                      ? std::string()
                              : is_of_pages(rank, chunk) ? sealed_pages(rank)
                                                         : sealed_memory(rank, chunk.region)};
    return decode_chunk(fd.get(), chunk, size, buffers, text_of(rank, chunk), sealed);
}

MessageLogContent NodeFileReader::Impl::message_log(int rank) const
{
    return {fd.get(),
            chunk_file(),
            image(rank).message_log,
            chunk_size,
            fmt::format("the message log of rank {} in {}", rank, path),
            {seal ? &*seal : nullptr, sealed_message_log(rank)}};
}

/* Throws unless every byte of the extents belongs to a chunk; no checksum would
 * cover other bytes. */
void NodeFileReader::Impl::require_no_stray_bytes() const
{
    std::vector<Extent> covered;
    for (const auto &[rank, image] : images) {
        for (const auto *chunks :
             {&image.chunks, &image.pages.chunks, &image.message_log.chunks}) {
            for (const ChunkRecord &chunk : *chunks) {
                covered.push_back({chunk.offset, chunk.size});
            }
        }
    }
    merge_extents(covered);
    if (!std::ranges::equal(covered, extents, [](auto &left, auto &right) {
            return left.offset == right.offset && left.length == right.length;
        })) {
        fail("{} is damaged: its chunks do not fill its extents", path);
    }
}

/* Reads those of the wanted pages whose content is stored with other pages of
 * the file. */
void NodeFileReader::Impl::read_shared(const RankImage &image, const PageRanges &wanted,
                                       std::span<const MemoryPlace> places) const
{
    for (const auto &[rank, pages] : shared_pages(image, wanted)) {
        const std::vector<ChunkCopies> found =
            find_pages(this->image(rank), chunk_size, places_of(pages));
        parallel_for(found.size(), threads, [&](std::size_t i) {
            thread_local ChunkBuffers buffers;
            std::span content = load_chunk(rank, *found[i].chunk, buffers);
            for (const PageCopy &copy : found[i].copies) {
                CKPT_INVARIANT(copy.offset + copy.length <= content.size());
                auto page = std::ranges::lower_bound(pages, copy.address, {},
                                                     &SharedPage::there);
                for (; page != pages.end() && page->there < copy.address + copy.length;
                     ++page) {
                    copy_to_places(
                        content.subspan(copy.offset + (page->there - copy.address),
                                        page_size),
                        page->here, places);
                }
            }
        });
    }
}

NodeFileReader::NodeFileReader(const fs::path &path,
                               const ReaderOptions &options)
    : impl_(std::make_unique<Impl>(path, options))
{
}

NodeFileReader::~NodeFileReader() = default;
NodeFileReader::NodeFileReader(NodeFileReader &&) noexcept = default;

std::uint64_t NodeFileReader::bytes() const
{
    return impl_->header.bytes;
}

std::uint64_t NodeFileReader::chunk_size() const
{
    return impl_->chunk_size;
}

std::uint64_t NodeFileReader::checksum() const
{
    return impl_->header.checksum;
}

const std::string &NodeFileReader::codec() const
{
    return impl_->codec;
}

std::uint64_t NodeFileReader::identity() const
{
    return impl_->identity;
}

std::uint64_t NodeFileReader::base_identity() const
{
    return impl_->base_identity;
}

const std::vector<int> &NodeFileReader::ranks() const
{
    return impl_->ranks;
}

const RankImage &NodeFileReader::rank(int rank) const
{
    return impl_->image(rank);
}

void NodeFileReader::read_pages(int rank, std::span<const MemoryPlace> places) const
{
    impl_->read_pages(rank, ranges_of(places), places);
}

void NodeFileReader::Impl::read_pages(int rank, const PageRanges &wanted,
                                      std::span<const MemoryPlace> places) const
{
    const RankImage &image = this->image(rank);
    std::vector<ChunkCopies> found = find_pages(image, chunk_size, wanted);
    parallel_for(found.size(), threads, [&](std::size_t i) {
        thread_local ChunkBuffers buffers;
        std::span content = load_chunk(rank, *found[i].chunk, buffers);
        for (const PageCopy &copy : found[i].copies) {
            CKPT_INVARIANT(copy.offset + copy.length <= content.size());
            copy_to_places(content.subspan(copy.offset, copy.length), copy.address, places);
        }
    });
    read_shared(image, wanted, places);
    PageRanges inherited = pages_of(image, PageRun::inherited, wanted);
    if (inherited.empty()) {
        return;
    }
    if (base == nullptr) {
        fail("{} has only the changes since its base", path);
    }
    base->impl_->read_pages(rank, inherited, places);
}

void NodeFileReader::read_region(int rank, std::size_t region,
                                 std::span<std::byte> destination) const
{
    const RankImage &image = impl_->image(rank);
    if (region >= image.regions.size() ||
        destination.size() != image.length(region)) {
        fail("{}: rank {} has no region {} of {} bytes", impl_->path, rank,
             region, destination.size());
    }
    if (image.reference(region) != nullptr) {
        fail("{}: the content of region {:x} of rank {} is in the file {}",
             impl_->path, image.regions[region].start, rank,
             image.text(image.regions[region].path));
    }
    if (image.is_packed && may_be_packed(image.regions[region])) {
        const MemoryPlace place{image.regions[region].start, destination};
        read_pages(rank, {&place, 1});
        return;
    }
    auto chunks = std::ranges::equal_range(image.chunks, region, {},
                                           &ChunkRecord::region);
    std::uint64_t size =
        region_chunk_size(image.regions[region], impl_->chunk_size);
    parallel_for(chunks.size(), impl_->threads, [&](std::size_t i) {
        thread_local ChunkBuffers buffers;
        std::span content = impl_->load_chunk(rank, chunks[i], buffers);
        std::span place = destination.subspan(chunks[i].index * size);
        copy_data_pages(content.first(std::min(content.size(), place.size())),
                        place);
    });
    const MemoryPlace place{image.regions[region].start, destination};
    impl_->read_shared(image, ranges_of({&place, 1}), {&place, 1});
}

std::uint64_t NodeFileReader::content_of(int rank, std::size_t region) const
{
    return length_of(ckpt::content_of(impl_->image(rank), static_cast<std::uint32_t>(region),
                                      impl_->chunk_size));
}

void NodeFileReader::read_message_log(int rank,
                                      std::span<std::byte> destination) const
{
    impl_->message_log(rank).read(destination, impl_->threads);
}

void NodeFileReader::verify(
    const std::function<void(std::uint64_t, std::uint64_t)> &progress) const
{
    if (impl_->base != nullptr) {
        impl_->base->verify();
    }
    impl_->require_no_stray_bytes();
    std::vector<std::pair<int, const ChunkRecord *>> work;
    std::uint64_t total = 0;
    for (const auto &[rank, image] : impl_->images) {
        for (const auto *chunks : {&image.chunks, &image.pages.chunks}) {
            for (const ChunkRecord &chunk : *chunks) {
                work.emplace_back(rank, &chunk);
                total += chunk.size;
            }
        }
        for (const ChunkRecord &chunk : image.message_log.chunks) {
            total += chunk.size;
        }
    }
    std::mutex mutex;
    std::uint64_t done = 0;
    auto report = [&](std::uint64_t bytes) {
        if (progress) {
            std::lock_guard lock(mutex);
            done += bytes;
            progress(done, total);
        }
    };
    parallel_for(work.size(), impl_->threads, [&](std::size_t i) {
        thread_local ChunkBuffers buffers;
        impl_->load_chunk(work[i].first, *work[i].second, buffers);
        report(work[i].second->size);
    });
    parallel_for(impl_->ranks.size(), impl_->threads, [&](std::size_t i) {
        impl_->message_log(impl_->ranks[i]).verify(report);
    });
}

} // namespace ckpt
