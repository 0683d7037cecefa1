/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_redundancy.cpp - lost pieces are rebuilt from the parity of the others, or not at all.
 */
#include "config.h"
#include "common/checksum.hpp"
#include "redundancy/parity_file.hpp"
#include "tests/common/mutations.hpp"
#include "tests/redundancy/piece_group.hpp"
#include "tests/common/small_groups.hpp"

#include <gtest/gtest.h>

#include <sys/stat.h>

#include <algorithm>
#include <bit>
#include <utility>

namespace ckpt::redundancy
{

namespace
{

namespace fs = std::filesystem;
using test::damage;
using test::error_of;
using test::PieceGroup;

/* Lengths of all kinds: 0, 1 byte, whole pages and partial pages. */
std::vector<std::uint64_t> mixed_sizes(unsigned members)
{
    const std::uint64_t all[] = {0, 1, 4096, 70000, 4095, 40961, 12288, 65536};

    return {all, all + members};
}

/* ---- Rebuilt pieces --------------------------------------------------------------- */

std::set<std::size_t> members_of(unsigned subset)
{
    std::set<std::size_t> all;

    for (std::size_t i = 0; i < 32; i++) {
        if ((subset >> i & 1) != 0) {
            all.insert(i);
        }
    }
    return all;
}

class EveryLoss : public testing::TestWithParam<Sizes>
{
};

TEST_P(EveryLoss, IsRebuilt)
{
    const auto [members, losses] = GetParam();
    PieceGroup nodes(losses, mixed_sizes(members));

    nodes.protect();
    for (unsigned subset = 1; subset < 1u << members; subset++) {
        if (std::popcount(subset) > static_cast<int>(losses)) {
            continue;
        }
        const auto lost = members_of(subset);
        for (std::size_t i : lost) {
            ASSERT_TRUE(nodes.rebuilt_from(i, nodes.sources(lost)) == nodes.content(i))
                << "member " << i << " of the lost ones " << subset;
        }
    }
}

TEST_P(EveryLoss, BeyondWhatTheGroupSurvivesIsToldByName)
{
    const auto [members, losses] = GetParam();
    PieceGroup nodes(losses, std::vector<std::uint64_t>(members, 5000));
    std::set<std::size_t> lost;

    nodes.protect();
    for (std::size_t i = 0; i <= losses; i++) {
        lost.insert(i);
    }
    const std::string error = error_of([&] { (void)nodes.rebuilt_from(0, nodes.sources(lost)); });
    EXPECT_NE(error.find("the piece of n0 cannot be rebuilt"), error.npos) << error;
}

INSTANTIATE_TEST_SUITE_P(Groups, EveryLoss, testing::ValuesIn(small_groups()));

/* More than one slice, the last one shorter; and pieces that end at different slices. */
TEST(Rebuild, LongPieces)
{
    for (unsigned losses : {1u, 2u}) {
        PieceGroup nodes(losses, {7 * slice_bytes + 12345, 2 * slice_bytes, 5 * slice_bytes + 1,
                                  3 * slice_bytes - 1});
        nodes.protect();
        for (std::size_t i = 0; i < nodes.size(); i++) {
            EXPECT_TRUE(nodes.rebuilt(i) == nodes.content(i)) << i;
        }
    }
}

TEST(Rebuild, EmptyPiecesOnly)
{
    PieceGroup nodes(1, {0, 0, 0});

    nodes.protect();
    EXPECT_EQ(nodes.rebuilt(1), "");
    EXPECT_GT(fs::file_size(nodes.parity(0)), sizeof(ParityTail));
}

TEST(Rebuild, TheNewFileIsOursAlone)
{
    PieceGroup nodes(1, {5000, 6000});

    nodes.protect();
    EXPECT_EQ(fs::status(nodes.parity(0)).permissions(),
              fs::perms::owner_read | fs::perms::owner_write);
}

/* ---- Damage ------------------------------------------------------------------------- */

/* Damage in any slice of any file that is read: with one loss, no other block can replace it. */
TEST(Damage, IsFoundBeforeItIsUsed)
{
    const std::vector<std::uint64_t> sizes(3, 3 * slice_bytes);
    for (std::uint64_t offset : {std::uint64_t{0}, slice_bytes - 1, slice_bytes}) {
        for (bool is_piece : {true, false}) {
            PieceGroup nodes(1, sizes);
            nodes.protect();
            /* Its second chunk is in a stripe with the first one of member 0. */
            if (is_piece) {
                damage(nodes.piece(1), nodes.group.chunk + offset);
            } else {
                damage(nodes.parity(1), offset);
            }
            const std::string error = error_of([&] { (void)nodes.rebuilt(0); });
            EXPECT_NE(error.find("cannot be rebuilt"), error.npos) << error;
            EXPECT_NE(error.find("n1: its block of stripe"), error.npos) << error;
        }
    }
}

/* Two losses are tolerated: a lost member, and single damaged slices of different members. */
TEST(Damage, IsMadeUpForAsFarAsTheParityGoes)
{
    PieceGroup nodes(2, std::vector<std::uint64_t>(4, 6 * slice_bytes));

    nodes.protect();
    damage(nodes.piece(1), 0);
    damage(nodes.piece(2), slice_bytes + 7);
    damage(nodes.piece(3), 5 * slice_bytes + 7);
    damage(nodes.parity(1), 2 * slice_bytes + 7);
    EXPECT_TRUE(nodes.rebuilt(0) == nodes.content(0));
}

TEST(Damage, APieceThatIsGoneOrTooShortIsLost)
{
    PieceGroup nodes(2, std::vector<std::uint64_t>(4, 100000));

    nodes.protect();
    fs::remove(nodes.piece(1));
    EXPECT_TRUE(nodes.rebuilt(0) == nodes.content(0));
    fs::remove(nodes.parity(2));
    fs::resize_file(nodes.piece(3), 99999);
    const std::string error = error_of([&] { (void)nodes.rebuilt(0); });
    for (const char *part :
         {"cannot be rebuilt", "n1: cannot open file", "n2: cannot open file",
          "n3: the piece node-n3.h5 of n3 has 99999 bytes, not 100000"}) {
        EXPECT_NE(error.find(part), error.npos) << error;
    }
}

/* A parity file that is incomplete or foreign is not used at all. */
TEST(Damage, OfAnIndexLosesTheParity)
{
    const auto error_after = [](auto change) {
        PieceGroup nodes(1, {100000, 100000, 100000});
        nodes.protect();
        change(nodes);
        return error_of([&] { (void)nodes.rebuilt(0); });
    };
    const auto size = [](PieceGroup &nodes) { return fs::file_size(nodes.parity(1)); };
    const auto expect_lost = [&](auto change, const std::string &why) {
        const std::string error = error_after(change);
        EXPECT_NE(error.find("n1: parity-n1.bin " + why), error.npos) << error;
    };

    expect_lost([&](auto &nodes) { damage(nodes.parity(1), size(nodes) - 1); },
                "has an index that is damaged");
    expect_lost([&](auto &nodes) { damage(nodes.parity(1), size(nodes) - 100); },
                "has an index that is damaged");
    expect_lost([&](auto &nodes) { damage(nodes.parity(1), nodes.group.chunk); },
                "has an index that is damaged");
    expect_lost([&](auto &nodes) { damage(nodes.parity(1), size(nodes) - 40); },
                "is not a parity file");
    expect_lost([&](auto &nodes) { damage(nodes.parity(1), size(nodes) - 32); },
                "has version 5, not 1");
    expect_lost(
        [&](auto &nodes) { fs::resize_file(nodes.parity(1), nodes.group.chunk + 10); },
        "has 53258 bytes, and cannot be what the group needs");
    expect_lost([&](auto &nodes) { fs::resize_file(nodes.parity(1), size(nodes) << 20); },
                "has ");
    expect_lost(
        [&](auto &nodes) {
            fs::copy_file(nodes.parity(2), nodes.parity(1),
                          fs::copy_options::overwrite_existing);
        },
        "is of another group or another member");
}

/* Any change to the index is detected. */
TEST(Damage, NothingButTheIndexThatWasWrittenIsTaken)
{
    PieceGroup nodes(1, {9000, 5000, 7000});
    nodes.protect(1);
    const std::string good = read_text_file(nodes.parity(1), "parity");
    const std::string blocks = good.substr(0, nodes.group.chunk);

    test::for_rounds(500, [&](test::Mutations &mutations) {
        const std::string changed = mutations.bytes(good.substr(nodes.group.chunk));
        write_text_file(nodes.parity(1), blocks + changed, "parity");
        LocalSource source(nodes.directory(1));
        try {
            EXPECT_EQ(blocks + ParityIndex::load(nodes.group, 1, source).bytes(), good);
        } catch (const Error &) {
        }
    });
}

/* The parity of another checkpoint has the same numbers, but other pieces. */
TEST(Damage, TheParityOfAnotherCheckpointIsNotTaken)
{
    PieceGroup nodes(1, {100000, 100000, 100000}), others(1, {100000, 99999, 100000});

    nodes.protect();
    others.protect();
    fs::copy_file(others.parity(1), nodes.parity(1), fs::copy_options::overwrite_existing);
    const std::string error = error_of([&] { (void)nodes.rebuilt(0); });
    EXPECT_NE(error.find("is of another group or another member"), error.npos) << error;
}

/* The blocks are good, but the checksums of their result are wrong. */
TEST(Damage, WhatIsMadeIsCompared)
{
    PieceGroup nodes(1, {100000, 100000, 100000});

    nodes.protect();
    LocalSource source(nodes.directory(1));
    ParityIndex index = ParityIndex::load(nodes.group, 1, source);
    /* Member 0 gives the first block of data to stripe 1. */
    index.checksum(1, 0, 0)++;
    const std::string bytes = index.bytes();
    Fd fd = open_file(nodes.parity(1), O_RDWR, 0, "parity");
    ASSERT_EQ(write_exactly(fd.get(), bytes.data(), bytes.size(), nodes.group.chunk), 0);
    const std::string error = error_of([&] { (void)nodes.rebuilt(0); });
    EXPECT_NE(error.find("do not fit one another"), error.npos) << error;
}

/* ---- Failures in the middle ----------------------------------------------------------- */

/* Calls a function before a read. */
class DisturbedSource : public BlockSource
{
  public:
    DisturbedSource(fs::path directory, int reads, std::function<void()> disturb)
        : source_(std::move(directory)), reads_(reads), disturb_(std::move(disturb))
    {
    }

