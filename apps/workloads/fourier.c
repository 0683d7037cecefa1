/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fourier.c [MEBIBYTES [ROUNDS]] - fast Fourier transforms of each rank's own
 * points, without any message meanwhile: the program of Plank 1993, section
 * 4.2.9.
 *
 * A round transforms all signals in MEBIBYTES, and back. The energy of a
 * spectrum must equal its signal's, and the transform back must give the
 * original signal.
 */
#include "workload.h"

#include <math.h>

#define BITS      15 /* log2 of the points of a signal */
#define POINTS    (1L << BITS)
#define TOLERANCE 1e-9

struct point {
    double re, im;
};

struct transform {
    struct point factors[POINTS / 2]; /* roots of unity */
    long reversed[POINTS];            /* indices with their bits reversed */
};

static struct transform transform;
static int rank;

static void prepare_transform(void)
{
    for (long i = 0; i < POINTS / 2; i++) {
        double angle = -2 * M_PI * (double)i / (double)POINTS;

        transform.factors[i] = (struct point){cos(angle), sin(angle)};
    }
    for (long i = 0; i < POINTS; i++) {
        transform.reversed[i] =
            transform.reversed[i / 2] / 2 + (i % 2) * (POINTS / 2);
    }
}

static void reverse_order(struct point *signal)
{
    for (long i = 0; i < POINTS; i++) {
        long other = transform.reversed[i];

        if (i < other) {
            struct point point = signal[i];

            signal[i] = signal[other];
            signal[other] = point;
        }
    }
}

/* Computes the sum and the difference of one point and another, which is
 * rotated first. */
static void butterfly(struct point *one, struct point *other, struct point turn)
{
    struct point turned = {other->re * turn.re - other->im * turn.im,
                           other->re * turn.im + other->im * turn.re};

    *other = (struct point){one->re - turned.re, one->im - turned.im};
    *one = (struct point){one->re + turned.re, one->im + turned.im};
}

/* `direction`: 1 to the spectrum, -1 back, without the factor POINTS. */
static void turn_into(struct point *signal, int direction)
{
    reverse_order(signal);
    for (long half = 1; half < POINTS; half *= 2) {
        for (long block = 0; block < POINTS; block += 2 * half) {
            for (long i = 0; i < half; i++) {
                struct point turn = transform.factors[i * (POINTS / 2 / half)];

                turn.im *= direction;
                butterfly(&signal[block + i], &signal[block + half + i], turn);
            }
        }
    }
}

static struct point first_value(long signal, long i)
{
    uint64_t bits = mix4((uint64_t)rank, (uint64_t)signal, (uint64_t)i, 4);

    return (struct point){(double)(uint32_t)bits * 0x1p-32 - 0.5,
                          (double)(bits >> 32) * 0x1p-32 - 0.5};
}

static double energy(const struct point *signal)
{
    double sum = 0;

    for (long i = 0; i < POINTS; i++) {
        sum += signal[i].re * signal[i].re + signal[i].im * signal[i].im;
    }
    return sum;
}

static void to_spectra(struct point *points, long signals)
{
    for (long s = 0; s < signals; s++) {
        struct point *signal = points + s * POINTS;
        double before = energy(signal);

        show_step(rank, s);
        turn_into(signal, 1);
        CHECK(fabs(energy(signal) / POINTS / before - 1) < TOLERANCE);
    }
}

static void to_signals(struct point *points, long signals)
{
    for (long s = 0; s < signals; s++) {
        struct point *signal = points + s * POINTS;

        show_step(rank, signals + s);
        turn_into(signal, -1);
        for (long i = 0; i < POINTS; i++) {
            struct point was = first_value(s, i);

            signal[i].re /= POINTS;
            signal[i].im /= POINTS;
            CHECK(fabs(signal[i].re - was.re) < TOLERANCE);
            CHECK(fabs(signal[i].im - was.im) < TOLERANCE);
        }
    }
}

int main(int argc, char **argv)
{
    struct point *points;
    long signals, rounds;
    uint64_t sum = 0;
    size_t bytes;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    bytes = bytes_argument(argc, argv, 1);
    rounds = number_argument(argc, argv, 2, 1);
    signals = (long)(bytes / sizeof *points / POINTS) + 1;
    points = malloc((size_t)(signals * POINTS) * sizeof *points);
    CHECK(points != NULL);
    prepare_transform();
    for (long i = 0; i < signals * POINTS; i++) {
        points[i] = first_value(i / POINTS, i % POINTS);
    }

    for (long round = 0; round < rounds; round++) {
        to_spectra(points, signals);
        sum = checksum(sum, points, (size_t)POINTS * sizeof *points);
        to_signals(points, signals);
    }

    print_answer(
        checksum(sum, points, (size_t)(signals * POINTS) * sizeof *points));
    free(points);
    MPI_Finalize();
    return 0;
}
