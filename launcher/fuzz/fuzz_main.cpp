/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fuzz_main.cpp - libFuzzer's entry point: runs the decoder that $CKPT_FUZZ_DECODER names.
 * If $CKPT_FUZZ_SEEDS names a directory, it writes the seeds of all decoders there, in one
 * directory for each decoder, and exits (tests/campaign-fuzz-decoders).
 */
#include "config.h"
#include "common/files/files.hpp"
#include "fuzz/decoders.hpp"

#include <spdlog/spdlog.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

namespace
{

using ckpt::fuzz::Decoder;

void write_seeds(const std::filesystem::path &directory)
{
    for (const Decoder &decoder : ckpt::fuzz::all_decoders()) {
        std::filesystem::create_directories(directory / decoder.name);
        for (std::size_t i = 0; i < decoder.seeds.size(); i++) {
            ckpt::write_text_file(directory / decoder.name / ("seed-" + std::to_string(i)),
                                  decoder.seeds[i], "seed");
        }
    }
}

/* Returns the decoder of this name; exits if there is none. */
Decoder decoder_of(const char *name)
{
    for (Decoder &decoder : ckpt::fuzz::all_decoders()) {
        if (name != nullptr && decoder.name == name) {
            return std::move(decoder);
        }
    }
    std::fputs("CKPT_FUZZ_DECODER names no decoder; there are:\n", stderr);
    for (const Decoder &decoder : ckpt::fuzz::all_decoders()) {
        std::fprintf(stderr, "%s\n", decoder.name.c_str());
    }
    std::exit(2);
}

} // namespace

extern "C" int LLVMFuzzerInitialize(int *, char ***)
{
    spdlog::set_level(spdlog::level::off);
    if (const char *directory = std::getenv("CKPT_FUZZ_SEEDS")) {
        write_seeds(directory);
        std::exit(0);
    }
    return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    static const Decoder decoder = decoder_of(std::getenv("CKPT_FUZZ_DECODER"));
    const std::string bytes(reinterpret_cast<const char *>(data), size);

    (void)ckpt::fuzz::is_taken(decoder, bytes);
    return 0;
}
