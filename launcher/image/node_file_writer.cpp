/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * node_file_writer.cpp - saves the ranks of one node into one HDF5 file.
 */
#include "config.h"
#include "image/node_file_writer.hpp"

#include "common/durations.hpp"
#include "common/error.hpp"
#include "common/fault.hpp"
#include "common/files.hpp"
#include "common/parallel.hpp"
#include "image/codec_choice.hpp"
#include "image/connections.hpp"
#include "image/hdf5_objects.hpp"
#include "image/memory_datasets.hpp"
#include "image/message_log_dataset.hpp"
#include "image/message_log_file.hpp"
#include "image/node_file_reader.hpp"
#include "image/rank_capture.hpp"
#include "image/shared_objects.hpp"
#include "image/store.hpp"
#include "image/stream_dataset.hpp"
#include "image/write_limit.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

namespace ckpt
{

namespace fs = std::filesystem;
namespace names = node_file_names;

namespace
{

/* File space is handed out to small objects in blocks of this size. */
constexpr hsize_t small_block = 64u << 10;

std::vector<FileReference> describe_files(const RankImage &image,
                                          const std::vector<std::uint32_t> &regions,
                                          FileIdentities &identities)
{
    std::vector<FileReference> references;
    for (std::uint32_t index : regions) {
        const ckpt_region &region = image.regions[index];
        FileReference reference =
            identities.describe(region, image.text(region.path));
        reference.region = index;
        references.push_back(reference);
    }
    return references;
}

void write_tables(hid_t group, const RankImage &image)
{
    write_records<ckpt_snapshot>(group, names::snapshot, {image.snapshot});
    write_records(group, names::regions, image.regions);
    write_records(group, names::threads, image.threads);
    write_records(group, names::files, image.files);
    write_records(group, names::references, image.references);
    write_records(group, names::chunks, image.chunks);
    write_records(group, names::page_runs, image.page_runs);
    write_text(group, names::strings,
               {image.strings.begin(), image.strings.end()});
    write_text(group, names::summary, image.summary);
}

/* A rank on its way into the file. */
struct RankGroup {
    explicit RankGroup(RankImage &image) : image(image) {}

    RankImage &image;
    Hdf5Id group;
    std::optional<MemoryDatasets> datasets;
    std::optional<StreamDataset> pages; /* since the first chunk of it */
};

/* A rank that has begun to be saved. */
struct Begun {
    Begun(const StoppedProcess &process, const WriterOptions &options)
        : pid(process.pid),
          capture(process, options.snapshot, options.base.checkpoint != 0),
          place(capture.image())
    {
    }

    pid_t pid;
    Stopwatch watch;
    RankCapture capture;
    RankGroup place;
    CaptureStats stats;
};

} // namespace

struct NodeFileWriter::Impl {
    Impl(const fs::path &directory, const std::string &host,
         const WriterOptions &options);

    void create();
    void prepare_choice();
    void create_hdf5();
    void check(int error) const;
    template <typename Action> void with_hdf5(const Action &action);
    void add(int rank, std::unique_ptr<Begun> &&begun);
    std::unique_ptr<Begun> take(int rank);
    void note_rank(int rank, const std::string &whose);
    void open(int rank, RankGroup &place);
    void store(RankGroup &place, const StoredChunk &chunk);
    void store_pages(RankGroup &place, const StoredChunk &chunk);
    void close(RankGroup &place);
    std::uint64_t note_extents(const RankImage &image);
    void count(Begun &begun);
    using ReadChunk = std::function<void(std::span<std::byte>)>;
    void store_message_log(int rank, std::uint64_t bytes, const ReadChunk &read,
                           const std::function<std::uint64_t()> &messages);
    void copy_message_log(const NodeFileReader &reader, int rank, const MessageLog &log);
    PipelineOptions pipeline()
    {
        return {options.codec, choice ? &*choice : nullptr, options.threads,
                &cancelled};
    }
    void close_hdf5();
    NodeFileHeader seal();
    void publish(std::uint64_t bytes);
    void abandon() noexcept;

    const fs::path directory;
    const std::string host;
    const fs::path final_path;
    const fs::path temporary_path;
    WriterOptions options;
    FileIdentities own_identities;
    WriteRate own_write_rate;
    WriteLimit write_limit;
    std::atomic<bool> cancelled{false};

