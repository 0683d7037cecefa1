/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * image_throughput.cpp - the speed of writing a node file, compared with a plain sequential write
 * of the same bytes in the same run. Not a test.
 *
 * Usage: image_throughput DIRECTORY [MIB] [CODEC[,CODEC...]] [ROUNDS] [CONTENT]
 *
 * The codecs take turns; "CODEC+key" encrypts as well. CONTENT: random; text, which compresses to
 * almost nothing; numbers, doubles of a smooth field with some noise; or mixed, a third of each.
 */
#include "config.h"
#include "image/seal/image_key.hpp"
#include "image/nodefile/node_file_reader.hpp"
#include "image/write/node_file_writer.hpp"

#include "common/durations.hpp"
#include "common/files/files.hpp"
#include "tests/common/child_process.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <random>
#include <sstream>
#include <string_view>
#include <vector>

using namespace ckpt;
using namespace ckpt::test;

namespace
{

double write_plainly(const std::string &path, std::span<const std::byte> bytes)
{
    Stopwatch watch;
    Fd fd = open_file(path, O_WRONLY | O_CREAT | O_TRUNC, 0600, "file");
    for (std::size_t at = 0; at < bytes.size(); at += mebibyte) {
        std::size_t part = std::min(mebibyte, bytes.size() - at);
        if (write_exactly(fd.get(), &bytes[at], part, at) != 0) {
            fail("plain write failed");
        }
    }
    if (::fsync(fd.get()) != 0) {
        fail("fsync failed");
    }
    return watch.seconds();
}

void run_round(const std::string &directory, const ChildProcess &child,
               std::span<const std::byte> bytes, const WriterOptions &options)
{
    double plain = write_plainly(directory + "/plain", bytes);
    std::filesystem::remove(directory + "/plain");

    Stopwatch watch;
    NodeFileWriter writer(directory, "bench", options);
    CaptureStats stats = writer.capture(child.pid(), child.snapshot());
    double before_commit = watch.seconds();
    Piece piece = writer.commit();
    double seconds = watch.seconds();

    Stopwatch read_watch;
    NodeFileReader reader(directory + "/" + piece.file);
    double opened = read_watch.seconds();
    reader.verify();
    fmt::print("plain {:8.1f} ms | capture {:8.1f} ms (rank needed {:8.1f}) "
               "commit {:8.1f} ms | all {:8.1f} ms | ratio {:.2f} | stored {} | open {:.1f} "
               "verify {:.1f} ms\n",
               plain * 1e3, before_commit * 1e3, stats.captured_seconds * 1e3,
               (seconds - before_commit) * 1e3, seconds * 1e3, plain / seconds,
               format_bytes(piece.bytes), opened * 1e3,
               read_watch.seconds() * 1e3);
    std::filesystem::remove(directory + "/" + piece.file);
}

/* A smooth field whose last digits are noise. */
void fill_numbers(std::span<std::byte> bytes)
{
    std::mt19937 chance(1);
    for (std::size_t i = 0; i + sizeof(double) <= bytes.size(); i += sizeof(double)) {
        double value = std::round((1 + std::sin(static_cast<double>(i) * 1e-6)) * 1e6) +
                       chance() % 16;
        std::memcpy(&bytes[i], &value, sizeof(value));
    }
}

void fill(std::span<std::byte> bytes, std::string_view content)
{
    if (content == "text") {
        fill_text(bytes, 1);
    } else if (content == "numbers") {
        fill_numbers(bytes);
    } else if (content == "mixed") {
        std::size_t part = bytes.size() / 3 / mebibyte * mebibyte;
        fill_random(bytes.first(part), 1);
        fill_text(bytes.subspan(part, part), 1);
        fill_numbers(bytes.subspan(2 * part));
    } else {
        fill_random(bytes, 1);
    }
}

struct Choice {
    Codec codec;
    bool has_key;
};

std::vector<Choice> parse_codecs(const std::string &list)
{
    constexpr std::string_view mark = "+key";
    std::vector<Choice> codecs;
    std::istringstream names(list);
    for (std::string name; std::getline(names, name, ',');) {
        const bool has_key = name.ends_with(mark);
        name.resize(name.size() - (has_key ? mark.size() : 0));
        codecs.push_back({Codec::parse(name), has_key});
    }
    return codecs;
}

} // namespace

int main(int argc, char **argv)
{
    if (argc < 2) {
        fmt::print(stderr,
                   "usage: {} DIRECTORY [MIB] [CODEC[,CODEC...]] [ROUNDS] [CONTENT]\n",
                   argv[0]);
        return 2;
    }
    std::size_t size = (argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 1024)
                       << 20;
    int rounds = argc > 4 ? std::atoi(argv[4]) : 3;
    std::string content = argc > 5 ? argv[5] : "random";
    const MessageKey key = MessageKey::make();
    std::vector<Choice> codecs = parse_codecs(argc > 3 ? argv[3] : "zstd");
    WriterOptions options;
    FileIdentities identities;
    WriteRate write_rate;
    options.identities = &identities;
    options.write_rate = &write_rate;
    ChildProcess child([&](Description &description) {
        /* Many regions of one or a few pages, as in a small program. */
        for (int i = 0; i < 100; i++) {
            fill_text(description.map((1 + i % 8) * page), i);
            (void)description.map(page, 0); /* keeps neighbours apart */
        }
        if (size > 0) {
            fill(description.map(size), content);
        }
    });
    std::vector<std::byte> bytes(size);
    fill(bytes, content);
    for (int i = 0; i < rounds; i++) {
        for (const auto &[codec, has_key] : codecs) {
            options.codec = codec;
            use_this_image_key(has_key ? std::optional(key) : std::nullopt);
            fmt::print("{:8}{} ", codec.text(), has_key ? "+key" : "    ");
            run_round(argv[1], child, bytes, options);
        }
    }
    return 0;
}
