/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * image_decoders.cpp - decoders of the content of node files (headers, tables, chunks,
 * message logs) and of parity files.
 */
#include "config.h"
#include "fuzz/decoders.hpp"

#include "common/bytes.hpp"
#include "common/checksum.hpp"
#include "common/error.hpp"
#include "fuzz/scratch.hpp"
#include "image/nodefile/encoded_chunk.hpp"
#include "image/codec/lz4_chunk.hpp"
#include "image/nodefile/message_log.hpp"
#include "image/nodefile/message_log_content.hpp"
#include "image/nodefile/node_file_layout.hpp"
#include "image/model/rank_image.hpp"
#include "redundancy/parity_file.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

namespace ckpt::fuzz
{

namespace
{

constexpr std::size_t page_size = 4096;
constexpr std::size_t most_output = 1u << 20; /* bytes */

template <typename Record>
void append(std::string &bytes, const Record &record)
{
    bytes.append(reinterpret_cast<const char *>(&record), sizeof record);
}

/* Takes records from the start of the input; bytes beyond its end are zeros. */
class Input
{
  public:
    explicit Input(std::string_view bytes)
        : bytes_(bytes) {}

    template <typename Record>
    Record take()
    {
        Record record{};
        const std::size_t size = std::min(sizeof record, bytes_.size());
        std::memcpy(&record, bytes_.data(), size);
        bytes_.remove_prefix(size);
        return record;
    }
    template <typename Record>
    std::vector<Record> list(std::size_t count)
    {
        std::vector<Record> records(std::min(count, bytes_.size() / sizeof(Record)));
        for (Record &record : records) {
            record = take<Record>();
        }
        return records;
    }
    std::string_view rest() const { return bytes_; }

  private:
    std::string_view bytes_;
};

/* ---- Headers ------------------------------------------------------------------------- */

void decode_header(const std::string &bytes)
{
    const NodeFileHeader header = NodeFileHeader::parse(bytes, "n.h5");

    require(NodeFileHeader::parse(header.text(), "n.h5").checksum == header.checksum,
            "a header that cannot be said again");
}

NodeFileHeader sealed_header()
{
    NodeFileHeader header;

    header.version = sealed_version;
    header.bytes = 8192;
    header.seal_count = 1;
    header.key = std::string(16, 'a');
    header.salt = std::string(64, '5');
    header.owner = "job/000001";
    return header;
}

/* ---- Tables of a rank ---------------------------------------------------------------- */

/* How many records of each kind the input has. */
struct Counts {
    std::uint8_t regions, threads, files, runs;
};

std::string some_tables()
{
    const std::string strings("\0/d\0program\0"
                              "10000-11000 12000-13000\0",
                              36);
    ckpt_snapshot snapshot{};
    std::string bytes;

    snapshot.magic = CKPT_SNAPSHOT_MAGIC;
    snapshot.version = CKPT_SNAPSHOT_VERSION;
    snapshot.region_count = 2;
    snapshot.thread_count = 1;
    snapshot.file_count = 1;
    snapshot.strings_size = strings.size();
    snapshot.rank_count = 1;
    snapshot.working_directory = 1;
    snapshot.executable = 4;
    snapshot.excluded = 12;
    snapshot.resume_entry = 0x10000;
    append(bytes, Counts{2, 1, 1, 1});
    append(bytes, snapshot);
    append(bytes, ckpt_region{0x10000, 0x14000, 0, 0, 0, 3, CKPT_REGION_ANONYMOUS, 0, 0, 0});
    append(bytes, ckpt_region{0x20000, 0x21000, 0, 0, 0, 3, CKPT_REGION_STACK, 0, 0, 0});
    ckpt_thread thread{};
    thread.context = 0x20000;
    append(bytes, thread);
    ckpt_file file{};
    file.path = 1;
    file.payload = 0x10000;
    file.payload_size = 0x4000;
    append(bytes, file);
    append(bytes, PageRun{0x10000, 0x11000, 0, PageRun::data, 0});
    return bytes + strings;
}

RankImage image_of(const std::string &bytes)
{
    Input input(bytes);
    const auto counts = input.take<Counts>();
    RankImage image;

    image.snapshot = input.take<ckpt_snapshot>();
    image.regions = input.list<ckpt_region>(counts.regions);
    image.threads = input.list<ckpt_thread>(counts.threads);
    image.files = input.list<ckpt_file>(counts.files);
    image.page_runs = input.list<PageRun>(counts.runs);
    image.strings.assign(input.rest().begin(), input.rest().end());
    return image;
}

void decode_tables(const std::string &bytes)
{
    const RankImage image = image_of(bytes);

    require_sane_image(image, "rank 0");
    (void)excluded_pages(image);
    (void)has_many_regions(image);
    for (const ckpt_file &file : image.files) {
        require(std::strlen(image.text(file.path)) < image.strings.size(), "an endless path");
    }
    for (std::size_t i = 0; i < image.regions.size(); i++) {
        require(image.length(i) > 0, "an empty region");
    }
}

/* ---- Chunks -------------------------------------------------------------------------- */

std::string chunk_of(Codec::Kind kind)
{
    const std::string content(3 * page_size, 'c');
    std::vector<std::byte> output(content.size());
    Compressor compressor(Codec{kind, 1});
    const EncodedChunk chunk =
        encode_chunk(std::as_bytes(std::span(content)), output, compressor);
    std::string bytes(1, static_cast<char>(chunk.coding));

    append(bytes, static_cast<std::uint32_t>(content.size()));
    bytes.append(reinterpret_cast<const char *>(chunk.bytes.data()), chunk.bytes.size());
    return bytes;
}

/* The input has the coding, the decoded size, and the stored bytes. */
void decode_one_chunk(const std::string &bytes)
{
    Input input(bytes);
    const auto coding = static_cast<ChunkCoding>(input.take<std::uint8_t>() % 3);
    const std::size_t size = input.take<std::uint32_t>() % most_output;
    const std::string stored(input.rest());
    const MemoryFile file(stored);
    const auto content = std::as_bytes(std::span(stored));
    ChunkRecord chunk{0, 0, checksum_of(content), 0, static_cast<std::uint32_t>(stored.size()),
                      coding, 0};
    ChunkBuffers buffers;

    (void)lz4_chunk_content_size(content);
    const auto plain = decode_chunk(file.descriptor(), chunk, size, buffers, "chunk 0");
    require(plain.size() >= size || coding == ChunkCoding::plain, "a chunk that is too short");
    require(std::ranges::count(plain, std::byte(0)) >= 0, "bytes that cannot be read");
}

/* ---- Message logs -------------------------------------------------------------------- */

std::string some_log()
{
    std::string bytes;

    for (std::uint64_t order : {1, 2}) {
        append(bytes, ckpt_logged_message{CKPT_LOGGED_MAGIC, 0, 5, 0, 1, order, 0, 8 * order});
        bytes.append(8 * order, 'm');
    }
    return bytes;
}

/* Passes the log in two parts. */
void decode_log(const std::string &bytes)
{
    const auto all = std::as_bytes(std::span(bytes));
    const std::size_t cut = bytes.empty() ? 0 : static_cast<unsigned char>(bytes[0]) % all.size();
    MessageLogCheck check(bytes.size(), "the log");

    check.add(all.first(cut));
    check.add(all.subspan(cut));
    require(check.finish() <= bytes.size() / sizeof(ckpt_logged_message), "too many messages");
}

/* The input has the description of a log, its chunks, and the file that contains them. */
void decode_log_content(const std::string &bytes)
{
    Input input(bytes);
    MessageLog log;
    log.messages = input.take<std::uint64_t>();
    log.bytes = input.take<std::uint64_t>();
    log.chunks = input.list<ChunkRecord>(input.take<std::uint8_t>());
    const std::string stored(input.rest());
    const MemoryFile file(stored);
    for (ChunkRecord &chunk : log.chunks) {
        if (chunk.offset <= stored.size() && chunk.size <= stored.size() - chunk.offset) {
            chunk.checksum = checksum_of(
                std::as_bytes(std::span(stored)).subspan(chunk.offset, chunk.size));
        }
    }

    const MessageLogContent content(file.descriptor(), {stored.size(), 0}, log, 16 * page_size,
                                    "the log");
    content.verify([](std::uint64_t) {});
}

std::string some_log_content()
{
    const std::string log = some_log();
    std::string bytes;

    append(bytes, std::uint64_t{2});
    append(bytes, static_cast<std::uint64_t>(log.size()));
    append(bytes, std::uint8_t{1});
    append(bytes, ChunkRecord{0, 0, 0, 0, static_cast<std::uint32_t>(log.size()),
                              ChunkCoding::plain, 0});
    return bytes + log;
}

/* ---- Parity -------------------------------------------------------------------------- */

/* A parity file of which only the index is read. */
class IndexSource : public redundancy::BlockSource
{
  public:
    IndexSource(std::uint64_t blocks, std::string index)
        : blocks_(blocks), index_(std::move(index))
    {
    }

