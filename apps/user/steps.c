/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * steps.c - a program that uses much of ckpt.h: excluded memory, safe points, no-checkpoint
 * regions, hooks, and its own checkpoint requests.
 *
 *     steps MODE STEPS [FILE]
 *
 * MODE is a word of letters:
 *
 *     s  allows checkpoints only at safe points, which each rank reaches in a different way
 *     r  in no-checkpoint regions most of the time
 *     h  with hooks
 *     n  rank 0 requests a checkpoint now and then
 *     a  all ranks request a checkpoint together and wait
 *     g  in a region until FILE exists
 *     x  excludes its memory only in every other stretch of steps
 *     u  the safe points of the ranks do not match
 *     m  MPI_THREAD_MULTIPLE
 *
 * One of s, r and h must be among them. Runs with ckpt and without. Each step is a ring of messages
 * and a reduction. An error ends the job.
 */
#include "ckpt.h"
#include "selfcheck.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PAGE      4096ul
#define SCRATCH   (8ul << 20)
#define STEP_US   2000
#define ASK_EVERY 100

static int rank, size;
static const char *mode;

/* A device that must be closed at each checkpoint. */
static struct {
    int open;
    int restarts;
    long closed;
} device = {.open = 1};

static unsigned char *scratch, *kept;

static int has(char letter)
{
    return strchr(mode, letter) != NULL;
}

/* The device cannot be closed every third time. */
static int close_device(void *data)
{
    CHECK(data == &device && device.open);
    if (device.closed++ % 3 == 1) {
        return 1;
    }
    device.open = 0;
    return 0;
}

static void open_device(int answer, void *data)
{
    CHECK(data == &device && !device.open);
    CHECK(answer == CKPT_TAKEN || answer == CKPT_RESTARTED || answer == CKPT_REFUSED);
    device.open = 1;
    device.restarts += answer == CKPT_RESTARTED;
}

/* Each byte is zero if the process was restarted since the write, otherwise unchanged. */
static void check_scratch(unsigned char value, uint64_t restarts, int excluded)
{
    const int is_new = ckpt_restarts() != restarts && excluded;

    for (size_t i = 0; i < SCRATCH; i += PAGE) {
        CHECK(scratch[i] == (is_new ? 0 : value));
        CHECK(kept[i] == value);
    }
}

static void write_scratch(unsigned char value)
{
    for (size_t i = 0; i < SCRATCH; i += PAGE) {
        scratch[i] = value;
        kept[i] = value;
    }
}

static long exchange(long step)
{
    const int right = (rank + 1) % size, left = (rank + size - 1) % size;
    long in = -1, sum = 0;

    MPI_Sendrecv(&step, 1, MPI_LONG, right, 1, &in, 1, MPI_LONG, left, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    CHECK(in == step);
    MPI_Allreduce(&in, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == step * size);
    return sum;
}

static void ask(long step)
{
    int answer;

    if (has('n') && rank == 0 && step % ASK_EVERY == 0) {
        answer = ckpt_checkpoint(0);
        CHECK(answer == (ckpt_active() ? CKPT_ASKED : CKPT_ABSENT));
    }
    if (has('a') && step % ASK_EVERY == 0) {
        const uint64_t last = ckpt_last(), restarts = ckpt_restarts();

        answer = ckpt_checkpoint(CKPT_WAIT | CKPT_ALL);
        if (answer == CKPT_TAKEN) {
            CHECK(ckpt_last() > last && ckpt_restarts() == restarts);
        } else if (answer == CKPT_RESTARTED) {
            CHECK(ckpt_restarts() == restarts + 1);
        } else {
            CHECK(answer == CKPT_ABSENT && !ckpt_active());
        }
        if (rank == 0) {
            printf("asked %d\n", answer);
        }
    }
}

/* Within a stretch, the memory is used in the same way. */
static int stretch(long step)
{
    return (int)(step / 30);
}

static int is_excluded(long step)
{
    return !has('x') || stretch(step) % 2 == 0;
}

static void change_excluded(long step)
{
    if (has('x') && stretch(step) != stretch(step - 1)) {
        CHECK((is_excluded(step) ? ckpt_exclude : ckpt_include)(scratch, SCRATCH) == 0);
    }
}

/* After its safe point, rank 0 sends the messages that the others need to reach theirs. */
static void reach_safe_point(long step)
{
    long in = step;

    if (has('u') && rank > 0) {
        MPI_Recv(&in, 1, MPI_LONG, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    CHECK(in == step);
    ckpt_safe_point();
    for (int other = 1; has('u') && rank == 0 && other < size; other++) {
        MPI_Send(&step, 1, MPI_LONG, other, 2, MPI_COMM_WORLD);
    }
}

static void do_step(long step)
{
    const uint64_t restarts = ckpt_restarts();
    const unsigned char value = (unsigned char)(step % 255 + 1);

    change_excluded(step);
    write_scratch(value);
    if (has('r')) {
        ckpt_disable();
        ckpt_disable();
        exchange(step);
        ckpt_enable();
        usleep((useconds_t)STEP_US);
        check_scratch(value, restarts, 1); /* no checkpoint happens here */
        CHECK(ckpt_restarts() == restarts);
        ckpt_enable();
    } else {
        exchange(step);
        usleep((useconds_t)(rank == step % size ? STEP_US : 0));
    }
    if (has('s') || has('h')) {
        CHECK(has('r') || ckpt_restarts() == restarts);
        reach_safe_point(step);
    }
    check_scratch(value, restarts, is_excluded(step));
}

static void wait_in_region(const char *file)
{
    ckpt_disable();
    if (rank == 0) {
        printf("in region\n");
        fflush(stdout);
    }
    while (file != NULL && access(file, F_OK) != 0) {
        usleep(20000);
    }
    CHECK(ckpt_restarts() == 0 && ckpt_last() == 0);
    ckpt_enable();
}

int main(int argc, char **argv)
{
    long steps;
    struct ckpt_hooks hooks = {close_device, open_device, &device};
    uint64_t sum = 0;
    int id, level;

    CHECK(argc >= 3);
    mode = argv[1];
    steps = atol(argv[2]);
    CHECK(posix_memalign((void **)&scratch, PAGE, SCRATCH) == 0);
    CHECK(posix_memalign((void **)&kept, PAGE, SCRATCH) == 0);
    CHECK(ckpt_exclude(scratch, SCRATCH) == 0); /* allowed before MPI_Init */
    MPI_Init_thread(&argc, &argv, has('m') ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
                    &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    ckpt_only_at_safe_points(has('s'));
    id = has('h') ? ckpt_hooks_add(&hooks) : 0;
    CHECK(id >= 0);
    if (has('g')) {
        wait_in_region(argc > 3 ? argv[3] : NULL);
    }
    for (long step = 1; step <= steps || !job_may_end(); step++) {
        do_step(step);
        if (step <= steps) {
            ask(step);
            sum = sum * 31 + (uint64_t)step;
        }
        if (rank == 0 && step % 20 == 0) {
            printf("step %ld\n", step);
            fflush(stdout);
        }
    }
    ckpt_hooks_remove(id);
    if (rank == 0) {
        printf("restarts %d, hooks %d\n", (int)ckpt_restarts(), device.restarts);
    }
    CHECK(!has('h') || device.restarts == (int)ckpt_restarts());
    print_answer(sum);
    MPI_Finalize();
    return 0;
}
