/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * travelling_salesman.c [CITIES [THREADS [ROUNDS]]] - finds shortest tours.
 *
 * Branch and bound: threads take beginnings of tours from a shared counter.
 * They abandon a tour when it cannot be shorter than the best tour that any
 * thread has found. Held and Karp's dynamic programming checks the length.
 * Needs hardly any memory. If several tours are shortest, timing decides which
 * one is found; the answer depends on the length only.
 */
#include "threaded.h"

#include <pthread.h>
#include <stdatomic.h>

#define FEWEST_CITIES 3 /* the beginning of a tour has as many */
#define MOST_CITIES   20
#define MAP_SIDE      1000
#define NO_TOUR       UINT32_MAX

struct salesman {
    int cities;
    uint64_t round; /* other rounds have other maps */
    uint32_t distance[MOST_CITIES][MOST_CITIES];
    uint32_t nearest[MOST_CITIES]; /* distance to the nearest other city */
    atomic_int next_beginning;     /* that no thread has taken */
    _Atomic uint32_t best_length;
    int best_tour[MOST_CITIES];
    pthread_mutex_t lock; /* guards the best tour, and changes of its length */
};

/* The beginning of a tour, up to a whole tour without the way back. */
struct path {
    int count;
    int city[MOST_CITIES];
    uint32_t visited; /* one bit for each city */
    uint32_t length;
    uint32_t remaining; /* lower bound of the way on and back */
};

/* Manhattan distance: no rounding. */
static uint32_t distance_between(uint64_t round, int a, int b)
{
    uint64_t from = mix4(round, (uint64_t)a, 0, 1);
    uint64_t to = mix4(round, (uint64_t)b, 0, 1);
    int across = (int)(from % MAP_SIDE) - (int)(to % MAP_SIDE);
    int down =
        (int)(from / MAP_SIDE % MAP_SIDE) - (int)(to / MAP_SIDE % MAP_SIDE);

    return (uint32_t)(abs(across) + abs(down));
}

static void make_map(struct salesman *s)
{
    for (int a = 0; a < s->cities; a++) {
        s->nearest[a] = UINT32_MAX;
        for (int b = 0; b < s->cities; b++) {
            s->distance[a][b] = distance_between(s->round, a, b);
            if (a != b && s->distance[a][b] < s->nearest[a]) {
                s->nearest[a] = s->distance[a][b];
            }
        }
    }
}

static void check_map(const struct salesman *s)
{
    for (int a = 0; a < s->cities; a++) {
        for (int b = 0; b < s->cities; b++) {
            CHECK(s->distance[a][b] == distance_between(s->round, a, b));
        }
    }
}

static struct path first_city(const struct salesman *s)
{
    struct path path = {.count = 1, .visited = 1};

    for (int city = 0; city < s->cities; city++) {
        path.remaining += s->nearest[city];
    }
    return path;
}

static int is_visited(const struct path *path, int city)
{
    return (path->visited >> city & 1) != 0;
}

static struct path extended(const struct salesman *s, const struct path *path,
                            int city)
{
    struct path longer = *path;
    int last = path->city[path->count - 1];

    longer.city[longer.count++] = city;
    longer.visited |= UINT32_C(1) << city;
    longer.length += s->distance[last][city];
    longer.remaining -= s->nearest[last];
    return longer;
}

static void offer_tour(struct salesman *s, const struct path *tour)
{
    uint32_t length =
        tour->length + s->distance[tour->city[tour->count - 1]][0];

    pthread_mutex_lock(&s->lock);
    if (length < s->best_length) {
        s->best_length = length;
        memcpy(s->best_tour, tour->city, sizeof s->best_tour);
    }
    pthread_mutex_unlock(&s->lock);
}

static void search(struct salesman *s, const struct path *path)
{
    if (path->length + path->remaining >= s->best_length) {
        return;
    }
    if (path->count == s->cities) {
        offer_tour(s, path);
        return;
    }
    for (int city = 1; city < s->cities; city++) {
        if (!is_visited(path, city)) {
            struct path longer = extended(s, path, city);

            search(s, &longer);
        }
    }
}

