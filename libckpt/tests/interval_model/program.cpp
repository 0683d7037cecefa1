/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * program.cpp - random programs without data races.
 */
#include "program.hpp"

#include "random_numbers.hpp"

namespace model
{

namespace
{

struct Place {
    int page, word;
};

class Generator
{
  public:
    explicit Generator(const Settings &settings)
        : settings(settings), random(settings.seed ^ 0x5eed),
          guarded(settings.locks)
    {
        for (int page = 0; page < settings.pages; page++) {
            for (int word = 0; word < settings.words / 2; word++) {
                int lock = (page * settings.words + word) % settings.locks;

                guarded[lock].push_back({page, word});
            }
        }
    }

    void phase(Program &program, int process, int phase)
    {
        for (int part = random.between(1, 4); part > 0; part--) {
            if (random.chance(.6)) {
                critical_section(program);
            }
            for (int access = random.between(0, 4); access > 0; access--) {
                unguarded(program, process, phase);
            }
        }
        program.push_back({Kind::barrier, phase, 0});
    }

  private:
    void critical_section(Program &program)
    {
        int lock = random.below(settings.locks);
        const auto &places = guarded[lock];

        program.push_back({Kind::acquire, lock, 0});
        for (int access = random.between(1, 4);
             access > 0 && !places.empty(); access--) {
            static const std::vector<Kind> kinds{Kind::read, Kind::write,
                                                 Kind::update};
            Kind kind = random.among(kinds);
            Place place = random.among(places);

            program.push_back({kind, place.page, place.word});
        }
        program.push_back({Kind::release, lock, 0});
    }

    void unguarded(Program &program, int process, int phase)
    {
        int page = random.below(settings.pages);
        int word = random.between(settings.words / 2, settings.words - 1);

        if (word % 2 != phase % 2) {
            program.push_back({Kind::read, page, word});
            return;
        }
        std::vector<int> mine; // pages whose word this process may store to
        for (int q = 0; q < settings.pages; q++) {
            if ((q * 7 + word + phase) % settings.processes == process) {
                mine.push_back(q);
            }
        }
        if (!mine.empty()) {
            Kind kind = random.chance(.5) ? Kind::write : Kind::update;

            program.push_back({kind, random.among(mine), word});
        }
    }

    const Settings &settings;
    RandomNumbers random;
    std::vector<std::vector<Place>> guarded; // by lock
};

} // namespace

std::vector<Program> random_programs(const Settings &settings)
{
    Generator generator(settings);
    std::vector<Program> programs(settings.processes);

    for (int phase = 0; phase < settings.phases; phase++) {
        for (int process = 0; process < settings.processes; process++) {
            generator.phase(programs[process], process, phase);
        }
    }
    return programs;
}

} // namespace model
