/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sealed_text.hpp - authenticates small JSON files with the user's key: manifests, and records
 * of checkpoints on nodes. Anyone may read them, but only the key's owner can write them.
 */
#pragma once

#include <string>
#include <string_view>

namespace ckpt
{

/* `text` is a JSON object that ends with a line "}". If this process has a key, adds a member
 * `seal` to the object: the key's name, and a tag of all text before it. `kind` is part of the
 * tag, so that a text of one kind is not accepted as another kind. */
std::string seal_text(std::string text, std::string_view kind);

/*
 * Returns the text without its seal; `name` identifies it in errors. If this process has a key,
 * the text must be sealed with it, as this kind. Otherwise throws Error, with code EKEYREJECTED
 * if the seal is missing or made with another key. Without a key the seal is not checked.
 */
std::string open_text(std::string text, std::string_view kind, const std::string &name);

} // namespace ckpt
