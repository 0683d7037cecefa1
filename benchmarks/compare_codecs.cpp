/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * compare_codecs [--rounds N] NODE_FILE... - applies the codec of 1993 and
 * today's codecs to the memory in node files; prints JSON.
 *
 * For each codec: bytes before and after, and MB (millions of bytes of memory)
 * per second for compression and decompression on one thread. The results are
 * for chunks with content, for chunks of zeros, which an image does not have,
 * and for all chunks.
 */
#include "codec_comparison.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <exception>
#include <iostream>
#include <string>
#include <vector>

namespace
{

using namespace ckpt;
using namespace ckpt::bench;
using Json = nlohmann::ordered_json;

/* The rate of an empty tally is NaN, and null in JSON. */
double megabytes_per_second(const Tally &tally, double seconds)
{
    return static_cast<double>(tally.bytes) / 1e6 / seconds;
}

Json to_json(const Tally &tally)
{
    return {
        {"chunks", tally.chunks},
        {"bytes", tally.bytes},
        {"bytes_left", tally.bytes_left},
        {"compress_mb_s", megabytes_per_second(tally, tally.compress_seconds)},
        {"decompress_mb_s",
         megabytes_per_second(tally, tally.decompress_seconds)},
    };
}

Json to_json(const CodecResult &result)
{
    Tally all = result.content;
    all += result.zeros;
    return {
        {"content", to_json(result.content)},
        {"zeros", to_json(result.zeros)},
        {"all", to_json(all)},
    };
}

Json compare(const std::vector<std::string> &files, unsigned rounds)
{
    CodecComparison comparison(rounds);
    std::size_t ranks = 0;

    for (const std::string &file : files) {
        NodeFileReader reader(file);
        for (int rank : reader.ranks()) {
            comparison.add_rank(reader, rank);
            ranks++;
        }
    }
    Json codecs;
    for (std::size_t i = 0; i < comparison.codecs().size(); i++) {
        codecs[comparison.codecs()[i]->name()] =
            to_json(comparison.results()[i]);
    }
    return {
        {"ranks", ranks},
        {"chunk_bytes", chunk_size},
        {"rounds", rounds},
        {"codecs", codecs},
    };
}

} // namespace

int main(int argc, char **argv)
{
    std::vector<std::string> files;
    unsigned rounds = 3;
    CLI::App app("Compares codecs on the memory in a checkpoint.");

    app.add_option("NODE_FILE", files)->required();
    app.add_option("--rounds", rounds, "The best of so many counts")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    CLI11_PARSE(app, argc, argv);
    try {
        std::cout << compare(files, rounds).dump(1) << '\n';
        return 0;
    } catch (const std::exception &error) {
        std::cerr << "compare_codecs: " << error.what() << '\n';
        return 1;
    }
}
