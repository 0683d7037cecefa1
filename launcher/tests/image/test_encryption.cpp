/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_encryption.cpp - images with a key: an attacker without the key can read nothing, and no
 * change, exchange or removal of data by the attacker is accepted.
 */
#include "config.h"
#include "image/nodefile/encoded_chunk.hpp"
#include "image/seal/file_seal.hpp"
#include "image/seal/image_key.hpp"
#include "image/store/manifest.hpp"
#include "image/nodefile/node_file_layout.hpp"
#include "image/nodefile/node_file_reader.hpp"
#include "image/write/node_file_writer.hpp"
#include "image/store/node_record.hpp"
#include "image/store/piece_chain.hpp"
#include "image/seal/sealed_text.hpp"
#include "image/store/store.hpp"
#include "image/store/tiers.hpp"

#include "common/checksum.hpp"
#include "common/files/files.hpp"
#include "tests/common/child_process.hpp"
#include "tests/common/logged_messages.hpp"

#include <gtest/gtest.h>
#include <sodium.h>

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>

using namespace ckpt;
using namespace ckpt::test;

namespace fs = std::filesystem;

namespace
{

constexpr const char *secret = "nobody is to read this line";

std::string read(const fs::path &path)
{
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

void write(const fs::path &path, const std::string &bytes)
{
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

bool contains(const std::string &text, const std::string &part)
{
    return text.find(part) != std::string::npos;
}

std::span<std::byte> bytes_of(std::string &text)
{
    return std::as_writable_bytes(std::span(text));
}

/* A process with text, random bytes and a message log; its images are made with a key. */
class Encryption : public testing::TestWithParam<const char *>
{
  protected:
    Encryption()
        : child([](Description &description) {
              fill_random(description.map(48 * page), 1);
              fill_text(description.map(64 * page), 2);
              auto line = description.map(page);
              std::memcpy(line.data(), secret, std::strlen(secret));
              description.add_string(secret);
          }),
          store(scratch.path())
    {
        use_this_image_key(MessageKey::make());
    }
    ~Encryption() override { use_this_image_key(std::nullopt); }

    /* Saves a new checkpoint of the job; returns its directory. */
    fs::path save(const std::string &job = "job")
    {
        Manifest manifest;
        manifest.job = job;
        manifest.number = store.next_number(job);
        manifest.rank_count = 1;
        manifest.hosts = {"n1"};
        const fs::path directory = store.begin_checkpoint(job, manifest.number);
        WriterOptions options;
        options.codec = Codec::parse(GetParam());
        options.chunk_size = 16 * page;
        NodeFileWriter writer(directory, "n1", options);
        writer.capture(child.pid(), child.snapshot());
        write(scratch / "log", message_log(100));
        writer.add_message_log(0, scratch / "log");
        manifest.pieces = {writer.commit()};
        manifest.write(directory);
        return directory;
    }

    /* Returns the error of reading a whole checkpoint; empty if it is good. */
    std::string verdict(std::uint64_t number, const std::string &job = "job") const
    {
        return error_of([&] {
            const Checkpoint found = store.resolve(fmt::format("{}/{}", job, number));
            for (const Piece &piece : found.manifest->pieces) {
                open_piece(found.directory, *found.manifest, piece).verify();
            }
        });
    }

    ScratchDirectory scratch;
    ChildProcess child;
    Store store;
};

INSTANTIATE_TEST_SUITE_P(Codec, Encryption, testing::Values("none", "zstd", "lz4", "auto"));

/* The places of the parts of a node file. */
struct Layout {
    explicit Layout(const std::string &bytes)
        : header(NodeFileHeader::parse(std::string_view(bytes).substr(0, header_size), "file")),
          extents(header.extent_count)
    {
        std::memcpy(extents.data(), &bytes[header.extents_offset()],
                    extents.size() * sizeof(Extent));
    }

    NodeFileHeader header;
    std::vector<Extent> extents;
};

/* Recomputes the checksum, as any attacker can. */
void mend_checksum(const fs::path &path)
{
    std::string bytes = read(path);
    Layout layout(bytes);
    const Fd fd = open_file(path, O_RDONLY, 0, "file");
    layout.header.checksum =
        checksum_outside(fd.get(), layout.header.bytes, layout.extents, path);
    bytes.replace(0, header_size, layout.header.text());
    write(path, bytes);
}

const fs::path node_file = "node-n1.h5";

} // namespace

/* ---- The cipher ------------------------------------------------------------------- */

TEST(FileSeal, IsTheCipherOfLibsodium)
{
    const MessageKey user = MessageKey::make();
    const FileSeal seal(user, "job/000001");
    const MessageKey key = user.derive("ckpt file " + seal.salt() + " job/000001");
    const std::string about = "what it is";
    for (std::size_t size : {0u, 1u, 63u, 64u, 4096u, 100001u}) {
        std::string plain(size, 'x'), sealed(size, ' '), again(size, ' ');
        std::array<std::byte, FileSeal::overhead> trailer;
        fill_random(bytes_of(plain), size);
        seal.close(bytes_of(plain), bytes_of(sealed), trailer, about);
        auto *nonce = reinterpret_cast<unsigned char *>(trailer.data());
        auto text = [](auto &string) { return reinterpret_cast<unsigned char *>(string.data()); };
        ASSERT_EQ(crypto_aead_xchacha20poly1305_ietf_decrypt_detached(
                      text(again), nullptr, text(sealed), size, nonce + FileSeal::nonce_size,
                      reinterpret_cast<const unsigned char *>(about.data()), about.size(), nonce,
                      key.bytes().data()),
                  0)
            << size;
        EXPECT_EQ(again, plain);
        ASSERT_TRUE(seal.open(bytes_of(sealed), trailer, about));
        EXPECT_EQ(sealed, plain);
    }
}

TEST(FileSeal, OpensOnlyWhatWasSealed)
{
    const MessageKey user = MessageKey::make();
    const FileSeal seal(user, "job/000001");
    std::string plain = "some bytes", sealed = plain;
    std::array<std::byte, FileSeal::overhead> trailer;
    seal.close(bytes_of(plain), bytes_of(sealed), trailer, "first");

    auto opens = [&](const FileSeal &with, std::string part, auto trailer, const char *about) {
        return with.open(bytes_of(part), trailer, about);
    };
    EXPECT_TRUE(opens(seal, sealed, trailer, "first"));
    EXPECT_FALSE(opens(seal, sealed, trailer, "second"));
    EXPECT_FALSE(opens(FileSeal(user, "job/000002", seal.salt()), sealed, trailer, "first"));
    EXPECT_FALSE(opens(FileSeal(user, "job/000001"), sealed, trailer, "first"));
    EXPECT_FALSE(
        opens(FileSeal(MessageKey::make(), "job/000001", seal.salt()), sealed, trailer, "first"));
    EXPECT_FALSE(opens(seal, sealed.substr(1), trailer, "first"));
    for (std::size_t bit = 0; bit < 8 * (sealed.size() + trailer.size()); bit++) {
        std::string part = sealed;
        auto other = trailer;
        if (bit / 8 < part.size()) {
            part[bit / 8] ^= static_cast<char>(1u << bit % 8);
        } else {
            other[bit / 8 - part.size()] ^= std::byte(1u << bit % 8);
        }
        EXPECT_FALSE(opens(seal, part, other, "first")) << bit;
    }
}

TEST(FileSeal, TheSameBytesAreNeverSealedTheSameWay)
{
    const FileSeal seal(MessageKey::make(), "job/000001");
    std::string plain(64, 'a'), one = plain, two = plain;
    std::array<std::byte, FileSeal::overhead> trailer;
    seal.close(bytes_of(plain), bytes_of(one), trailer, "");
    seal.close(bytes_of(plain), bytes_of(two), trailer, "");
    EXPECT_NE(one, two);
}

/* ---- The key ------------------------------------------------------------------------ */

class KeyFile : public testing::Test
{
  protected:
    ~KeyFile() override { use_this_image_key(std::nullopt); }

    std::string error_with(const std::string &text, mode_t mode)
    {
        write(path, text);
        ::chmod(path.c_str(), mode);
        return error_of([&] { use_image_key(path); });
    }

    ScratchDirectory scratch;
    const std::string path = scratch / "key";
    const std::string digits = MessageKey::make().text();
};

TEST_F(KeyFile, IsRead)
{
    EXPECT_EQ(error_with(digits + "\n", 0600), "");
    ASSERT_TRUE(image_key());
    EXPECT_EQ(image_key()->text(), digits);
    EXPECT_EQ(error_with(digits, 0400), "");
    EXPECT_TRUE(image_key());
    use_image_key("");
    EXPECT_FALSE(image_key());
}

TEST_F(KeyFile, ThatOthersCanReadIsRefused)
{
    for (mode_t mode : {0640, 0604, 0620, 0602, 0644}) {
        EXPECT_TRUE(contains(error_with(digits, mode), "by others")) << mode;
        EXPECT_FALSE(image_key());
    }
}

TEST_F(KeyFile, WithoutAKeyIsRefused)
{
    for (const std::string &text :
         {std::string(), digits.substr(1), digits + "0", digits + "\n\n", "x" + digits.substr(1),
          digits + " " + digits}) {
        EXPECT_TRUE(contains(error_with(text, 0600), "has no key")) << text;
    }
    EXPECT_TRUE(contains(error_of([&] { use_image_key(scratch / "none"); }), "cannot open key"));
    EXPECT_TRUE(contains(error_of([&] { use_image_key(scratch.path()); }), "not a regular file"));
}

TEST_F(KeyFile, IsACommand)
{
    use_image_key("|echo " + digits);
    EXPECT_EQ(image_key().value().text(), digits);
    EXPECT_TRUE(contains(error_of([&] { use_image_key("|echo " + digits + "; exit 3"); }),
                         "has failed with code 3"));
    EXPECT_FALSE(image_key());
    EXPECT_TRUE(contains(error_of([&] { use_image_key("|kill -9 $$"); }), "signal 9"));
    /* More bytes than a pipe holds, without a key. */
    EXPECT_TRUE(contains(error_of([&] { use_image_key("|head -c 1000000 /dev/zero"); }),
                         "has no key"));
}

/* ---- Texts ----------------------------------------------------------------------------- */

class SealedText : public testing::Test
{
  protected:
    SealedText() { use_this_image_key(MessageKey::make()); }
    ~SealedText() override { use_this_image_key(std::nullopt); }

    static std::string error_with(const std::string &text)
    {
        return error_of([&] { open_text(text, "manifest", "it"); });
    }

    const std::string text = "{\n  \"job\": \"a\"\n}\n";
};

TEST_F(SealedText, ComesBack)
{
    const std::string sealed = seal_text(text, "manifest");
    EXPECT_TRUE(contains(sealed, "\"seal\": \""));
    EXPECT_EQ(open_text(sealed, "manifest", "it"), text);
    use_this_image_key(std::nullopt);
    EXPECT_EQ(open_text(sealed, "manifest", "it"), text);
    EXPECT_EQ(open_text(text, "manifest", "it"), text);
    EXPECT_EQ(seal_text(text, "manifest"), text);
}

TEST_F(SealedText, EachBitCounts)
{
    const std::string sealed = seal_text(text, "manifest");
    for (std::size_t bit = 0; bit < 8 * sealed.size(); bit++) {
        std::string changed = sealed;
        changed[bit / 8] ^= static_cast<char>(1u << bit % 8);
        EXPECT_NE(error_with(changed), "") << bit;
    }
    for (std::size_t size = 0; size < sealed.size(); size++) {
        EXPECT_NE(error_with(sealed.substr(0, size)), "") << size;
        EXPECT_NE(error_with(sealed.substr(size + 1)), "") << size;
    }
}

TEST_F(SealedText, OfAnotherKindOrKeyIsRefused)
{
    EXPECT_TRUE(contains(error_with(seal_text(text, "record")), "without the key"));
    EXPECT_TRUE(contains(error_with(text), "was not made with a key"));
    const std::string sealed = seal_text(text, "manifest");
    use_this_image_key(MessageKey::make());
    EXPECT_TRUE(contains(error_with(sealed), "was made with another key"));
}

/* ---- Images ----------------------------------------------------------------------------- */

TEST_P(Encryption, ComesBackAndTellsNothing)
{
    const fs::path directory = save();
    EXPECT_EQ(verdict(1), "");
    const std::string bytes = read(directory / node_file);
    EXPECT_FALSE(contains(bytes, secret));
    EXPECT_FALSE(contains(bytes, "\x89HDF\r\n")); /* start of its tables */

    const Manifest manifest = Manifest::load(directory);
    const NodeFileReader reader = open_piece(directory, manifest, manifest.pieces[0]);
    const RankImage &image = reader.rank(0);
    EXPECT_TRUE(contains({image.strings.begin(), image.strings.end()}, secret));
    bool is_found = false;
    for (std::size_t i = 0; i < image.regions.size(); i++) {
        if (image.length(i) == page && image.reference(i) == nullptr) {
            std::string content(page, '\0');
            reader.read_region(0, i, bytes_of(content));
            is_found = is_found || content.starts_with(secret);
        }
    }
    EXPECT_TRUE(is_found);
}

TEST_P(Encryption, NeedsItsKey)
{
    const fs::path directory = save();
    const Piece piece = Manifest::load(directory).pieces[0];
    const MessageKey key = image_key().value();

    use_this_image_key(MessageKey::make());
    EXPECT_TRUE(contains(verdict(1), "was made with another key"));
    EXPECT_TRUE(contains(error_of([&] { NodeFileReader(directory / piece.file); }),
                         "was made with another key"));
    const Checkpoint found = store.checkpoints("job").front();
    EXPECT_EQ(found.state, Checkpoint::State::unreadable); /* so no command removes it as damaged */
    use_this_image_key(std::nullopt);
    EXPECT_TRUE(contains(verdict(1), "is encrypted"));
    EXPECT_EQ(store.checkpoints("job").front().state, Checkpoint::State::committed);
    use_this_image_key(key);
    EXPECT_EQ(verdict(1), "");
}

TEST_P(Encryption, APlainOneInItsPlaceIsRefused)
{
    const MessageKey key = image_key().value();
    const fs::path encrypted = save();
    use_this_image_key(std::nullopt);
    const fs::path plain = save();
    use_this_image_key(key);
    EXPECT_TRUE(contains(verdict(2), "was not made with a key"));

    write(encrypted / node_file, read(plain / node_file));
    EXPECT_NE(verdict(1), "");
    EXPECT_TRUE(contains(error_of([&] { NodeFileReader(encrypted / node_file); }),
                         "was not made with a key"));
    write(encrypted / "manifest.json", read(plain / "manifest.json"));
    EXPECT_TRUE(contains(verdict(1), "was not made with a key"));
}

/* The attacker recomputes all that needs no key; accidental damage is found anyway. */
TEST_P(Encryption, FlippedBitsAreFound)
{
    const fs::path directory = save();
    std::mt19937 chance(29);
    for (const fs::path &name : {node_file, fs::path("manifest.json")}) {
        const std::string good = read(directory / name);
        for (int i = 0; i < 40; i++) {
            const std::size_t bit = chance() % (8 * good.size());
            std::string bad = good;
            bad[bit / 8] ^= static_cast<char>(1u << bit % 8);
            write(directory / name, bad);
            EXPECT_NE(verdict(1), "") << name << " bit " << bit;
        }
        write(directory / name, good);
    }
    EXPECT_EQ(verdict(1), "");
}

TEST_P(Encryption, FlippedBitsOfTablesAreFoundWithARightChecksum)
{
    const fs::path directory = save();
    const std::string good = read(directory / node_file);
    const Layout layout(good);
    std::mt19937 chance(30);
    int found = 0;
    while (found < 40) {
        const std::size_t at = header_size + chance() % (good.size() - header_size);
        const bool is_chunk = std::ranges::any_of(layout.extents, [&](const Extent &extent) {
            return at >= extent.offset && at < extent.offset + extent.length;
        });
        if (is_chunk || at >= layout.header.extents_offset()) {
            continue;
        }
        std::string bad = good;
        bad[at] ^= static_cast<char>(1u << chance() % 8);
        write(directory / node_file, bad);
        mend_checksum(directory / node_file);
        const std::string error = error_of([&] { NodeFileReader(directory / node_file); });
        EXPECT_TRUE(contains(error, "without the key")) << at << ": " << error;
        found++;
    }
}

/* The chunks' checksums are in the tables, but an attacker can forge them. */
TEST_P(Encryption, AChunkIsWhatItIsInItsPlace)
{
    ScratchDirectory place;
    const FileSeal seal(image_key().value(), "job/000001");
    const ChunkSeal first{&seal, sealed_memory(0, 1)};
    std::string plain(4096, 'x'), sealed(plain.size() + FileSeal::overhead, '\0');
    EncodedChunk chunk;
    chunk.bytes = bytes_of(plain);
    chunk = seal_chunk(chunk, bytes_of(sealed), first, 7);

    auto error_with = [&](std::string bytes, const ChunkSeal &as, std::uint64_t index) {
        write(place / "chunk", bytes);
        const Fd fd = open_file(place / "chunk", O_RDONLY, 0, "file");
        ChunkBuffers buffers;
        ChunkRecord record{};
        record.index = index;
        record.size = static_cast<std::uint32_t>(bytes.size());
        record.checksum = checksum_of(bytes_of(bytes));
        record.coding = ChunkCoding::plain;
        return error_of([&] { decode_chunk(fd.get(), record, 4096, buffers, "it", as); });
    };
    EXPECT_EQ(error_with(sealed, first, 7), "");
    EXPECT_NE(error_with(sealed, first, 8), "");
    EXPECT_NE(error_with(sealed, {&seal, sealed_memory(0, 2)}, 7), "");
    EXPECT_NE(error_with(sealed, {&seal, sealed_memory(1, 1)}, 7), "");
    EXPECT_NE(error_with(sealed, {&seal, sealed_pages(0)}, 7), "");
    EXPECT_NE(error_with(sealed, {&seal, sealed_message_log(0)}, 7), "");
    for (std::size_t bit = 0; bit < 8 * sealed.size(); bit += 1009) {
        std::string bad = sealed;
        bad[bit / 8] ^= static_cast<char>(1u << bit % 8);
        EXPECT_NE(error_with(bad, first, 7), "") << bit;
    }
}

TEST_P(Encryption, SwappedChunksAreFound)
{
    const fs::path one = save(), two = save();
    const Manifest manifest = Manifest::load(one);
    std::vector<ChunkRecord> chunks;
    {
        const NodeFileReader reader = open_piece(one, manifest, manifest.pieces[0]);
        chunks = reader.rank(0).chunks;
    }
    const std::string good = read(one / node_file), other = read(two / node_file);
    int swaps = 0;
    for (const ChunkRecord &a : chunks) {
        for (const ChunkRecord &b : chunks) {
            if (a.offset >= b.offset || a.size != b.size) {
                continue;
            }
            std::string bad = good;
            bad.replace(a.offset, a.size, good, b.offset, b.size);
            bad.replace(b.offset, b.size, good, a.offset, a.size);
            write(one / node_file, bad);
            EXPECT_NE(verdict(1), "") << a.offset << " " << b.offset;
            swaps++;
        }
        /* The chunk in the same place of the next checkpoint, which has the same content. */
        std::string bad = good;
        if (a.offset + a.size <= other.size()) {
            bad.replace(a.offset, a.size, other, a.offset, a.size);
            write(one / node_file, bad);
            EXPECT_NE(verdict(1), "") << a.offset;
        }
    }
    EXPECT_GT(swaps, 0);
}

TEST_P(Encryption, SwappedPiecesAreFound)
{
    const fs::path one = save(), two = save(), foreign = save("another");
    const std::string good = read(one / node_file);
    write(one / node_file, read(two / node_file));
    EXPECT_NE(verdict(1), "");
    write(two / node_file, good);
    EXPECT_NE(verdict(2), "");
    write(one / node_file, read(foreign / node_file));
    EXPECT_NE(verdict(1), "");
    write(one / node_file, good);
    EXPECT_EQ(verdict(1), "");
}

/* The manifest would even allow its checksum and length. */
TEST_P(Encryption, APieceIsTheOneThatTheManifestNames)
{
    const fs::path one = save(), two = save();
    Manifest manifest = Manifest::load(one);
    const Manifest other = Manifest::load(two);
    manifest.pieces[0].checksum = other.pieces[0].checksum;
    manifest.pieces[0].bytes = other.pieces[0].bytes;
    manifest.write(one);
    write(one / node_file, read(two / node_file));
    EXPECT_TRUE(contains(verdict(1), "its salt is another one"));
    manifest.pieces[0].salt = other.pieces[0].salt;
    manifest.write(one);
    EXPECT_TRUE(contains(verdict(1), "is of checkpoint job/000002, not job/000001"));
}

TEST_P(Encryption, SwappedCheckpointsAreFound)
{
    const fs::path one = save(), two = save(), foreign = save("another");
    fs::rename(one, scratch / "aside");
    fs::rename(two, one);
    fs::rename(scratch / "aside", two);
    EXPECT_TRUE(contains(verdict(1), "in the place of job/1"));
    EXPECT_TRUE(contains(verdict(2), "in the place of job/2"));
    EXPECT_TRUE(contains(error_of([&] { store.resolve(one); }), "in the place of"));
    fs::remove_all(one);
    fs::copy(foreign, one);
    EXPECT_TRUE(contains(verdict(1), "it is checkpoint another/1, in the place of job/1"));
    for (const Checkpoint &checkpoint : store.checkpoints("job")) {
        EXPECT_EQ(checkpoint.state, Checkpoint::State::unreadable);
    }
    /* A copy with another name has the name that it states. */
    fs::copy(foreign, scratch / "a copy");
    EXPECT_EQ(store.resolve(scratch / "a copy").name(), "another/1");
}

TEST_P(Encryption, ARecordOfNodesIsAuthentic)
{
    const fs::path directory = save();
    NodeRecord record;
    record.manifest = Manifest::load(directory);
    record.directory = directory;
    record.write(scratch / "job");
    const fs::path path = fs::path(scratch / "job") / "nodes/1.json";
    EXPECT_EQ(NodeRecord::load(scratch / "job", 1).manifest.pieces[0].salt,
              record.manifest.pieces[0].salt);

    const std::string good = read(path);
    std::string bad = good;
    bad.replace(bad.find("n1"), 2, "n2");
    write(path, bad);
    EXPECT_TRUE(contains(error_of([&] { NodeRecord::load(scratch / "job", 1); }),
                         "without the key"));
    fs::remove_all(directory);
    const Checkpoint found =
        Tiers::open({scratch.path(), {}}).value().checkpoints("job").at(0).checkpoint;
    EXPECT_EQ(found.state, Checkpoint::State::unreadable); /* reported, not skipped */
    EXPECT_TRUE(contains(found.reason, "without the key"));
    fs::create_directories(scratch / "another/nodes");
    write(scratch / "another/nodes/1.json", good);
    EXPECT_TRUE(contains(error_of([&] { NodeRecord::load(scratch / "another", 1); }),
                         "is that of checkpoint job/1"));
}
