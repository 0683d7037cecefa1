/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * place.cpp - the rank of this process in the new launch.
 */
#include "config.h"
#include "restart/place.hpp"

#include "common/error.hpp"

#include <charconv>
#include <cstdlib>
#include <optional>
#include <string_view>

namespace ckpt::restart
{

namespace
{

std::optional<int> number_in_environment(const char *name)
{
    const char *value = std::getenv(name);
    if (value == nullptr) {
        return std::nullopt;
    }
    std::string_view text = value;
    int number = 0;
    auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() ||
        number < 0) {
        fail("{}={} is not a number of processes", name, text);
    }
    return number;
}

/* Variables of a launcher that sets all three. */
struct Names {
    const char *rank;
    const char *size;
    const char *local_size;
};

constexpr Names open_mpi = {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
                            "OMPI_COMM_WORLD_LOCAL_SIZE"};
constexpr Names hydra = {"PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS"};

std::optional<Place> place_by(const Names &names)
{
    auto rank = number_in_environment(names.rank);
    if (!rank) {
        return std::nullopt;
    }
    return Place{*rank, number_in_environment(names.size).value_or(-1),
                 number_in_environment(names.local_size).value_or(1)};
}

} // namespace

Place place_in_launch()
{
    for (const Names &names : {open_mpi, hydra}) {
        if (auto place = place_by(names)) {
            return *place;
        }
    }
    Place place;
    auto rank = number_in_environment("PMIX_RANK");
    if (rank) {
        place.rank = *rank;
        place.size =
            number_in_environment("SLURM_STEP_NUM_TASKS").value_or(-1);
    }
    return place;
}

} // namespace ckpt::restart
