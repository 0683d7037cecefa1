/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ckpt_main.cpp - main() of the program `ckpt`.
 */
#include "cli/base/command.hpp"

int main(int argc, char **argv)
{
    return ckpt::cli::run_program({argv, argv + argc});
}
