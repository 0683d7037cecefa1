/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sealed_text.hpp - small JSON files that anybody may read, but only who has the user's key
 * can have made: manifests, and records of checkpoints on nodes.
 */
#pragma once

#include <string>
#include <string_view>

namespace ckpt
{

/* `text` is a JSON object that ends with a line "}". If this process has a key the object gets
 * one more member, `seal`: the key's name, and a tag of all that is before. `kind` says what
 * the text is: one is not taken for another. */
std::string seal_text(std::string text, std::string_view kind);

/*
 * The text as it was; `name` is how an error calls it. If this process has a key the text must
 * have been sealed with it, as this kind: else an Error, of the code EKEYREJECTED if the seal is
 * missing or of another key. Without a key it is not looked at.
 */
std::string open_text(std::string text, std::string_view kind, const std::string &name);

} // namespace ckpt
