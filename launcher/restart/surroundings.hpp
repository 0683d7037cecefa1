/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * surroundings.hpp - what a restart program needs to know and to set before the descriptors of a
 * saved process.
 */
#pragma once

#include "image/model/rank_image.hpp"

#include <string>

namespace ckpt::restart
{

/* Returns a number above the saved process's descriptors and the standard streams. */
int first_free_descriptor(const RankImage &image);

/* Enters the saved working directory, under its own name if it is no longer concealed. Returns an
 * empty text, or its name if that is impossible, with the reason in errno. */
std::string enter_working_directory(const std::string &saved);

} // namespace ckpt::restart