    std::uint64_t size(const std::string &file) override { return source_.size(file); }
    void read(const std::string &file, std::uint64_t offset,
              std::span<std::byte> into) override
    {
        if (reads_-- == 0) {
            disturb_();
        }
        source_.read(file, offset, into);
    }

  private:
    LocalSource source_;
    int reads_;
    std::function<void()> disturb_;
};

std::size_t files_in(const fs::path &directory)
{
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(directory), fs::directory_iterator()));
}

TEST(Protect, NothingIsLeftOfAFailure)
{
    PieceGroup nodes(1, std::vector<std::uint64_t>(3, 5 * slice_bytes));
    DisturbedSource failing(nodes.directory(1), 1, [] { fail("no more"); });
    auto sources = nodes.sources();
    sources[1] = &failing;

    EXPECT_EQ(error_of([&] { nodes.protect(0, sources); }), "no more");
    EXPECT_EQ(files_in(nodes.directory(0)), 1u);
    nodes.protect(0);
    EXPECT_EQ(files_in(nodes.directory(0)), 2u);
}

TEST(Protect, CanBeCancelled)
{
    PieceGroup nodes(1, std::vector<std::uint64_t>(3, 5 * slice_bytes));
    std::atomic<bool> cancelled = false;
    DisturbedSource cancelling(nodes.directory(1), 1, [&] { cancelled = true; });
    auto sources = nodes.sources();
    sources[1] = &cancelling;

    EXPECT_EQ(error_of([&] {
                  write_parity(nodes.group, 0, nodes.directory(0), sources, nullptr,
                               cancelled);
              }),
              "protecting a checkpoint was cancelled");
    EXPECT_EQ(files_in(nodes.directory(0)), 1u);
}

