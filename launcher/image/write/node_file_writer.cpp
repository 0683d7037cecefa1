/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * node_file_writer.cpp - saves the ranks of one node into one HDF5 file.
 */
#include "config.h"
#include "image/write/node_file_writer.hpp"

#include "common/durations.hpp"
#include "common/error.hpp"
#include "common/invariant.hpp"
#include "common/parallel.hpp"
#include "image/codec/codec_choice.hpp"
#include "image/memory/connections.hpp"
#include "image/nodefile/encoded_chunk.hpp"
#include "image/seal/file_seal.hpp"
#include "image/nodefile/hdf5_objects.hpp"
#include "image/seal/image_key.hpp"
#include "image/write/memory_datasets.hpp"
#include "image/nodefile/message_log_dataset.hpp"
#include "image/nodefile/message_log_file.hpp"
#include "image/nodefile/new_node_file.hpp"
#include "image/nodefile/node_file_reader.hpp"
#include "image/write/rank_capture.hpp"
#include "image/memory/shared_objects.hpp"
#include "image/store/store.hpp"
#include "image/nodefile/stream_dataset.hpp"
#include "image/io/write_limit.hpp"

#include <algorithm>
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

std::vector<FileReference> describe_files(const RankImage &image,
                                          const std::vector<std::uint32_t> &regions,
                                          FileIdentities &identities)
{
    CKPT_EXPECT(std::ranges::is_sorted(regions)); /* RankImage::reference() searches */
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
    write_records(group, names::shared_runs, image.shared_runs);
    write_text(group, names::strings,
               {image.strings.begin(), image.strings.end()});
    write_text(group, names::summary, image.summary);
}

/* Returns the name JOB/NUMBER of the checkpoint in that directory. */
std::string owner_of(const fs::path &directory)
{
    const fs::path path = fs::absolute(directory).lexically_normal();
    const fs::path own = path.has_filename() ? path : path.parent_path();
    return fmt::format("{}/{}", own.parent_path().filename().string(), own.filename().string());
}

std::optional<FileSeal> make_seal(const std::string &owner)
{
    return image_key() ? std::make_optional<FileSeal>(*image_key(), owner) : std::nullopt;
}

/* A rank that is being written to the file. */
struct RankGroup {
    explicit RankGroup(RankImage &image)
        : image(image) {}

    int rank() const { return std::max(0, image.snapshot.rank); }

    RankImage &image;
    Hdf5Id group;
    std::optional<MemoryDatasets> datasets;
    std::optional<StreamDataset> pages; /* created with its first chunk */
};

/* A rank for which begin() was called. */
struct Begun {
    Begun(const StoppedProcess &process, const WriterOptions &options,
          PageSharing *sharing)
        : pid(process.pid),
          capture(process, options.snapshot, options.base.checkpoint != 0, options.pool,
                  sharing),
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
    void describe(hid_t root) const;
    void add(int rank, std::unique_ptr<Begun> &&begun);
    std::unique_ptr<Begun> take(int rank);
    void distribute(RankImage &image, int rank);
    void note_rank(int rank, const std::string &whose);
    void open(int rank, RankGroup &place);
    void store(RankGroup &place, const StoredChunk &chunk); /* several at a time */
    ChunkRecord place_pages(RankGroup &place, const StoredChunk &chunk);
    void close(RankGroup &place);
    void require_version_of(const RankImage &image);
    void count(Begun &begun);
    StoredChunk sealed(const RankGroup &place, const StoredChunk &chunk) const;
    using ReadChunk = std::function<void(std::span<std::byte>)>;
    void store_message_log(int rank, std::uint64_t bytes, const ReadChunk &read,
                           const std::function<std::uint64_t()> &messages);
    void copy_message_log(const NodeFileReader &reader, int rank, const MessageLog &log);
    void publish(std::uint64_t bytes);
    void abandon() noexcept;

    const std::string host;
    WriterOptions options;
    FileIdentities own_identities;
    WriteRate own_write_rate;
    WriteLimit write_limit;
    std::atomic<bool> cancelled{false};

    const std::optional<FileSeal> seal; /* if this process has a key */
    NewNodeFile file;
    std::optional<CodecChoice> choice; /* for the codec "auto" */
    std::optional<Stopwatch> writing;  /* runs since the first chunk was stored */
    std::optional<PageSharing> sharing;

    std::mutex mutex; /* guards the following members */
    SharedObjects shared;
    Connections connections;
    std::vector<int> ranks;
    std::map<int, std::unique_ptr<Begun>> begun;

    std::optional<ChunkPipeline> pipeline; /* last: uses the members above */
};

NodeFileWriter::Impl::Impl(const fs::path &directory, const std::string &host,
                           const WriterOptions &options)
    : host(host), options(options), write_limit(options.write_limit),
      seal(make_seal(owner_of(directory))),
      file(directory, options.file.empty() ? node_file_name(host) : options.file,
           options.is_direct, seal ? &*seal : nullptr, owner_of(directory))
{
    if (this->options.threads == 0) {
        this->options.threads = online_cpus();
    }
    if (options.codec.kind == Codec::Kind::lz4 ||
        options.codec.kind == Codec::Kind::automatic) {
        file.require_version(lz4_version);
    }
    if (options.base.checkpoint != 0) {
        file.require_version(packed_version);
    }
    if (options.write_rate == nullptr) {
        this->options.write_rate = &own_write_rate;
    }
    if (this->options.identities == nullptr) {
        this->options.identities = &own_identities;
    }
}

