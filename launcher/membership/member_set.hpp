/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * member_set.hpp - members of a job, and sets of members: one bit per member, and a ring in the
 * order of their numbers.
 */
#pragma once

#include "common/invariant.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ckpt::membership
{

/* A member's constant index in the table of the launch, from 0. */
using MemberId = std::uint32_t;
/* Number of the process that represents a member: the first is 1, a replacement has a higher
 * number. */
using Life = std::uint32_t;

constexpr Life first_life = 1;
/* A larger view would not fit into a datagram that networks leave unfragmented. */
constexpr std::size_t most_members = 4096;

class MemberSet
{
  public:
    using Word = std::uint64_t;
    static constexpr std::size_t word_bits = 64;
    static constexpr std::size_t words_for(std::size_t members)
    {
        return (members + word_bits - 1) / word_bits;
    }

    /* Normal context, like all functions here. Makes an empty set for members below `capacity`. */
    explicit MemberSet(std::size_t capacity = 0)
        : capacity_(capacity), words_(words_for(capacity))
    {
    }

    static MemberSet all(std::size_t capacity)
    {
        MemberSet set(capacity);
        for (MemberId member = 0; member < capacity; member++) {
            set.insert(member);
        }
        return set;
    }

    std::size_t capacity() const { return capacity_; }
    std::span<const Word> words() const { return words_; }
    std::span<Word> words() { return words_; }

    bool contains(MemberId member) const
    {
        return member < capacity_ &&
               (words_[member / word_bits] >> (member % word_bits) & 1) != 0;
    }
    /* Requires member < capacity(). */
    void insert(MemberId member)
    {
        CKPT_EXPECT(member < capacity_);
        words_[member / word_bits] |= Word{1} << (member % word_bits);
    }
    void erase(MemberId member)
    {
        CKPT_EXPECT(member < capacity_);
        words_[member / word_bits] &= ~(Word{1} << (member % word_bits));
    }

    std::size_t size() const
    {
        std::size_t size = 0;
        for (Word word : words_) {
            size += static_cast<std::size_t>(std::popcount(word));
        }
        return size;
    }
    bool empty() const { return size() == 0; }

    /* Returns the next member in the ring, or `member` if there is no other. `member` need not
     * be in the set, which must not be empty. */
    MemberId successor(MemberId member) const { return neighbour(member, 1); }
    MemberId predecessor(MemberId member) const
    {
        return neighbour(member, capacity_ - 1);
    }

    /* Calls `action` for the members in ascending order. */
    template <typename Action>
    void for_each(Action action) const
    {
        for (std::size_t i = 0; i < words_.size(); i++) {
            for (Word word = words_[i]; word != 0; word &= word - 1) {
                action(static_cast<MemberId>(i * word_bits +
                                             static_cast<std::size_t>(
                                                 std::countr_zero(word))));
            }
        }
    }

    bool operator==(const MemberSet &) const = default;

  private:
    MemberId neighbour(MemberId member, std::size_t step) const
    {
        CKPT_EXPECT(member < capacity_);
        std::size_t at = member;
        do {
            at = (at + step) % capacity_;
        } while (at != member && !contains(static_cast<MemberId>(at)));
        return static_cast<MemberId>(at);
    }

    std::size_t capacity_;
    std::vector<Word> words_;
};

} // namespace ckpt::membership
