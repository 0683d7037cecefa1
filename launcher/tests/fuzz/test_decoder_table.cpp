/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_decoder_table.cpp - each decoder of the fuzzer accepts the output of our encoders, and
 * accepts or refuses randomly changed output. Also inputs that the fuzzer has found
 * (tests/campaign-fuzz-decoders), each with its description.
 */
#include "config.h"
#include "fuzz/decoders.hpp"
#include "tests/common/mutations.hpp"

#include <gtest/gtest.h>

#include <spdlog/spdlog.h>

#include <algorithm>
#include <string>
#include <vector>

namespace ckpt::fuzz
{

namespace
{

/* RejectedFrames must not fill the output. */
[[maybe_unused]] const bool is_quiet = (spdlog::set_level(spdlog::level::off), true);

const std::vector<Decoder> &table()
{
    static const std::vector<Decoder> all = all_decoders();
    return all;
}

std::vector<std::string> names()
{
    std::vector<std::string> all;

    for (const Decoder &decoder : table()) {
        all.push_back(decoder.name);
    }
    return all;
}

const Decoder &decoder_of(const std::string &name)
{
    return *std::ranges::find(table(), name, &Decoder::name);
}

class EachDecoder : public testing::TestWithParam<std::string>
{
  protected:
    const Decoder &decoder = decoder_of(GetParam());
};

TEST_P(EachDecoder, TakesWhatOurEncodersMake)
{
    ASSERT_FALSE(decoder.seeds.empty());
    for (const std::string &seed : decoder.seeds) {
        EXPECT_NO_THROW(decoder.decode(seed));
    }
}

TEST_P(EachDecoder, TakesOrRefusesAnythingElse)
{
    (void)is_taken(decoder, "");
    test::for_rounds(300, [&](test::Mutations &mutations) {
        const std::string &seed = decoder.seeds[mutations.below(decoder.seeds.size())];
        EXPECT_NO_THROW((void)is_taken(decoder, mutations.bytes(seed)));
    });
}

/* ---- Found by the fuzzer --------------------------------------------------------------- */

struct Found {
    const char *what;
    const char *decoder;
    std::string input;
};

/* Each input once caused a crash, or unlimited memory use. Our encoders make no such input. */
const Found found[] = {
    {"an LZ4 chunk without a header that is to have no bytes", "chunk",
     std::string("\x02\0\0\0\0", 5)},
    {"parity of pieces so long that their checksums have no room in memory", "parity",
     R"({"losses": 1, "chunk": 72057594037927936, "members": [)"
     R"({"host": "a", "file": "a", "bytes": 72057594037927936}, )"
     R"({"host": "b", "file": "b", "bytes": 0}]})"
     "\n"},
};

TEST(FoundInputs, AreRefused)
{
    for (const Found &one : found) {
        EXPECT_FALSE(is_taken(decoder_of(one.decoder), one.input)) << one.what;
    }
}

INSTANTIATE_TEST_SUITE_P(All, EachDecoder, testing::ValuesIn(names()),
                         [](const auto &test) { return test.param; });

} // namespace

} // namespace ckpt::fuzz