    std::uint64_t size(const std::string &) override { return blocks_ + index_.size(); }
    void read(const std::string &, std::uint64_t offset, std::span<std::byte> into) override
    {
        std::ranges::fill(into, std::byte(0));
        if (offset >= blocks_ && offset - blocks_ < index_.size()) {
            const std::size_t at = offset - blocks_;
            std::memcpy(into.data(), &index_[at], std::min(into.size(), index_.size() - at));
        }
    }

  private:
    const std::uint64_t blocks_;
    const std::string index_;
};

redundancy::Group some_group()
{
    return redundancy::Group::make(1, {{"a", "node-a.h5", 10000}, {"b", "node-b.h5", 5000}});
}

/* The input has the group, a newline, and the index. */
void decode_parity(const std::string &bytes)
{
    const std::size_t end = std::min(bytes.find('\n'), bytes.size());
    const auto group = nlohmann::json::parse(bytes.substr(0, end)).get<redundancy::Group>();
    std::string index = bytes.substr(std::min(end + 1, bytes.size()));
    IndexSource source(group.losses * group.chunk, index);

    (void)redundancy::ParityIndex::load(group, 0, source);
}

} // namespace

std::vector<Decoder> image_decoders()
{
    NodeFileHeader header;
    const auto group = some_group();

    header.bytes = 4096;
    return {
        {"node_header", {header.text(), sealed_header().text()}, decode_header},
        {"tables", {some_tables()}, decode_tables},
        {"chunk",
         {chunk_of(Codec::Kind::none), chunk_of(Codec::Kind::lz4), chunk_of(Codec::Kind::zstd)},
         decode_one_chunk},
        {"message_log", {some_log()}, decode_log},
        {"message_log_content", {some_log_content()}, decode_log_content},
        {"parity",
         {nlohmann::json(group).dump() + "\n" + redundancy::ParityIndex(group, 0).bytes()},
         decode_parity},
    };
}

} // namespace ckpt::fuzz