TEST(Protect, APieceOfAnotherLengthIsNotTaken)
{
    PieceGroup nodes(1, {5000, 6000});

    fs::resize_file(nodes.piece(1), 6001);
    EXPECT_EQ(error_of([&] { nodes.protect(0); }),
              "the piece node-n1.h5 of n1 has 6001 bytes, not 6000");
    EXPECT_NE(error_of([&] { nodes.protect(0, nodes.sources({1})); }), "");
    EXPECT_EQ(files_in(nodes.directory(0)), 1u);
}

TEST(Protect, ItsOwnPieceIsNotRead)
{
    PieceGroup nodes(1, {5000, 6000, 7000});

    nodes.protect(0, nodes.sources({0}));
    EXPECT_EQ(files_in(nodes.directory(0)), 2u);
}

class ProtectInRoom : public testing::Test
{
  protected:
    ProtectInRoom()
        : nodes_(1, {3 * slice_bytes, slice_bytes + 5})
    {
        nodes_.protect();
        expected_ = parity();
        fs::remove(nodes_.parity(0));
    }

    void make_room(std::size_t bytes)
    {
        write_text_file(room_, std::string(bytes, 'x'), "file");
    }
    void protect()
    {
        write_parity(nodes_.group, 0, nodes_.directory(0), nodes_.sources(), nullptr,
                     nodes_.never, room_);
    }
    std::string parity() const { return read_text_file(nodes_.parity(0), "parity"); }
    static ino_t inode(const fs::path &path)
    {
        struct stat status = {};
        EXPECT_EQ(::lstat(path.c_str(), &status), 0) << path;
        return status.st_ino;
    }

