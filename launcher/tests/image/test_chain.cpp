/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_chain.cpp - incremental pieces, each with only the pages changed since its base.
 */
#include "config.h"
#include "image/memory/change_tracker.hpp"
#include "image/seal/image_key.hpp"
#include "image/nodefile/node_file_reader.hpp"
#include "image/write/node_file_writer.hpp"
#include "image/store/piece_chain.hpp"
#include "image/pieces/piece_copy.hpp"
#include "image/pieces/piece_fold.hpp"
#include "image/store/store.hpp"
#include "image/pieces/tier_copy.hpp"
#include "tests/common/child_process.hpp"

#include <gtest/gtest.h>

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <numeric>
#include <random>

using namespace ckpt;
using namespace ckpt::test;

namespace fs = std::filesystem;

namespace
{

constexpr std::size_t big = 3 * mebibyte, small = 5 * page;
constexpr std::size_t many = 1500; /* enough to be packed */

/* A job with one rank, this process, whose memory is saved again and again. */
class Chain : public testing::TestWithParam<const char *>
{
  protected:
    Chain()
        : store(scratch.path())
    {
        if (has_key()) {
            use_this_image_key(MessageKey::make());
        }
        memory.push_back(own.map(big));
        memory.push_back(own.map(small));
        if (has_many_regions()) {
            std::span<std::byte> pages = own.map_pages(many);
            for (std::size_t i = 0; i < many; i++) {
                memory.push_back(pages.subspan(i * page, page));
            }
        }
        memory.push_back(own.map(mebibyte, 3, CKPT_REGION_SHARED));
        snapshot = own.finish();
        Fd descriptor(static_cast<int>(
            ::syscall(SYS_userfaultfd, PageWatch::descriptor_flags())));
        changes = std::make_shared<WatchedChanges>(
            ::getpid(), PageWatch(::getpid(), std::move(descriptor)));
    }

    ~Chain() override { use_this_image_key(std::nullopt); }

    /* Saves a checkpoint on top of another one; 0: a full checkpoint. */
    void save(std::uint64_t base, unsigned long identity)
    {
        Manifest manifest;
        manifest.job = "job";
        manifest.number = store.next_number("job");
        manifest.rank_count = 1;
        manifest.hosts = {"n1"};
        manifest.codec = GetParam();
        fs::path directory = store.begin_checkpoint("job", manifest.number);
        WriterOptions options;
        options.codec = codec();
        options.sharing = shares_pages() ? &sharing : nullptr;
        options.identity = identity;
        options.base = {base, base == 0 ? 0 : identities.at(base)};
        NodeFileWriter writer(directory, "n1", options);
        StoppedProcess process{::getpid(), snapshot};
        process.changes = changes;
        writer.finish(writer.begin(process).rank);
        manifest.pieces = {writer.commit()};
        manifest.write(directory);
        changes->committed();
        identities[manifest.number] = identity;
        std::vector<std::vector<std::byte>> content;
        for (auto &region : memory) {
            content.emplace_back(region.begin(), region.end());
        }
        saved[manifest.number] = content;
    }

    static Codec codec()
    {
        return Codec::parse(shares_pages() || has_many_regions() || has_key() ? "none"
                                                                              : GetParam());
    }
    /* Equal pages are stored once, and many pages are equal. */
    static bool shares_pages() { return GetParam() == std::string("shared"); }
    static bool has_key() { return GetParam() == std::string("encrypted"); }
    static bool has_many_regions() { return GetParam() == std::string("many"); }

    NodeFileReader open(std::uint64_t number) const { return open_in(store, number); }

    static NodeFileReader open_in(const Store &store, std::uint64_t number)
    {
        Checkpoint checkpoint = store.resolve(fmt::format("job/{}", number));
        return open_piece(checkpoint.directory, *checkpoint.manifest,
                          checkpoint.manifest->pieces.front());
    }

    /* Copies a checkpoint to the slow tier; returns the numbers of all copied checkpoints. */
    std::vector<std::uint64_t> copy_to_slow(std::uint64_t number) const
    {
        std::vector<std::uint64_t> copied;
        for (const TierCopy &copy :
             plan_tier_copies(scratch / "job", slow / "job", number)) {
            for (const Piece &piece : copy.pieces) {
                PieceCopy(copy.from, copy.to, piece, 0).run();
            }
            copy.publish();
            copied.push_back(copy.number);
        }
        return copied;
    }

    void expect_saved(std::uint64_t number) const { expect_saved_in(store, number); }

    void expect_saved_in(const Store &store, std::uint64_t number) const
    {
        NodeFileReader reader = open_in(store, number);
        reader.verify();
        const RankImage &image = reader.rank(0);
        std::size_t found = 0;
        for (std::size_t i = 0; i < image.regions.size(); i++) {
            for (std::size_t j = 0; j < memory.size(); j++) {
                if (image.regions[i].start !=
                    reinterpret_cast<std::uintptr_t>(memory[j].data())) {
                    continue;
                }
                found++;
                std::vector<std::byte> content(memory[j].size());
                reader.read_region(0, i, content);
                ASSERT_TRUE(content == saved.at(number)[j]) << number << " region " << j;
            }
        }
        ASSERT_EQ(found, memory.size());
    }