/* Searches the tours whose second and third city `beginning` selects. */
static void search_beginning(struct salesman *s, int beginning)
{
    int second = 1 + beginning / (s->cities - 1);
    int third = 1 + beginning % (s->cities - 1);
    struct path path = first_city(s);

    if (second != third) {
        path = extended(s, &path, second);
        path = extended(s, &path, third);
        search(s, &path);
    }
}

static void take_beginnings(void *shared, int index, int count)
{
    struct salesman *s = shared;
    int beginnings = (s->cities - 1) * (s->cities - 1);
    int beginning;

    (void)index;
    (void)count;
    while ((beginning = atomic_fetch_add(&s->next_beginning, 1)) < beginnings) {
        search_beginning(s, beginning);
        show_progress();
    }
}

/* Returns the length of the shortest path from city 0 through all of `set` that
 * ends at its member `last`, given those for smaller sets. City 0 is in no set;
 * bit 0 is city 1. */
static uint32_t shortest_through(const struct salesman *s,
                                 uint32_t (*shortest)[MOST_CITIES],
                                 uint32_t set, int last)
{
    uint32_t before = set ^ UINT32_C(1) << (last - 1);
    uint32_t least = before == 0 ? s->distance[0][last] : NO_TOUR;

    for (int city = 1; city < s->cities; city++) {
        if (before >> (city - 1) & 1) {
            uint32_t length = shortest[before][city] + s->distance[city][last];

            least = length < least ? length : least;
        }
    }
    return least;
}

/* Returns the length of the shortest tour, by Held and Karp. */
static uint32_t shortest_tour(const struct salesman *s)
{
    uint32_t sets = UINT32_C(1) << (s->cities - 1), least = NO_TOUR;
    uint32_t(*shortest)[MOST_CITIES] = allocate(sets * sizeof *shortest);

    for (uint32_t set = 1; set < sets; set++) {
        for (int last = 1; last < s->cities; last++) {
            if (set >> (last - 1) & 1) {
                shortest[set][last] = shortest_through(s, shortest, set, last);
            }
        }
    }
    for (int last = 1; last < s->cities; last++) {
        uint32_t length = shortest[sets - 1][last] + s->distance[last][0];

        least = length < least ? length : least;
    }
    free(shortest);
    return least;
}

/* Checks that the best tour visits each city and has the reported length. */
static void check_tour(const struct salesman *s)
{
    struct path tour = first_city(s);

    for (int i = 1; i < s->cities; i++) {
        CHECK(s->best_tour[i] > 0 && s->best_tour[i] < s->cities);
        CHECK(!is_visited(&tour, s->best_tour[i]));
        tour = extended(s, &tour, s->best_tour[i]);
    }
    CHECK(s->best_tour[0] == 0);
    CHECK(tour.length + s->distance[s->best_tour[s->cities - 1]][0] ==
          s->best_length);
}

static void run_round(struct salesman *s, uint64_t round, int threads)
{
    s->round = round;
    s->next_beginning = 0;
    s->best_length = NO_TOUR;
    make_map(s);
    run_threads(threads, take_beginnings, s);
    check_map(s);
    check_tour(s);
    CHECK(s->best_length == shortest_tour(s));
}

int main(int argc, char **argv)
{
    struct salesman s = {.lock = PTHREAD_MUTEX_INITIALIZER};
    size_t cities = count_argument(argc, argv, 1, 11);
    int threads = threads_argument(argc, argv, 2);
    size_t rounds = count_argument(argc, argv, 3, 1);
    uint64_t answer = 0;

    CHECK(cities >= FEWEST_CITIES && cities <= MOST_CITIES);
    s.cities = (int)cities;
    for (size_t round = 0; round < rounds; round++) {
        run_round(&s, round, threads);
        answer = mix(answer + s.best_length);
    }

    print_answer(answer);
    return 0;
}