    PieceGroup nodes_;
    std::string expected_; /* in the parity file */
    const fs::path room_ = nodes_.directory(0) / "room";
};

TEST_F(ProtectInRoom, AFileOfAnyLengthIsOverwritten)
{
    for (std::size_t bytes : {std::size_t{0}, std::size_t{5000}, expected_.size(),
                              expected_.size() + 1, expected_.size() + 10 * slice_bytes}) {
        make_room(bytes);
        const ino_t before = inode(room_);
        protect();
        EXPECT_TRUE(parity() == expected_) << bytes;
        EXPECT_EQ(inode(nodes_.parity(0)), before);
        EXPECT_EQ(files_in(nodes_.directory(0)), 2u);
    }
}

TEST_F(ProtectInRoom, WhatMayBeNeededIsLeftAlone)
{
    const fs::path other = nodes_.directory(0) / "other";
    const auto is_left = [&] {
        const std::string before = read_text_file(room_, "file");
        const ino_t which = inode(room_);
        protect();
        EXPECT_TRUE(parity() == expected_);
        EXPECT_NE(inode(nodes_.parity(0)), which);
        return inode(room_) == which && read_text_file(room_, "file") == before;
    };

    make_room(5000);
    fs::create_hard_link(room_, other);
    EXPECT_TRUE(is_left()) << "another name";
    fs::remove(room_);
    fs::create_symlink(other, room_);
    EXPECT_TRUE(is_left()) << "a link";
    fs::remove(room_);
    fs::rename(other, room_);
    fs::permissions(room_, fs::perms(0640));
    EXPECT_TRUE(is_left()) << "not ours alone";
    fs::remove(room_);
    fs::create_directory(room_);
    protect();
    EXPECT_TRUE(parity() == expected_);
    fs::remove(room_);
    protect();
    EXPECT_TRUE(parity() == expected_) << "nothing";
}

TEST_F(ProtectInRoom, NothingIsLeftOfAFailure)
{
    make_room(expected_.size());
    DisturbedSource failing(nodes_.directory(1), 1, [] { fail("no more"); });
    auto sources = nodes_.sources();
    sources[1] = &failing;

    EXPECT_EQ(error_of([&] {
                  write_parity(nodes_.group, 0, nodes_.directory(0), sources, nullptr,
                               nodes_.never, room_);
              }),
              "no more");
    EXPECT_EQ(files_in(nodes_.directory(0)), 1u);
}

/* The limit counts all that is written: three slices, at four a second. */
TEST(Protect, IsWrittenWithinTheLimit)
{
    PieceGroup nodes(1, {3 * slice_bytes, 3 * slice_bytes});
    WriteLimit limit(4 * slice_bytes);
    const auto begin = std::chrono::steady_clock::now();

    write_parity(nodes.group, 0, nodes.directory(0), nodes.sources(), &limit, nodes.never);
    EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(500));
}