void NodeFileWriter::Impl::create()
{
    file.create();
    if (auto extent = options.sharing != nullptr ? options.sharing->next() : std::nullopt) {
        sharing.emplace(*extent);
    }
    if (options.codec.kind == Codec::Kind::automatic) {
        prepare_choice();
    }
    pipeline.emplace(PipelineOptions{options.codec, choice ? &*choice : nullptr,
                                     options.threads, options.chunk_size, &cancelled,
                                     seal ? FileSeal::overhead : 0, options.saved});
    file.open([this](hid_t root) { describe(root); });
}

/* Measures the write rate if it is unknown; the file is still empty. */
void NodeFileWriter::Impl::prepare_choice()
{
    if (options.write_rate->value() == 0) {
        file.check(options.write_rate->probe(file.descriptor()));
    }
    choice.emplace(options.write_rate->value(), options.threads);
}

void NodeFileWriter::Impl::describe(hid_t root) const
{
    write_number_attribute(root, names::chunk_size, options.chunk_size);
    write_text_attribute(root, names::software, PACKAGE_STRING);
    write_text_attribute(root, names::host, host);
    write_text_attribute(root, names::codec, options.codec.text());
    if (options.identity != 0) {
        write_number_attribute(root, names::identity, options.identity);
    }
    if (options.base.checkpoint != 0) {
        write_number_attribute(root, names::base, options.base.checkpoint);
        write_number_attribute(root, names::base_identity, options.base.identity);
    }
}

/* Assigns content that several ranks share to the rank that saves it. */
void NodeFileWriter::Impl::distribute(RankImage &image, int rank)
{
    std::lock_guard lock(mutex);
    shared.distribute(image);
    connections.distribute(image, rank);
}

void NodeFileWriter::Impl::note_rank(int rank, const std::string &whose)
{
    std::lock_guard lock(mutex);
    if (std::ranges::find(ranks, rank) != ranks.end()) {
        fail("rank {} was saved already, and {} says it is the same", rank, whose);
    }
    ranks.push_back(rank);
}

