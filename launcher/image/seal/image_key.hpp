/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * image_key.hpp - the user's key: this process encrypts new checkpoints with it, and only
 * reads checkpoints that were made with it (docs/encryption.md).
 *
 * A process has at most one key. Options and variables name the source of the key, never the
 * key itself.
 */
#pragma once

#include "common/message_key.hpp"

#include <optional>
#include <string>

namespace ckpt
{

/* Tells the processes of a job the source of the key; set by --key. */
inline constexpr const char *key_variable = "CKPT_KEY";

/*
 * Reads the key of this process: 64 hexadecimal digits, from a FILE that only its owner can
 * read, or from the output of "|COMMAND", which /bin/sh executes. Empty: no key. The caller
 * calls it before the process starts threads. Throws Error; then the process has no key.
 */
void use_image_key(const std::string &source);

/* Returns the value of key_variable. */
std::string key_source_of_environment();

/* Returns the source in a form that is valid in any working directory. */
std::string absolute_key_source(const std::string &source);

/* image_key() returns the key; tests set it with use_this_image_key(). */
const std::optional<MessageKey> &image_key();
void use_this_image_key(const std::optional<MessageKey> &key);

/* Returns 16 hexadecimal digits that identify the key without revealing it. */
std::string name_of_key(const MessageKey &key);

} // namespace ckpt
