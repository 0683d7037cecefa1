/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_layout.cpp - the bytes that a datatype covers, compared with the type maps of the standard
 * (MPI 3.1, section 4.1), which are written out here; and the packed stream of these bytes,
 * compared with a copy byte by byte.
 */
#define OMPI_SKIP_MPICXX 1
extern "C" {
#include "independent/log/layout.h"
#include "tests/fake_datatypes.h"
}

#include <gtest/gtest.h>

#include <cstdint>
#include <list>
#include <random>
#include <utility>
#include <vector>

namespace
{

using Places = std::vector<std::int64_t>; /* of bytes, in the order of the type map */

/* A datatype with all types that it refers to. */
struct Type {
    fake_datatype fake{};
    std::vector<int> integers;
    std::vector<MPI_Aint> addresses;
    std::vector<fake_datatype *> types;
    Places map; /* of one element */
};

/* Constructors of the standard. Each takes the arguments of MPI_Type_get_contents, and computes the
 * type map from the standard's definition. */
class Types
{
  public:
    Types() { fake_datatypes_open(); }

    Type &named(MPI_Aint extent)
    {
        Type &type = made(MPI_COMBINER_NAMED, extent, {}, {}, {});
        for (MPI_Aint at = 0; at < extent; at++) {
            type.map.push_back(at);
        }
        return type;
    }

    Type &contiguous(int count, Type &inner)
    {
        Type &type = made(MPI_COMBINER_CONTIGUOUS, count * inner.fake.extent, {count}, {},
                          {&inner});
        add(type, inner, 0, count);
        return type;
    }

    /* The stride is in elements (MPI_Type_vector) or bytes (MPI_Type_create_hvector). */
    Type &vector(int count, int length, int stride, bool in_bytes, Type &inner)
    {
        const MPI_Aint step = in_bytes ? stride : stride * inner.fake.extent;
        const MPI_Aint extent = (count - 1) * step + length * inner.fake.extent;
        Type &type = in_bytes ? made(MPI_COMBINER_HVECTOR, extent, {count, length}, {stride},
                                     {&inner})
                              : made(MPI_COMBINER_VECTOR, extent, {count, length, stride}, {},
                                     {&inner});
        for (int i = 0; i < count; i++) {
            add(type, inner, i * step, length);
        }
        return type;
    }

    /* Blocks of different lengths, or all as long as the first. */
    Type &indexed(const std::vector<int> &lengths, const std::vector<int> &places,
                  bool in_bytes, bool one_length, MPI_Aint extent, Type &inner)
    {
        const int count = static_cast<int>(places.size());
        std::vector<int> integers{count};
        std::vector<MPI_Aint> addresses;
        integers.insert(integers.end(), lengths.begin(),
                        one_length ? lengths.begin() + 1 : lengths.end());
        if (in_bytes) {
            addresses.assign(places.begin(), places.end());
        } else {
            integers.insert(integers.end(), places.begin(), places.end());
        }
        const int combiner = one_length ? in_bytes ? MPI_COMBINER_HINDEXED_BLOCK
                                                   : MPI_COMBINER_INDEXED_BLOCK
                             : in_bytes ? MPI_COMBINER_HINDEXED
                                        : MPI_COMBINER_INDEXED;
        Type &type = made(combiner, extent, integers, addresses, {&inner});
        for (int i = 0; i < count; i++) {
            add(type, inner, places[i] * (in_bytes ? 1 : inner.fake.extent),
                one_length ? lengths[0] : lengths[i]);
        }
        return type;
    }

    Type &structure(const std::vector<int> &lengths, const std::vector<MPI_Aint> &places,
                    MPI_Aint extent, const std::vector<Type *> &inner)
    {
        std::vector<int> integers{static_cast<int>(lengths.size())};
        integers.insert(integers.end(), lengths.begin(), lengths.end());
        Type &type = made(MPI_COMBINER_STRUCT, extent, integers, places, inner);
        for (std::size_t i = 0; i < lengths.size(); i++) {
            add(type, *inner[i], places[i], lengths[i]);
        }
        return type;
    }

    /* An array of two or three dimensions. */
    Type &subarray(const std::vector<int> &sizes, const std::vector<int> &subsizes,
                   const std::vector<int> &starts, int order, Type &inner)
    {
        const int dimensions = static_cast<int>(sizes.size());
        std::vector<int> integers{dimensions};
        MPI_Aint extent = inner.fake.extent;
        for (const auto *numbers : {&sizes, &subsizes, &starts}) {
            integers.insert(integers.end(), numbers->begin(), numbers->end());
        }
        integers.push_back(order);
        for (int size : sizes) {
            extent *= size;
        }
        Type &type = made(MPI_COMBINER_SUBARRAY, extent, integers, {}, {&inner});
        add_subarray(type, inner, sizes, subsizes, starts, order);
        return type;
    }