/* Creates the rank's group and datasets. */
void NodeFileWriter::Impl::open(int rank, RankGroup &place)
{
    file.with_hdf5([&] {
        place.group = make_group(file.root(), names::rank_group(rank));
        place.datasets.emplace(place.group.get(), place.image.regions, options.codec,
                               file.driver());
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

/* Returns the chunk, encrypted if the file is sealed. */
StoredChunk NodeFileWriter::Impl::sealed(const RankGroup &place, const StoredChunk &chunk) const
{
    if (!seal) {
        return chunk;
    }
    const ChunkJob &job = chunk.job;
    const ChunkSeal as = {&*seal, job.is_packed ? sealed_pages(place.rank())
                                                : sealed_memory(place.rank(), job.region)};
    return {job, seal_chunk(chunk.encoded, chunk.place, as, job.index), chunk.place};
}

void NodeFileWriter::Impl::store(RankGroup &place, const StoredChunk &encoded)
{
    const StoredChunk chunk = sealed(place, encoded);
    write_limit.wait(chunk.encoded.bytes.size(), cancelled);
    ChunkRecord record{};
    file.with_hdf5([&] {
        if (!writing) {
            writing.emplace();
        }
        if (chunk.job.is_packed) {
            record = place_pages(place, chunk);
        } else {
            record = place.datasets->place(chunk);
            place.image.chunks.push_back(record);
        }
    });
    file.write(record, chunk.encoded.bytes);
}

ChunkRecord NodeFileWriter::Impl::place_pages(RankGroup &place, const StoredChunk &chunk)
{
    if (!place.pages) {
        place.pages.emplace(place.group.get(), names::pages, place.image.pages.bytes,
                            options.chunk_size, options.codec, file.driver());
    }
    return place.pages->place(chunk.job.index, chunk.encoded).value();
}

/* Writes the rank's tables after all of its chunks have been stored. */
void NodeFileWriter::Impl::close(RankGroup &place)
{
    std::ranges::sort(place.image.chunks, {}, [](const ChunkRecord &record) {
        return std::pair(record.region, record.index);
    });
    file.with_hdf5([&] {
        place.datasets.reset();
        if (place.pages) {
            place.image.pages.chunks = place.pages->finish();
        }
        write_tables(place.group.get(), place.image);
        place.group = {};
    });
}

void NodeFileWriter::Impl::require_version_of(const RankImage &image)
{
    if (!image.page_runs.empty()) {
        file.require_version(packed_version);
    }
    if (!image.shared_runs.empty()) {
        file.require_version(shared_version);
    }
}

void NodeFileWriter::Impl::count(Begun &begun)
{
    const RankImage &image = begun.capture.image();
    require_version_of(image);
    begun.stats.bytes_stored = file.note(image.chunks) + file.note(image.pages.chunks);
    for (const ckpt_region &region : image.regions) {
        begun.stats.bytes_mapped += region.end - region.start;
    }
    begun.stats.bytes_read = begun.capture.bytes_read();
    begun.stats.faults = begun.capture.faults();
    begun.stats.seconds = begun.watch.seconds();
}

/* `read` fills a chunk with the next bytes of the log. After the last chunk,
 * `messages` returns the number of messages. */
void NodeFileWriter::Impl::store_message_log(
    int rank, std::uint64_t bytes, const ReadChunk &read,
    const std::function<std::uint64_t()> &messages)
{
    CKPT_EXPECT(bytes > 0);
    std::uint64_t size = stream_chunk_size(bytes, options.chunk_size);
    std::vector<std::byte> plain(size), output(size), place(size + FileSeal::overhead);
    Compressor compressor(options.codec, pipeline->options().choice);
    Hdf5Id group;
    std::optional<MessageLogDataset> dataset;
    file.with_hdf5([&] {
        group = open_group(file.root(), names::rank_group(rank));
        dataset.emplace(group.get(), bytes, size, options.codec, file.driver());
    });
    for (std::uint64_t i = 0; i * size < bytes; i++) {
        if (cancelled) {
            fail("the checkpoint was cancelled");
        }
        read(plain);
        EncodedChunk chunk = encode_chunk(plain, output, compressor);
        if (seal && !chunk.bytes.empty()) {
            chunk = seal_chunk(chunk, place, {&*seal, sealed_message_log(rank)}, i);
        }
        write_limit.wait(chunk.bytes.size(), cancelled);
        std::optional<ChunkRecord> record;
        file.with_hdf5([&] { record = dataset->place(i, chunk); });
        if (record) {
            file.write(*record, chunk.bytes);
        }
    }
    std::uint64_t count = messages();
    MessageLog log;
    file.with_hdf5([&] { log = dataset->finish(count); });
    file.require_version(message_log_version);
    file.note(log.chunks);
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
    CKPT_INVARIANT(position == log.bytes);
}

void NodeFileWriter::Impl::publish(std::uint64_t bytes)
{
    Stopwatch syncing;
    file.sync();
    if (writing) {
        options.write_rate->note(bytes, writing->seconds(), syncing.seconds());
    }
    file.publish();
}

void NodeFileWriter::Impl::abandon() noexcept
{
    begun.clear();
    file.abandon();
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
    std::lock_guard lock(impl_->mutex);
    return impl_->shared.shares(rank);
}

Beginning NodeFileWriter::begin(const StoppedProcess &process,
                                const std::function<void()> &captured, unsigned threads)
{
    auto owner = std::make_unique<Begun>(process, impl_->options,
                                         impl_->sharing ? &*impl_->sharing : nullptr);
    Begun &begun = *owner;
    RankImage &image = begun.capture.image();
    int rank = std::max(0, image.snapshot.rank);

    impl_->distribute(image, rank);
    impl_->add(rank, std::move(owner));
    begun.capture.begin(
        *impl_->pipeline, threads != 0 ? threads : impl_->options.threads,
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

    begun->capture.finish(*impl_->pipeline, [&](const StoredChunk &chunk) {
        impl_->store(begun->place, chunk);
    });
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
    const ChunkPlan plan =
        plan_image(image, impl_->options.chunk_size, has_many_regions(image));
    const MessageLog log = std::exchange(image.message_log, {});
    image.chunks.clear();
    image.page_runs = plan.page_runs;
    image.shared_runs.clear();
    image.pages = {plan.page_bytes, {}};
    image.is_packed = has_many_regions(image);

    RankGroup place(image);
    ImageSource source(reader, rank);
    impl_->note_rank(rank, "the file to be copied");
    impl_->open(rank, place);
    impl_->pipeline->run(
        source, plan, ChunkPipeline::Turn::running,
        [&](const StoredChunk &chunk) { impl_->store(place, chunk); }, [] {});
    impl_->close(place);
    impl_->require_version_of(image);
    impl_->file.note(image.chunks);
    impl_->file.note(image.pages.chunks);
    if (log.bytes > 0) {
        impl_->copy_message_log(reader, rank, log);
    }
}

Piece NodeFileWriter::commit()
{
    NodeFileHeader header = impl_->file.seal(impl_->ranks);
    impl_->publish(header.bytes);
    CKPT_INVARIANT(std::ranges::is_sorted(impl_->ranks) && header.bytes > 0);
    if (impl_->sharing) {
        impl_->options.sharing->learn(impl_->sharing->found());
    }
    return {impl_->file.path().filename().string(),
            impl_->host,
            header.bytes,
            header.checksum,
            impl_->ranks,
            impl_->shared.any() || impl_->connections.any(),
            impl_->options.identity,
            impl_->options.base.checkpoint,
            impl_->options.base.identity,
            header.salt};
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