TEST(Rebuild, NothingIsLeftOfAFailure)
{
    PieceGroup nodes(1, std::vector<std::uint64_t>(3, 5 * slice_bytes));
    nodes.protect();
    std::atomic<bool> cancelled = false;
    DisturbedSource cancelling(nodes.directory(1), 3, [&] { cancelled = true; });
    DisturbedSource failing(nodes.directory(1), 3, [] { fail("no more"); });
    auto sources = nodes.sources({0});
    fs::remove(nodes.piece(0));
    fs::remove(nodes.parity(0));

    sources[1] = &cancelling;
    EXPECT_EQ(error_of([&] {
                  rebuild_piece(nodes.group, 0, nodes.directory(0), sources, cancelled);
              }),
              "rebuilding a piece was cancelled");
    sources[1] = &failing;
    const std::string error = error_of([&] {
        rebuild_piece(nodes.group, 0, nodes.directory(0), sources, nodes.never);
    });
    EXPECT_NE(error.find("n1: no more"), error.npos) << error;
    EXPECT_EQ(files_in(nodes.directory(0)), 0u);
}

/* A member that fails in the middle counts as one more lost member. */
TEST(Rebuild, GoesOnWithoutAMemberThatFails)
{
    PieceGroup nodes(2, std::vector<std::uint64_t>(5, 9 * slice_bytes));
    nodes.protect();

    for (int reads : {1, 2, 5}) {
        DisturbedSource failing(nodes.directory(2), reads, [] { fail("no more"); });
        auto sources = nodes.sources({0});
        sources[2] = &failing;
        EXPECT_TRUE(nodes.rebuilt_from(0, sources) == nodes.content(0)) << reads;
    }
}

/* ---- Copies ---------------------------------------------------------------------------- */

TEST(Fetch, CopiesAPiece)
{
    PieceGroup nodes(1, {3 * slice_bytes + 5, 0});

    for (std::size_t i : {0, 1}) {
        LocalSource source(nodes.directory(i));
        fetch_piece(nodes.group.members[i], nodes.root(0), source);
        const auto copy = nodes.root(0) / nodes.group.members[i].file;
        EXPECT_TRUE(read_text_file(copy, "piece") == nodes.content(i));
    }
}

TEST(Fetch, APieceOfAnotherLengthIsNotTaken)
{
    PieceGroup nodes(1, {5000, 5000});
    LocalSource source(nodes.directory(1));

    fs::resize_file(nodes.piece(1), 4999);
    EXPECT_NE(error_of([&] { fetch_piece(nodes.group.members[1], nodes.root(0), source); }),
              "");
    EXPECT_EQ(files_in(nodes.root(0)), 1u);
}

/* ---- A source on this node ---------------------------------------------------------------- */

TEST(LocalSource, HasZerosBeyondTheEnd)
{
    PieceGroup nodes(1, {10, 10});
    LocalSource source(nodes.directory(0));
    std::string bytes(20, 'x');

    EXPECT_EQ(source.size(nodes.group.members[0].file), 10u);
    source.read(nodes.group.members[0].file, 5, std::as_writable_bytes(std::span(bytes)));
    EXPECT_EQ(bytes, nodes.content(0).substr(5) + std::string(15, '\0'));
    source.read(nodes.group.members[0].file, ~0ull >> 1,
                std::as_writable_bytes(std::span(bytes)));
    EXPECT_EQ(bytes, std::string(20, '\0'));
}

TEST(LocalSource, WhatIsNoFileIsRefused)
{
    PieceGroup nodes(1, {10, 10});
    LocalSource source(nodes.root(0));

    EXPECT_NE(error_of([&] { (void)source.size("no"); }), "");
    EXPECT_NE(error_of([&] { (void)source.size(test::group_job); }), "");
    fs::create_symlink(nodes.piece(0), nodes.root(0) / "link");
    EXPECT_NE(error_of([&] { (void)source.size("link"); }), "");
}

} // namespace

} // namespace ckpt::redundancy
