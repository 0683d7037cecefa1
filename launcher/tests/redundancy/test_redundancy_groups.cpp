/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_redundancy_groups.cpp - which nodes protect which: schemes, failure domains, groups, and
 * which member has which block.
 */
#include "config.h"
#include "common/error.hpp"
#include "image/store/checkpoint_files.hpp"
#include "redundancy/coder.hpp"
#include "redundancy/domains.hpp"
#include "redundancy/group.hpp"
#include "redundancy/groups.hpp"
#include "redundancy/host_list.hpp"
#include "redundancy/layout.hpp"
#include "tests/common/mutations.hpp"
#include "tests/common/small_groups.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>

namespace ckpt::redundancy
{

namespace
{

using nlohmann::json;
using test::for_rounds;
using test::Mutations;
using Kind = Scheme::Kind;
using Groups = std::vector<std::vector<std::size_t>>;

template <typename Action>
std::string error_of(Action action)
{
    try {
        action();
    } catch (const Error &error) {
        return error.what();
    }
    return {};
}

/* ---- Schemes --------------------------------------------------------------------- */

TEST(Scheme, IsWhatItsNameSays)
{
    EXPECT_EQ(Scheme::parse("none"), (Scheme{Kind::none, 0, 1}));
    EXPECT_EQ(Scheme::parse("partner"), (Scheme{Kind::partner, 1, 2}));
    EXPECT_EQ(Scheme::parse("parity"), (Scheme{Kind::parity, 1, 8}));
    EXPECT_EQ(Scheme::parse("parity/4"), (Scheme{Kind::parity, 1, 4}));
    EXPECT_EQ(Scheme::parse("rs2"), (Scheme{Kind::reed_solomon, 2, 8}));
    EXPECT_EQ(Scheme::parse("rs3/10"), (Scheme{Kind::reed_solomon, 3, 10}));
}

TEST(Scheme, HasATextThatMeansIt)
{
    for (const char *text :
         {"none", "partner", "parity", "parity/2", "rs2", "rs3/10", "rs63/64"}) {
        EXPECT_EQ(Scheme::parse(text).text(), text);
    }
    EXPECT_EQ(Scheme::parse("parity/8").text(), "parity");
}

TEST(Scheme, EverythingElseIsRefused)
{
    for (const char *text :
         {"", "/", "raid5", "Parity", "parity4", "parity/", "parity/0", "parity/1",
          "parity/65", "parity/4x", "parity/-4", "parity/4/4", "none/2", "partner/3", "rs",
          "rs0", "rs-1", "rs8", "rs3/3", "rs2/2", "rs2x", "rs/4", "rs64/64",
          "rs99999999999", "parity/99999999999", " parity"}) {
        EXPECT_NE(error_of([&] { (void)Scheme::parse(text); }), "") << text;
    }
    EXPECT_EQ(error_of([] { (void)Scheme::parse("rs8"); }),
              "'rs8': of a group of 8 nodes no 8 can be lost");
}

/* ---- Lists of hosts, failure domains ---------------------------------------------- */

TEST(HostList, BracketsStandForManyNames)
{
    using List = std::vector<std::string>;

    EXPECT_EQ(expand_hosts("a"), List({"a"}));
    EXPECT_EQ(expand_hosts("a,n[1-3,7],b"), List({"a", "n1", "n2", "n3", "n7", "b"}));
    EXPECT_EQ(expand_hosts("n[08-10]-ib"), List({"n08-ib", "n09-ib", "n10-ib"}));
    EXPECT_EQ(expand_hosts("n[4294967294-4294967295]"), List({"n4294967294", "n4294967295"}));
    EXPECT_EQ(expand_hosts("r[1-2]n[3,5]"), List({"r1n3", "r1n5", "r2n3", "r2n5"}));
}

TEST(HostList, WhatIsNoneIsRefused)
{
    for (const char *list : {"", ",", "a,", "n[1-3", "n1-3]", "n[]", "n[1-]", "n[3-1]",
                             "n[a]", "n[[1]]", "n[1-99999999]", "n[1,]", "n[4294967296]",
                             "n[1-999][1-999]", "n[1-60000],m[1-60000]"}) {
        EXPECT_NE(error_of([&] { (void)expand_hosts(list); }), "") << list;
    }
}

TEST(Domains, ComeFromLinesOfBothKinds)
{
    const Domains domains = parse_domains("# chassis\n"
                                          "n1 n2 : chassis-1 # the upper one\n"
                                          "\n"
                                          "n[3-4],n9: chassis-2\r\n"
                                          "SwitchName=s1 Nodes=m[1-2] LinkSpeed=100\n"
                                          "switchname=s2 nodes=m3\n"
                                          "SwitchName=core Switches=s[1-2]");

    EXPECT_EQ(domains, (Domains{{"n1", "chassis-1"},
                                {"n2", "chassis-1"},
                                {"n3", "chassis-2"},
                                {"n4", "chassis-2"},
                                {"n9", "chassis-2"},
                                {"m1", "s1"},
                                {"m2", "s1"},
                                {"m3", "s2"}}));
    EXPECT_TRUE(parse_domains("").empty());
}

TEST(Domains, WhatIsWrongIsToldWithItsLine)
{
    for (const char *text : {"n1", "n1 :", ": d", "n1 : d e", "n1 : d : e", "SwitchName=s1",
                             "Nodes=n1", "SwitchName= Nodes=n1", "n[1 : d",
                             "n1 : d\nn1 : e"}) {
        EXPECT_NE(error_of([&] { (void)parse_domains(text); }), "") << text;
    }
    EXPECT_EQ(error_of([] { (void)parse_domains("n1 : d\n\nSwitchName=s Nodes=n1"); }),
              "failure domains, line 3: n1 is in d and in s");
    EXPECT_EQ(parse_domains("n1 : d\nn1 : d").size(), 1u);
}

TEST(Domains, AnyTextIsTakenOrRefused)
{
    for_rounds(500, [](Mutations &mutations) {
        const std::string text =
            mutations.bytes("n1 n[2-4] : a\nSwitchName=s Nodes=m[01-12,17]\n");
        try {
            (void)parse_domains(text);
        } catch (const Error &) {
        }
    });
}

/* ---- Groups ------------------------------------------------------------------------ */

std::vector<NodeInfo> nodes(const std::vector<std::string> &domains)
{
    std::vector<NodeInfo> all;

    for (std::size_t i = 0; i < domains.size(); i++) {
        all.push_back({"n" + std::to_string(i), domains[i]});
    }
    return all;
}

std::vector<std::size_t> sizes(const Groups &groups)
{
    std::vector<std::size_t> all;

    for (const auto &group : groups) {
        all.push_back(group.size());
    }
    std::ranges::sort(all, std::greater());
    return all;
}

TEST(Groups, HaveTheWantedSizeOrNearlySo)
{
    using Sizes = std::vector<std::size_t>;
    const auto sizes_for = [](std::size_t count, const char *scheme) {
        return sizes(make_groups(nodes(std::vector<std::string>(count)), Scheme::parse(scheme)));
    };

    EXPECT_EQ(sizes_for(6, "partner"), Sizes({2, 2, 2}));
    EXPECT_EQ(sizes_for(7, "partner"), Sizes({3, 2, 2}));
    EXPECT_EQ(sizes_for(3, "partner"), Sizes({3}));
    EXPECT_EQ(sizes_for(4, "parity"), Sizes({4}));
    EXPECT_EQ(sizes_for(16, "parity"), Sizes({8, 8}));
    EXPECT_EQ(sizes_for(15, "parity"), Sizes({8, 7}));
    EXPECT_EQ(sizes_for(17, "parity"), Sizes({9, 8}));
    EXPECT_EQ(sizes_for(5, "rs4/6"), Sizes({5}));
    EXPECT_EQ(sizes_for(11, "rs5/7"), Sizes({11}));
    EXPECT_TRUE(sizes_for(5, "none").empty());
}

TEST(Groups, TooFewNodesAreTold)
{
    EXPECT_EQ(error_of([] { (void)make_groups(nodes({""}), Scheme::parse("parity")); }),
              "parity takes at least 2 nodes, and there is 1");
    EXPECT_EQ(error_of([] {
                  (void)make_groups(nodes({"", "", "a"}), Scheme::parse("rs3/8"));
              }),
              "rs3 takes at least 4 nodes, and there are 3");
    EXPECT_NE(error_of([] { (void)make_groups({}, Scheme::parse("partner")); }), "");
}

TEST(Groups, NodesOfADomainAreApart)
{
    EXPECT_EQ(make_groups(nodes({"a", "a", "b", "b"}), Scheme::parse("partner")),
              Groups({{0, 2}, {1, 3}}));
    EXPECT_EQ(make_groups(nodes({"a", "a", "a", "b", "b", "b", "c", "c", "c"}),
                          Scheme::parse("parity/3")),
              Groups({{0, 3, 6}, {1, 4, 7}, {2, 5, 8}}));
}

/* The header's promises hold for any nodes, domains and schemes. */
TEST(Groups, AreAsGoodAsTheyCanBe)
{
    for_rounds(300, [](Mutations &mutations) {
        std::vector<std::string> domains(2 + mutations.below(60));
        for (std::string &domain : domains) {
            domain = std::string(mutations.below(4), 'd');
        }
        Scheme scheme = Scheme::parse("rs1/2");
        scheme.losses = static_cast<unsigned>(1 + mutations.below(4));
        scheme.group = static_cast<unsigned>(scheme.losses + 1 + mutations.below(8));
        if (domains.size() <= scheme.losses) {
            return;
        }
        const auto all = nodes(domains);
        const Groups groups = make_groups(all, scheme);
        EXPECT_EQ(groups, make_groups(all, scheme));

        std::vector<std::size_t> seen;
        std::map<std::string, std::size_t> of_domain;
        for (const std::string &domain : domains) {
            of_domain[domain]++;
        }
        const std::vector<std::size_t> all_sizes = sizes(groups);
        EXPECT_LE(all_sizes.front() - all_sizes.back(), 1u);
        EXPECT_GE(all_sizes.back(), scheme.losses + 1);
        for (const auto &group : groups) {
            std::map<std::string, std::size_t> here;
            for (std::size_t node : group) {
                seen.push_back(node);
                here[domains[node]]++;
            }
            for (const auto &[domain, count] : here) {
                if (!domain.empty()) {
                    EXPECT_LE(count, (of_domain[domain] + groups.size() - 1) / groups.size());
                }
            }
        }
        std::ranges::sort(seen);
        std::vector<std::size_t> expected(domains.size());
        std::iota(expected.begin(), expected.end(), std::size_t{0});
        EXPECT_EQ(seen, expected);
    });
}

/* ---- A group ------------------------------------------------------------------------ */

const std::vector<Member> three = {
    {"n1", "node-n1.h5", 10000}, {"n2", "node-n2.h5", 0}, {"n3", "node-n3.h5", 8193}};

TEST(Group, AChunkIsWhatTheLongestPieceTakes)
{
    EXPECT_EQ(Group::make(1, three).chunk, 8192u);
    EXPECT_EQ(Group::make(2, three).chunk, 12288u);
    EXPECT_EQ(Group::make(1, {{"a", "a", 0}, {"b", "b", 0}}).chunk, 0u);
    EXPECT_EQ(Group::make(1, {{"a", "a", 1}, {"b", "b", 0}}).chunk, 4096u);
}

TEST(Group, WhatCannotBeIsRefused)
{
    const auto refuses = [](unsigned losses, std::vector<Member> members) {
        return !error_of([&] { (void)Group::make(losses, std::move(members)); }).empty();
    };

    EXPECT_FALSE(refuses(1, three));
    EXPECT_TRUE(refuses(0, three));
    EXPECT_TRUE(refuses(3, three));
    EXPECT_TRUE(refuses(1, {}));
    EXPECT_TRUE(refuses(1, {{"a", "a", 1}, {"a", "b", 1}}));
    EXPECT_TRUE(refuses(1, {{"a", "a", 1}, {"b", "b", std::uint64_t{1} << 57}}));
    for (const char *file : {"", ".", "..", "../x", "a/b", "a b", "a\n", "\xff"}) {
        EXPECT_TRUE(refuses(1, {{"a", "a", 1}, {"b", file, 1}})) << file;
        EXPECT_TRUE(refuses(1, {{"a", "a", 1}, {file, "b", 1}})) << file;
    }
}

TEST(Group, ComesBackFromJson)
{
    const Group group = Group::make(2, three);

    EXPECT_EQ(json::parse(json(group).dump()).get<Group>(), group);
    EXPECT_EQ(parity_file_name("a b/c"), "parity-a_b_c.bin");
}

/* The decoder accepts only a group that make() would have made. */
TEST(Group, AnyJsonIsTakenOrRefused)
{
    const json good = Group::make(1, three);

    for_rounds(2000, [&](Mutations &mutations) {
        const json changed = mutations.json(good);
        try {
            const Group group = changed.get<Group>();
            EXPECT_EQ(group, Group::make(group.losses, group.members));
        } catch (const Error &) {
        }
    });
    for (json wrong : {json(), json(3), json::array(), json::object(),
                       json{{"losses", 1}, {"chunk", 8192}, {"members", 7}}}) {
        EXPECT_NE(error_of([&] { (void)wrong.get<Group>(); }), "") << wrong;
    }
    json wrong = good;
    wrong["chunk"] = 4096u;
    EXPECT_EQ(error_of([&] { (void)wrong.get<Group>(); }),
              "a group with chunks of 4096 bytes, not 8192");
}

/* ---- Blocks of stripes --------------------------------------------------------------- */

class EachLayout : public testing::TestWithParam<Sizes>
{
};

TEST_P(EachLayout, EveryBlockHasOneMemberAndEveryMemberOneBlock)
{
    const auto [members, losses] = GetParam();
    const Layout layout(members, losses);

    for (unsigned stripe = 0; stripe < layout.stripes(); stripe++) {
        std::set<unsigned> blocks;
        for (unsigned member = 0; member < members; member++) {
            const unsigned block = layout.block_of(member, stripe);
            const auto chunk = layout.chunk_in_stripe(member, stripe);
            const auto parity = layout.parity_in_stripe(member, stripe);
            blocks.insert(block);
            EXPECT_EQ(layout.member_of(stripe, block), member);
            EXPECT_NE(chunk.has_value(), parity.has_value());
            if (chunk) {
                EXPECT_LT(block, layout.data());
                EXPECT_EQ(layout.stripe_of_chunk(member, *chunk), stripe);
            } else {
                EXPECT_EQ(block, layout.data() + *parity);
                EXPECT_EQ(member, (stripe + *parity) % members);
                EXPECT_EQ(layout.stripe_of_parity(member, layout.parity_place(member, stripe)),
                          stripe);
            }
        }
        EXPECT_EQ(blocks.size(), members);
        EXPECT_EQ(*blocks.rbegin(), members - 1);
    }
    for (unsigned member = 0; member < members; member++) {
        for (unsigned chunk = 1; chunk < layout.data(); chunk++) {
            EXPECT_LT(layout.stripe_of_chunk(member, chunk - 1),
                      layout.stripe_of_chunk(member, chunk));
        }
    }
}

/* Any blocks of a stripe, as many as there are data blocks, yield all others. */
TEST_P(EachLayout, AnyBlocksGiveTheOthers)
{
    constexpr std::size_t bytes = 256;
    const auto [members, losses] = GetParam();
    const unsigned data = members - losses;
    const Coder coder(data, losses);
    alignas(64) std::array<std::array<std::byte, bytes>, 8> blocks;
    alignas(64) std::array<std::byte, bytes> made;
    std::vector<const std::byte *> pointers;
    for (unsigned block = 0; block < members; block++) {
        for (std::size_t i = 0; i < bytes; i++) {
            blocks[block][i] = static_cast<std::byte>(i * (2 * block + 3) + block);
        }
        if (block < data) {
            pointers.push_back(blocks[block].data());
        }
    }
    for (unsigned row = 0; row < losses; row++) {
        coder.parity(row).apply(pointers, blocks[data + row]);
    }
    for (unsigned subset = 0; subset < 1u << members; subset++) {
        std::vector<unsigned> from;
        std::vector<const std::byte *> sources;
        for (unsigned block = 0; block < members; block++) {
            if ((subset >> block & 1) != 0) {
                from.push_back(block);
                sources.push_back(blocks[block].data());
            }
        }
        if (from.size() != data) {
            continue;
        }
        for (unsigned wanted = 0; wanted < members; wanted++) {
            coder.recovery(from, wanted).apply(sources, made);
            EXPECT_EQ(made, blocks[wanted]) << "block " << wanted << " of set " << subset;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Groups, EachLayout, testing::ValuesIn(small_groups()));

} // namespace

} // namespace ckpt::redundancy