    std::uint64_t bytes(std::uint64_t number) const
    {
        return store.resolve(fmt::format("job/{}", number)).manifest->bytes();
    }

    fs::path piece(std::uint64_t number) const
    {
        return scratch / fmt::format("job/{:06}/node-n1.h5", number);
    }

    /* Gives some random pages new content, unmaps some and maps new ones. */
    void change(std::mt19937 &chance)
    {
        for (auto &region : memory) {
            const bool is_shared = &region == &memory.back();
            if (region.size() == page && chance() % 32 != 0) {
                continue;
            }
            std::size_t count = region.size() / page;
            for (std::size_t i = 0; i < count / 10 + 1; i++) {
                std::size_t length = std::min<std::size_t>(chance() % 4 + 1, count);
                std::size_t first = chance() % (count - length + 1);
                std::span place = region.subspan(first * page, length * page);
                unsigned what = chance() % 8;
                if (what == 0) {
                    ASSERT_EQ(::madvise(place.data(), place.size(), MADV_DONTNEED), 0);
                } else if (what == 1 && !is_shared) {
                    ASSERT_EQ(::mmap(place.data(), place.size(), PROT_READ | PROT_WRITE,
                                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
                              place.data());
                } else {
                    fill_random(place, shares_pages() ? chance() % 8 : chance());
                }
            }
        }
    }

    ScratchDirectory scratch, slow;
    Store store;
    SharingChoice sharing{Switch::on};
    Description own;
    std::vector<std::span<std::byte>> memory;
    std::uint64_t snapshot = 0;
    std::shared_ptr<ChangeTracker> changes;
    std::map<std::uint64_t, unsigned long> identities;
    std::map<std::uint64_t, std::vector<std::vector<std::byte>>> saved;
};

INSTANTIATE_TEST_SUITE_P(Codec, Chain,
                         testing::Values("none", "lz4", "zstd", "auto", "shared", "many",
                                         "encrypted"),
                         [](const auto &info) { return std::string(info.param); });

} // namespace

TEST_P(Chain, EachHasWhatWasThere)
{
    std::mt19937 chance(7);
    fill_random(memory[0], 1);
    for (unsigned long number = 1; number <= 12; number++) {
        save(number == 7 ? 0 : number - 1, 100 + number);
        change(chance);
    }
    for (std::uint64_t number = 1; number <= 12; number++) {
        expect_saved(number);
    }
    EXPECT_LT(bytes(2), bytes(1) * 3 / 4);
}

TEST_P(Chain, ManyRegionsArePackedAlsoInThoseWithAll)
{
    fill_random(memory[0], 1);
    for (std::span<std::byte> region : memory) {
        region.front() = std::byte{1};
    }
    save(0, 1);
    NodeFileReader reader = open(1);
    const RankImage &image = reader.rank(0);
    EXPECT_EQ(image.is_packed, has_many_regions());
    expect_saved(1);

    /* The stored bytes of each region, also in chunks with pages of several regions. */
    const std::vector<std::uint64_t> stored = ckpt::stored_bytes(image, reader.chunk_size());
    std::uint64_t all = 0, packed = 0;
    for (const std::vector<ckpt::ChunkRecord> *chunks : {&image.chunks, &image.pages.chunks}) {
        for (const ckpt::ChunkRecord &chunk : *chunks) {
            all += chunk.size;
        }
    }
    for (std::size_t i = 0; i < stored.size(); i++) {
        packed += ckpt::may_be_packed(image.regions[i]) && stored[i] > 0;
    }
    EXPECT_EQ(std::accumulate(stored.begin(), stored.end(), std::uint64_t(0)), all);
    EXPECT_GT(packed, has_many_regions() ? 1000u : 0u);
}

TEST_P(Chain, NothingChangedIsNothingSaved)
{
    fill_random(memory[0], 1);
    save(0, 1);
    save(1, 2);
    expect_saved(2);
    /* The description and the shared pages. */
    EXPECT_LT(bytes(2), mebibyte + mebibyte / 2);
}

TEST_P(Chain, ALostBaseIsTold)
{
    save(0, 1);
    save(1, 2);
    save(2, 3);
    fs::remove_all(piece(1).parent_path());
    auto found = store.checkpoints("job");
    ASSERT_EQ(found.size(), 2u);
    for (const Checkpoint &checkpoint : found) {
        EXPECT_EQ(checkpoint.state, Checkpoint::State::damaged);
    }
    EXPECT_NE(error_of([&] { store.resolve("job/3"); }).find("checkpoint 2, which is missing"),
              std::string::npos);
}

TEST_P(Chain, AnotherBaseIsTold)
{
    save(0, 1);
    save(1, 2);
    fs::rename(piece(2).parent_path(), scratch / "kept");
    fs::remove_all(piece(1).parent_path());
    fill_random(memory[0], 5);
    save(0, 9); /* is number 1 again */
    fs::rename(scratch / "kept", piece(2).parent_path());
    EXPECT_NE(error_of([&] { store.resolve("job/2"); }).find("on top of checkpoint 1"),
              std::string::npos);
}

TEST_P(Chain, DamageInTheBaseIsFound)
{
    fill_random(memory[0], 1);
    save(0, 1);
    save(1, 2);
    std::fstream file(piece(1), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(bytes(1) / 2));
    file.put('x');
    file.put('y');
    file.close();
    EXPECT_NE(error_of([&] { open(2).verify(); }), "");
}

TEST_P(Chain, GarbageIsWhatNobodyNeeds)
{
    for (unsigned long number = 1; number <= 4; number++) {
        save(number - 1, number);
    }
    EXPECT_TRUE(store.collect_garbage(1, "job").empty());
    save(0, 5);
    save(5, 6);
    EXPECT_TRUE(store.garbage(3, "job").checkpoints.empty());
    EXPECT_EQ(store.collect_garbage(2, "job").size(), 4u);
    expect_saved(6);
}

TEST_P(Chain, AFoldedPieceStandsAlone)
{
    std::mt19937 chance(11);
    fill_random(memory[0], 1);
    for (unsigned long number = 1; number <= 5; number++) {
        save(number - 1, number);
        change(chance);
    }
    WriterOptions options;
    options.codec = codec();
    fs::path third = store.directory_of("job", 3);
    replace_piece(third, PieceFold(third, identities[3], options).run());
    EXPECT_FALSE(fs::exists(third / "node-n1.h5"));
    EXPECT_EQ(store.collect_garbage(2, "job").size(), 2u);
    for (std::uint64_t number = 3; number <= 5; number++) {
        expect_saved(number);
    }
    EXPECT_EQ(store.resolve("job/3").manifest->pieces.front().base, 0u);
}

TEST_P(Chain, FoldingForNobodyLeavesNothing)
{
    save(0, 1);
    save(1, 2);
    fs::path second = store.directory_of("job", 2);
    Piece folded = PieceFold(second, identities[2], {}).run();
    EXPECT_TRUE(fs::exists(second / "whole-n1.h5"));
    store.remove(store.resolve("job/2"));
    EXPECT_NO_THROW(replace_piece(second, folded));
    EXPECT_FALSE(fs::exists(second));

    PieceFold cancelled(store.directory_of("job", 1), identities[1], {});
    cancelled.cancel();
    EXPECT_NE(error_of([&] { cancelled.run(); }).find("cancelled"), std::string::npos);
}

using Numbers = std::vector<std::uint64_t>;

TEST_P(Chain, ComesToTheSlowTier)
{
    std::mt19937 chance(13);
    fill_random(memory[0], 1);
    for (unsigned long number = 1; number <= 4; number++) {
        save(number == 3 ? 0 : number - 1, number);
        change(chance);
    }
    EXPECT_EQ(copy_to_slow(2), Numbers({1, 2}));
    EXPECT_EQ(copy_to_slow(2), Numbers());
    EXPECT_EQ(copy_to_slow(4), Numbers({3, 4}));
    fs::remove_all(scratch / "job");
    for (std::uint64_t number = 1; number <= 4; number++) {
        expect_saved_in(Store(slow.path()), number);
    }
}

TEST_P(Chain, FoldedPiecesComeToTheSlowTierAgain)
{
    fill_random(memory[0], 1);
    for (unsigned long number = 1; number <= 3; number++) {
        save(number - 1, number);
    }
    copy_to_slow(3);
    WriterOptions options;
    options.codec = codec();
    fs::path second = store.directory_of("job", 2);
    replace_piece(second, PieceFold(second, identities[2], options).run());
    EXPECT_EQ(copy_to_slow(3), Numbers({2}));
    Store there(slow.path());
    EXPECT_FALSE(fs::exists(there.directory_of("job", 2) / "node-n1.h5"));
    fs::remove_all(there.directory_of("job", 1));
    expect_saved_in(there, 3);
}

TEST_P(Chain, DamageDoesNotComeToTheSlowTier)
{
    fill_random(memory[0], 1);
    save(0, 1);
    std::fstream file(piece(1), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(bytes(1) / 2));
    file.put('x');
    file.put('y');
    file.close();
    EXPECT_NE(error_of([&] { copy_to_slow(1); }).find("damaged"), std::string::npos);
    EXPECT_TRUE(fs::is_empty(Store(slow.path()).directory_of("job", 1)));
}

TEST_P(Chain, AnotherOneOfTheNumberStays)
{
    save(0, 1);
    copy_to_slow(1);
    fs::path directory = store.directory_of("job", 1);
    Manifest manifest = Manifest::load(directory);
    manifest.created++;
    manifest.write(directory);
    EXPECT_NE(error_of([&] { copy_to_slow(1); }).find("another checkpoint"),
              std::string::npos);
}

TEST_P(Chain, CopyingCanBeCancelled)
{
    save(0, 1);
    fs::path there = slow / "job";
    PieceCopy copy(store.directory_of("job", 1), there,
                   store.resolve("job/1").manifest->pieces.front(), 0);
    copy.cancel();
    EXPECT_NE(error_of([&] { copy.run(); }).find("cancelled"), std::string::npos);
    EXPECT_TRUE(fs::is_empty(there));
}
