/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * image_key.hpp - the user's key, with which this process makes checkpoints, and with which
 * those must have been made that it reads (docs/encryption.md).
 *
 * A process has one or none. It is told where to find it, never what it is.
 */
#pragma once

#include "common/message_key.hpp"

#include <optional>
#include <string>

namespace ckpt
{

/* Tells the processes of a job where the key is; set by --key. */
inline constexpr const char *key_variable = "CKPT_KEY";

/*
 * Reads the key of this process: from a FILE that only its owner can read, or from the output
 * of "|COMMAND", which /bin/sh executes; 64 hexadecimal digits. Empty: there is none. Before
 * the process has threads. Throws Error; then the process has no key.
 */
void use_image_key(const std::string &source);

/* What key_variable says. */
std::string key_source_of_environment();

/* The same source, for processes with other working directories. */
std::string absolute_key_source(const std::string &source);

/* The key; for tests, use_this_image_key() sets it. */
const std::optional<MessageKey> &image_key();
void use_this_image_key(const std::optional<MessageKey> &key);

/* 16 hexadecimal digits by which keys are told apart. They give nothing away. */
std::string name_of_key(const MessageKey &key);

} // namespace ckpt
