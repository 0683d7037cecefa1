/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * decoders.hpp - the table of all decoders of bytes that come from outside, for the fuzzer
 * (fuzz_main.cpp) and for a test of each (tests/test_decoder_table.cpp).
 */
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace ckpt::fuzz
{

struct Decoder {
    std::string name;               /* a word, also good as a file's name */
    std::vector<std::string> seeds; /* what our own encoders make; taken */
    /* Takes the bytes, or throws Error or nlohmann::json::exception. All else is a fault:
     * also std::logic_error, which is thrown for a result that cannot be right. */
    std::function<void(const std::string &)> decode;
};

/* Of one kind each. Normal context. */
std::vector<Decoder> frame_decoders();    /* what agents say to each other */
std::vector<Decoder> command_decoders();  /* what `ckpt` and agents say to each other */
std::vector<Decoder> datagram_decoders(); /* what members say to each other */
std::vector<Decoder> text_decoders();     /* settings and lists of users and schedulers */
std::vector<Decoder> record_decoders();   /* small files beside checkpoints */
std::vector<Decoder> journal_decoders();  /* the undo journal of files */
std::vector<Decoder> image_decoders();    /* tables, chunks and logs of images */
std::vector<Decoder> process_decoders();  /* what the kernel tells a process about itself */

/* All of them. */
std::vector<Decoder> all_decoders();

/* Calls a decoder. False if it has refused the bytes as it should. */
bool is_taken(const Decoder &decoder, const std::string &bytes);

/* Throws std::logic_error, which names `what`. */
void require(bool is_right, const char *what);

} // namespace ckpt::fuzz