    Fd fd; /* open as long as the temporary file exists */
    std::optional<CodecChoice> choice; /* of the codec auto */
    std::optional<Stopwatch> writing;  /* since the first chunk */
    DriverFile driver;
    Hdf5Id file;
    unsigned version = first_node_file_version;
    SharedObjects shared;
    Connections connections;

    std::mutex mutex; /* of what follows */
    std::vector<int> ranks;
    std::map<int, std::unique_ptr<Begun>> begun;
    std::vector<Extent> extents; /* of all chunks */
};

NodeFileWriter::Impl::Impl(const fs::path &directory, const std::string &host,
                           const WriterOptions &options)
    : directory(directory), host(host),
      final_path(directory / (options.file.empty() ? node_file_name(host) : options.file)),
      temporary_path(final_path.string() + ".tmp"), options(options),
      write_limit(options.write_limit)
{
    if (this->options.threads == 0) {
        this->options.threads = online_cpus();
    }
    if (options.codec.kind == Codec::Kind::lz4 ||
        options.codec.kind == Codec::Kind::automatic) {
        version = lz4_version;
    }
    if (options.base.checkpoint != 0) {
        version = partial_version;
    }
    if (options.write_rate == nullptr) {
        this->options.write_rate = &own_write_rate;
    }
    if (this->options.identities == nullptr) {
        this->options.identities = &own_identities;
    }
}

/* Throws if there is an error, with one text for every way to say "full". */
void NodeFileWriter::Impl::check(int error) const
{
    if (error == ENOSPC || error == EDQUOT) {
        throw Error(fmt::format("no space left in {}", directory.string()),
                    ENOSPC);
    }
    if (error != 0) {
        fail_errno(error, "cannot write {}", temporary_path.string());
    }
}

/* Runs HDF5 calls; a failed write, which HDF5 does not see, fails here. */
template <typename Action>
void NodeFileWriter::Impl::with_hdf5(const Action &action)
{
    Hdf5Lock lock;
    try {
        action();
    } catch (const Error &error) {
        check(driver.error);
        fail("cannot write {}: {}", temporary_path.string(), error.what());
    }
    check(driver.error);
}

void NodeFileWriter::Impl::create()
{
    require_known_fault();
    ::unlink(temporary_path.c_str()); /* left by a crash */
    fd = Fd(::open(temporary_path.c_str(),
                   O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!fd) {
        check(errno);
    }
    if (options.codec.kind == Codec::Kind::automatic) {
        prepare_choice();
    }
    driver.fd = fd.get();
    with_hdf5([this] { create_hdf5(); });
}

/* The file is still empty. */
void NodeFileWriter::Impl::prepare_choice()
{
    if (options.write_rate->value() == 0) {
        check(options.write_rate->probe(fd.get()));
    }
    choice.emplace(options.write_rate->value(), options.threads);
}

void NodeFileWriter::Impl::create_hdf5()
{
    constexpr const char *what = "cannot make an HDF5 file";
    Hdf5Id access = make_driver_access(driver);
    require_hdf5(H5Pset_libver_bounds(access.get(), H5F_LIBVER_LATEST,
                                      H5F_LIBVER_LATEST),
                 what);
    require_hdf5(H5Pset_meta_block_size(access.get(), small_block), what);
    require_hdf5(H5Pset_small_data_block_size(access.get(), small_block), what);

    /* Metadata stays in memory until the end: what is read back could be
     * missing after a failed write. */
    H5AC_cache_config_t cache;
    cache.version = H5AC__CURR_CACHE_CONFIG_VERSION;
    require_hdf5(H5Pget_mdc_config(access.get(), &cache), what);
    cache.evictions_enabled = false;
    cache.incr_mode = H5C_incr__off;
    cache.flash_incr_mode = H5C_flash_incr__off;
    cache.decr_mode = H5C_decr__off;
    require_hdf5(H5Pset_mdc_config(access.get(), &cache), what);

    Hdf5Id creation(require_hdf5(H5Pcreate(H5P_FILE_CREATE), what));
    require_hdf5(H5Pset_userblock(creation.get(), header_size), what);
    file = Hdf5Id(require_hdf5(H5Fcreate(temporary_path.c_str(), H5F_ACC_TRUNC,
                                         creation.get(), access.get()),
                               what));
    write_number_attribute(file.get(), names::chunk_size, options.chunk_size);
    write_text_attribute(file.get(), names::software, PACKAGE_STRING);
    write_text_attribute(file.get(), names::host, host);
    write_text_attribute(file.get(), names::codec, options.codec.text());
    if (options.identity != 0) {
        write_number_attribute(file.get(), names::identity, options.identity);
    }
    if (options.base.checkpoint != 0) {
        write_number_attribute(file.get(), names::base, options.base.checkpoint);
        write_number_attribute(file.get(), names::base_identity, options.base.identity);
    }
}

void NodeFileWriter::Impl::note_rank(int rank, const std::string &whose)
{
    std::lock_guard lock(mutex);
    if (std::ranges::find(ranks, rank) != ranks.end()) {
        fail("rank {} was saved already, and {} says it is the same", rank, whose);
    }
    ranks.push_back(rank);
}

/* Makes the places for what a rank has. */
void NodeFileWriter::Impl::open(int rank, RankGroup &place)
{
    with_hdf5([&] {
        place.group = make_group(file.get(), names::rank_group(rank));
        place.datasets.emplace(place.group.get(), place.image.regions, options.codec,
                               driver);
    });
}

void NodeFileWriter::Impl::add(int rank, std::unique_ptr<Begun> &&begun)
{
    note_rank(rank, fmt::format("process {}", begun->pid));
    open(rank, begun->place);
    std::lock_guard lock(mutex);
    this->begun[rank] = std::move(begun);
}

std::unique_ptr<Begun> NodeFileWriter::Impl::take(int rank)
{
    std::lock_guard lock(mutex);
    auto found = begun.find(rank);
    if (found == begun.end()) {
        fail("rank {} has not begun to be saved", rank);
    }
    std::unique_ptr<Begun> taken = std::move(found->second);
    begun.erase(found);
    return taken;
}

void NodeFileWriter::Impl::store(RankGroup &place, const StoredChunk &chunk)
{
    write_limit.wait(chunk.encoded.bytes.size(), cancelled);
    with_hdf5([&] {
        if (!writing) {
            writing.emplace();
        }
        if (chunk.job.is_packed) {
            store_pages(place, chunk);
        } else {
            place.image.chunks.push_back(place.datasets->store(chunk));
        }
    });
}

void NodeFileWriter::Impl::store_pages(RankGroup &place, const StoredChunk &chunk)
{
    if (!place.pages) {
        place.pages.emplace(place.group.get(), names::pages, place.image.pages.bytes,
                            options.chunk_size, options.codec, driver);
    }
    place.pages->store(chunk.job.index, chunk.encoded);
}

/* All chunks have been stored. */
void NodeFileWriter::Impl::close(RankGroup &place)
{
    std::ranges::sort(place.image.chunks, {}, [](const ChunkRecord &record) {
        return std::pair(record.region, record.index);
    });
    with_hdf5([&] {
        place.datasets.reset();
        if (place.pages) {
            place.image.pages.chunks = place.pages->finish();
        }
        write_tables(place.group.get(), place.image);
        place.group = {};
    });
}

/* Of a rank's memory; returns how many bytes of the file these are. */
std::uint64_t NodeFileWriter::Impl::note_extents(const RankImage &image)
{
    std::uint64_t bytes = 0;
    std::lock_guard lock(mutex);
    for (const auto *chunks : {&image.chunks, &image.pages.chunks}) {
        for (const ChunkRecord &chunk : *chunks) {
            extents.push_back({chunk.offset, chunk.size});
            bytes += chunk.size;
        }
    }
    return bytes;
}

void NodeFileWriter::Impl::count(Begun &begun)
{
    const RankImage &image = begun.capture.image();
    begun.stats.bytes_stored = note_extents(image);
    for (const ckpt_region &region : image.regions) {
        begun.stats.bytes_mapped += region.end - region.start;
    }
    begun.stats.bytes_read = begun.capture.bytes_read();
    begun.stats.seconds = begun.watch.seconds();
}

/* `read` fills a chunk with the next bytes; `messages`, at the end, counts them. */
void NodeFileWriter::Impl::store_message_log(
    int rank, std::uint64_t bytes, const ReadChunk &read,
    const std::function<std::uint64_t()> &messages)
{
    std::uint64_t size = stream_chunk_size(bytes, options.chunk_size);
    std::vector<std::byte> plain(size), output(size);
    Compressor compressor(options.codec, pipeline().choice);
    Hdf5Id group;
    std::optional<MessageLogDataset> dataset;
    with_hdf5([&] {
        group = open_group(file.get(), names::rank_group(rank));
        dataset.emplace(group.get(), bytes, size, options.codec, driver);
    });
    for (std::uint64_t i = 0; i * size < bytes; i++) {
        if (cancelled) {
            fail("the checkpoint was cancelled");
        }
        read(plain);
        EncodedChunk chunk = encode_chunk(plain, output, compressor);
        write_limit.wait(chunk.bytes.size(), cancelled);
        with_hdf5([&] { dataset->store(i, chunk); });
    }
    std::uint64_t count = messages();
    MessageLog log;
    with_hdf5([&] { log = dataset->finish(count); });
    version = std::max(version, message_log_version);
    for (const ChunkRecord &chunk : log.chunks) {
        extents.push_back({chunk.offset, chunk.size});
    }
}

void NodeFileWriter::Impl::copy_message_log(const NodeFileReader &reader, int rank,
                                            const MessageLog &log)
{
    std::vector<std::byte> content(log.bytes);
    std::size_t position = 0;
    reader.read_message_log(rank, content);
    store_message_log(
        rank, log.bytes,
        [&](std::span<std::byte> chunk) {
            std::span rest = std::span(content).subspan(position);
            std::span part = rest.first(std::min(rest.size(), chunk.size()));
            std::ranges::fill(std::ranges::copy(part, chunk.begin()).out, chunk.end(),
                              std::byte{0});
            position += part.size();
        },
        [&] { return log.messages; });
}

void NodeFileWriter::Impl::close_hdf5()
{
    with_hdf5([this] {
        Hdf5Id type(H5Tcopy(H5T_STD_I32LE));
        std::ranges::sort(ranks);
        write_array(file.get(), names::ranks, type, ranks.size(), ranks.data());
        write_number_attribute(file.get(), names::format, version);
        driver.closing = true;
        require_hdf5(H5Fclose(file.get()), "cannot close the file");
        file.release();
    });
}

/* Adds the table of extents and the header to the closed HDF5 file. */
NodeFileHeader NodeFileWriter::Impl::seal()
{
    struct stat status;
    check(::fstat(fd.get(), &status) < 0 ? errno : 0);
    merge_extents(extents);
    NodeFileHeader header;
    header.version = version;
    auto end = static_cast<std::uint64_t>(status.st_size);
    header.extent_count = extents.size();
    header.bytes = end + extents.size() * sizeof(Extent);
    check(write_exactly(fd.get(), extents.data(),
                        extents.size() * sizeof(Extent), end));
    header.checksum = checksum_outside(fd.get(), header.bytes, extents,
                                       temporary_path.string());
    std::string text = header.text();
    check(write_exactly(fd.get(), text.data(), text.size(), 0));
    return header;
}

/* Makes the file lasting under its final name. */
void NodeFileWriter::Impl::publish(std::uint64_t bytes)
{
    Stopwatch syncing;
    check(::fsync(fd.get()) < 0 ? errno : 0);
    if (writing) {
        options.write_rate->note(bytes, writing->seconds(), syncing.seconds());
    }
    fault_kill("image-before-rename");
    check(::rename(temporary_path.c_str(), final_path.c_str()) < 0 ? errno : 0);
    fd.reset();
    sync_directory(directory);
    fault_kill("image-after-rename");
}

void NodeFileWriter::Impl::abandon() noexcept
{
    begun.clear();
    file.reset();
    if (fd) {
        fd.reset();
        ::unlink(temporary_path.c_str());
    }
}

NodeFileWriter::NodeFileWriter(const fs::path &directory,
                               const std::string &host,
                               const WriterOptions &options)
    : impl_(std::make_unique<Impl>(directory, host, options))
{
    try {
        impl_->create();
    } catch (...) {
        impl_->abandon();
        throw;
    }
}

NodeFileWriter::~NodeFileWriter()
{
    impl_->abandon();
}

void NodeFileWriter::survey(const StoppedProcess &process)
{
    RankImage image = read_description(RemoteMemory(process.pid), process.snapshot,
                                       fmt::format("process {}", process.pid));
    const int rank = std::max(0, image.snapshot.rank);
    impl_->shared.survey(image, rank);
    impl_->connections.survey(image, rank);
}

bool NodeFileWriter::shares(int rank) const
{
    return impl_->shared.shares(rank);
}

Beginning NodeFileWriter::begin(const StoppedProcess &process,
                                const std::function<void()> &captured)
{
    auto owner = std::make_unique<Begun>(process, impl_->options);
    Begun &begun = *owner;
    RankImage &image = begun.capture.image();
    int rank = std::max(0, image.snapshot.rank);

    impl_->shared.distribute(image);
    impl_->connections.distribute(image, rank);
    impl_->add(rank, std::move(owner));
    begun.capture.begin(
        impl_->options.chunk_size, impl_->pipeline(),
        [&](const StoredChunk &chunk) { impl_->store(begun.place, chunk); },
        [&] {
            begun.stats.captured_seconds = begun.watch.seconds();
            if (captured) {
                captured();
            }
        });
    return {rank, begun.capture.remark()};
}

CaptureStats NodeFileWriter::finish(int rank)
{
    std::unique_ptr<Begun> begun = impl_->take(rank);

    begun->capture.finish(
        impl_->options.chunk_size, impl_->pipeline(),
        [&](const StoredChunk &chunk) { impl_->store(begun->place, chunk); });
    RankImage &image = begun->capture.image();
    image.references = describe_files(image, begun->capture.by_reference(),
                                      *impl_->options.identities);
    impl_->close(begun->place);
    impl_->count(*begun);
    return begun->stats;
}

CaptureStats NodeFileWriter::capture(pid_t pid, std::uint64_t snapshot,
                                     const std::function<void()> &captured)
{
    return finish(begin({pid, snapshot}, captured).rank);
}

void NodeFileWriter::add_message_log(int rank, const fs::path &log)
{
    MessageLogFile source(log);
    if (std::ranges::find(impl_->ranks, rank) == impl_->ranks.end()) {
        fail("rank {} has a message log but was not saved", rank);
    }
    if (source.bytes() > 0) {
        impl_->store_message_log(
            rank, source.bytes(), [&](std::span<std::byte> chunk) { source.read(chunk); },
            [&] { return source.finish(); });
    }
}

void NodeFileWriter::copy(const NodeFileReader &reader, int rank)
{
    RankImage image = reader.rank(rank);
    const ChunkPlan plan = plan_image(image, impl_->options.chunk_size);
    const MessageLog log = std::exchange(image.message_log, {});
    image.chunks.clear();
    image.page_runs.clear();
    image.pages = {};
    image.is_partial = false;

    RankGroup place(image);
    ImageSource source(reader, rank);
    impl_->note_rank(rank, "the file to be copied");
    impl_->open(rank, place);
    run_chunk_pipeline(source, plan, impl_->pipeline(),
                       [&](const StoredChunk &chunk) { impl_->store(place, chunk); }, [] {});
    impl_->close(place);
    impl_->note_extents(image);
    if (log.bytes > 0) {
        impl_->copy_message_log(reader, rank, log);
    }
}

Piece NodeFileWriter::commit()
{
    impl_->close_hdf5();
    NodeFileHeader header = impl_->seal();
    impl_->publish(header.bytes);
    return {impl_->final_path.filename().string(),
            impl_->host,
            header.bytes,
            header.checksum,
            impl_->ranks,
            impl_->shared.any() || impl_->connections.any(),
            impl_->options.identity,
            impl_->options.base.checkpoint,
            impl_->options.base.identity};
}

void NodeFileWriter::abandon() noexcept
{
    impl_->abandon();
}

void NodeFileWriter::cancel() noexcept
{
    impl_->cancelled = true;
}

} // namespace ckpt