    Type &resized(MPI_Aint extent, Type &inner)
    {
        Type &type = made(MPI_COMBINER_RESIZED, extent, {}, {0, extent}, {&inner});
        add(type, inner, 0, 1);
        return type;
    }

    Type &made(int combiner, MPI_Aint extent, const std::vector<int> &integers,
               const std::vector<MPI_Aint> &addresses, const std::vector<Type *> &inner)
    {
        Type &type = all_.emplace_back();
        type.integers = integers;
        type.addresses = addresses;
        for (Type *one : inner) {
            type.types.push_back(&one->fake);
        }
        type.fake = {extent,
                     combiner,
                     type.integers.data(),
                     static_cast<int>(type.integers.size()),
                     type.addresses.data(),
                     static_cast<int>(type.addresses.size()),
                     type.types.data(),
                     static_cast<int>(type.types.size())};
        return type;
    }

    static void add(Type &type, const Type &inner, std::int64_t start, int count)
    {
        for (int i = 0; i < count; i++) {
            for (std::int64_t place : inner.map) {
                type.map.push_back(start + i * inner.fake.extent + place);
            }
        }
    }

  private:
    /* Visits every element of the whole array, in memory order, and adds those in the part. */
    static void add_subarray(Type &type, const Type &inner, const std::vector<int> &sizes,
                             const std::vector<int> &subsizes, const std::vector<int> &starts,
                             int order)
    {
        const int dimensions = static_cast<int>(sizes.size());
        std::int64_t count = 1;
        for (int size : sizes) {
            count *= size;
        }
        for (std::int64_t element = 0; element < count; element++) {
            std::int64_t rest = element;
            bool is_in = true;
            for (int k = 0; k < dimensions; k++) { /* the fastest one first */
                const int d = order == MPI_ORDER_C ? dimensions - 1 - k : k;
                const auto at = rest % sizes[d];
                rest /= sizes[d];
                is_in = is_in && at >= starts[d] && at < starts[d] + subsizes[d];
            }
            if (is_in) {
                add(type, inner, element * inner.fake.extent, 1);
            }
        }
    }

    std::list<Type> all_; /* types never move */
};

class Layout
{
  public:
    Layout() { ckpt_layout_begin(&layout); }
    ~Layout() { ckpt_layout_free(&layout); }

    int add(Type &type, int count)
    {
        return ckpt_layout_add(&layout, fake_handle(&type.fake), count);
    }

    Places places() const
    {
        Places places;
        for (std::uint32_t i = 0; i < layout.count; i++) {
            const auto start = static_cast<std::int64_t>(layout.range[i].start);
            for (std::uint64_t at = 0; at < layout.range[i].bytes; at++) {
                places.push_back(start + static_cast<std::int64_t>(at));
            }
        }
        return places;
    }

    ckpt_layout layout;
};

class Maps : public testing::Test
{
  protected:
    /* The layout of `count` elements equals the standard's, and all contents are freed. */
    void expect_right(Type &type, int count = 3)
    {
        Type elements;
        elements.fake = type.fake;
        Types::add(elements, type, 0, count);
        Layout found;
        ASSERT_EQ(found.add(type, count), MPI_SUCCESS);
        EXPECT_EQ(found.places(), elements.map);
        EXPECT_EQ(found.layout.bytes, elements.map.size());
        EXPECT_EQ(fake_contents_open(), 0);
        expect_repeated(type, count, elements.map);
    }

    /* Does the same with the ranges of one element. */
    static void expect_repeated(Type &type, int count, const Places &map)
    {
        Layout one, all;
        ASSERT_EQ(one.add(type, 1), MPI_SUCCESS);
        ASSERT_EQ(ckpt_layout_repeat(&all.layout, one.layout.range, one.layout.count,
                                     type.fake.extent, count),
                  MPI_SUCCESS);
        EXPECT_EQ(all.places(), map);
        EXPECT_EQ(all.layout.bytes, map.size());
    }

    Types types;
    Type &word = types.named(8);
    Type &half = types.named(4);
};

} // namespace

TEST_F(Maps, OfPredefinedTypesAreOneRange)
{
    Layout found;
    ASSERT_EQ(found.add(word, 5), MPI_SUCCESS);
    EXPECT_EQ(found.layout.count, 1u);
    EXPECT_EQ(found.layout.element, fake_handle(&word.fake));
    expect_right(word, 5);
    expect_right(word, 0);
}

