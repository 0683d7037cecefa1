/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * decoders.hpp - the table of all decoders of untrusted bytes, for the fuzzer
 * (fuzz_main.cpp) and for a test of each (tests/fuzz/test_decoder_table.cpp).
 */
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace ckpt::fuzz
{

struct Decoder {
    std::string name;               /* a word that is also valid as a file name */
    std::vector<std::string> seeds; /* output of our own encoders; must be accepted */
    /* Accepts the bytes, or throws Error or nlohmann::json::exception. Anything else is a
     * defect, also std::logic_error, which is thrown for an impossible result. */
    std::function<void(const std::string &)> decode;
};

/* The decoders of each kind. Normal context. */
std::vector<Decoder> frame_decoders();    /* messages between agents */
std::vector<Decoder> command_decoders();  /* messages between `ckpt` and agents */
std::vector<Decoder> datagram_decoders(); /* messages between members */
std::vector<Decoder> text_decoders();     /* settings and lists of users and schedulers */
std::vector<Decoder> record_decoders();   /* small files beside checkpoints */
std::vector<Decoder> journal_decoders();  /* the file journal */
std::vector<Decoder> image_decoders();    /* tables, chunks and message logs of images */
std::vector<Decoder> process_decoders();  /* text of the kernel about a process */

/* All decoders. */
std::vector<Decoder> all_decoders();

/* Calls a decoder. Returns false if it properly rejects the bytes. */
bool is_taken(const Decoder &decoder, const std::string &bytes);

/* Throws std::logic_error naming `what` unless `is_right`. */
void require(bool is_right, const char *what);

} // namespace ckpt::fuzz
