/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * surroundings.cpp - the working directory and the numbers of descriptors of a saved process.
 */
#include "config.h"
#include "restart/surroundings.hpp"

extern "C" {
#include "files/concealed_file.h"
}

#include <unistd.h>

#include <algorithm>

namespace ckpt::restart
{

int first_free_descriptor(const RankImage &image)
{
    int free = 3;
    for (const ckpt_file &file : image.files) {
        free = std::max(free, file.descriptor + 1);
    }
    return free;
}

std::string enter_working_directory(const std::string &saved)
{
    ckpt_failure failure = {};
    int concealing = 0;
    const std::string path =
        saved.substr(ckpt_concealed_file_settle(saved.c_str(), 0, &failure, &concealing));

    return path.empty() || ::chdir(path.c_str()) == 0 ? std::string() : path;
}

} // namespace ckpt::restart