TEST_F(Maps, OfBlocks)
{
    expect_right(types.contiguous(4, word));
    expect_right(types.vector(3, 2, 5, false, word));
    expect_right(types.vector(3, 2, 20, true, word));
    expect_right(types.vector(3, 1, -2, false, word), 1);
    expect_right(types.indexed({2, 0, 3}, {7, 1, 2}, false, false, 72, word));
    expect_right(types.indexed({2, 0, 3}, {70, 1, 13}, true, false, 96, word));
    expect_right(types.indexed({2}, {7, 1, 4}, false, true, 72, word));
    expect_right(types.indexed({2}, {70, 1, 33}, true, true, 96, word));
    expect_right(types.resized(24, word));
}

TEST_F(Maps, OfStructures)
{
    Type &inner = types.vector(2, 1, 2, false, half);
    Type &pair = types.structure({2, 1}, {0, 16}, 32, {&word, &inner});
    expect_right(pair);
    expect_right(types.vector(2, 2, 3, false, pair));
    Layout found;
    ASSERT_EQ(found.add(types.structure({1, 1}, {8, 0}, 16, {&half, &word}), 1), MPI_SUCCESS);
    EXPECT_EQ(found.layout.element, fake_handle(&half.fake)) << "the first of the type map";
}

TEST_F(Maps, OfSubarrays)
{
    for (int order : {MPI_ORDER_C, MPI_ORDER_FORTRAN}) {
        expect_right(types.subarray({4, 6}, {2, 3}, {1, 2}, order, word), 2);
        expect_right(types.subarray({3, 4, 5}, {2, 2, 3}, {1, 0, 2}, order, half), 2);
    }
}

TEST_F(Maps, WhatTouchesIsOneRange)
{
    Layout found;
    ASSERT_EQ(found.add(types.contiguous(3, types.contiguous(2, word)), 4), MPI_SUCCESS);
    EXPECT_EQ(found.layout.count, 1u);
    Layout apart;
    ASSERT_EQ(apart.add(types.vector(9, 1, 2, false, word), 1), MPI_SUCCESS);
    EXPECT_EQ(apart.layout.count, 9u) << "more than there is room for at first";
}

TEST_F(Maps, OfDistributedArraysAreRefused)
{
    Layout found;
    EXPECT_EQ(found.add(types.made(MPI_COMBINER_DARRAY, 64, {1}, {}, {&word}), 1),
              MPI_ERR_UNSUPPORTED_OPERATION);
    EXPECT_EQ(fake_contents_open(), 0);
}

TEST_F(Maps, StreamsAreTheSameBytesOneByOne)
{
    std::mt19937 random(1);
    Type &type = types.indexed({2, 1, 3}, {40, 3, 9}, true, false, 64, half);
    Layout layout;
    ASSERT_EQ(layout.add(type, 5), MPI_SUCCESS);
    const Places places = layout.places();
    std::vector<char> memory(5 * 64);
    for (char &byte : memory) {
        byte = static_cast<char>(random());
    }
    for (int round = 0; round < 500; round++) {
        const std::uint64_t skip = random() % places.size();
        const std::uint64_t bytes = random() % (places.size() - skip + 1);
        std::vector<char> stream(bytes), expected(bytes);
        std::vector<char> written(memory.size()), expected_there(memory.size());
        std::vector<ckpt_log_range> ranges(
            ckpt_layout_cut(&layout.layout, skip, bytes, nullptr));

        ckpt_layout_read(&layout.layout, skip, bytes, memory.data(), stream.data());
        ckpt_layout_write(&layout.layout, skip, bytes, stream.data(), written.data());
        for (std::uint64_t i = 0; i < bytes; i++) {
            const auto place = static_cast<std::size_t>(places[skip + i]);
            expected[i] = expected_there[place] = memory[place];
        }
        EXPECT_EQ(stream, expected);
        EXPECT_EQ(written, expected_there);

        Places cut;
        ASSERT_EQ(ckpt_layout_cut(&layout.layout, skip, bytes, ranges.data()), ranges.size());
        for (const ckpt_log_range &range : ranges) {
            EXPECT_GT(range.bytes, 0u);
            for (std::uint64_t at = 0; at < range.bytes; at++) {
                cut.push_back(static_cast<std::int64_t>(range.start + at));
            }
        }
        const auto first = places.begin() + static_cast<std::ptrdiff_t>(skip);
        EXPECT_EQ(cut, Places(first, first + static_cast<std::ptrdiff_t>(bytes)));
    }
}
