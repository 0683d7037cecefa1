/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lower_subject.h - what the files of lower_subject share: the lower half under test, and checks.
 */
#ifndef LOWER_SUBJECT_H
#define LOWER_SUBJECT_H

#include "lower/lower.h"
#include "sys/syscall.h"
#include "sys/thread_pointer.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>

#define RANGES      4096
#define RESIDUE_MAX (256 * 1024)

#define CHECK(condition, ...)                                               \
    do {                                                                    \
        if (!(condition)) {                                                 \
            fprintf(stderr, "%s:%d: %s: ", __FILE__, __LINE__, #condition); \
            fprintf(stderr, __VA_ARGS__);                                   \
            fprintf(stderr, "\n");                                          \
            exit(1);                                                        \
        }                                                                   \
    } while (0)

enum function {
    INIT,
    FINALIZE,
    RANK,
    SIZE,
    BARRIER,
    SEND,
    RECV,
    NONE,
    GUEST_MEMORY,
    GUEST_DESCRIPTORS,
    GUEST_THREADS,
    GUEST_SIGNALS,
    GUEST_YIELDS,
    GUEST_SETTLE,
    GUEST_DEAF,
    GUEST_HEAR,
    GUEST_VARIABLE,
    GUEST_END,
    GUEST_GIVE_UP,
    FUNCTIONS,
};

extern void *function[FUNCTIONS];
extern const char *const function_names[]; /* by enum function */
extern struct ckpt_lower lower;
extern int alone;               /* no other thread maps memory during a load */
extern volatile int upper_stop; /* tells threads of the application to end */

/* Evaluates a call with the lower half's thread pointer. */
#define BELOW(call)                                    \
    ({                                                 \
        uintptr_t upper_ = ckpt_thread_pointer_get();  \
        ckpt_thread_pointer_set(lower.thread_pointer); \
        __typeof__(call) result_ = (call);             \
        ckpt_thread_pointer_set(upper_);               \
        result_;                                       \
    })

typedef int (*init_t)(int *, char ***);
typedef int (*void_t)(void);
typedef int (*comm_t)(void *);
typedef int (*number_t)(void *, int *);
typedef int (*send_t)(const void *, int, void *, int, int, void *);
typedef int (*recv_t)(void *, int, void *, int, int, void *, void *);

struct open_file {
    int open;
    dev_t device;
    ino_t inode;
};
#define DESCRIPTORS 4096

struct signal_state {
    struct ckpt_sigaction action[65];
    uint64_t mask;
    char name[16];
};

/* Load a library as the lower half; and the launcher's MPI library, which then begins. */
int load(const char *library, struct ckpt_failure *failure);
void load_and_init(void);
void barrier(void);

/* Bytes of [start, end) in none of the ranges. */
uint64_t outside(const struct ckpt_range *ranges, int count, uint64_t start, uint64_t end);

/* 1 if the lower half has the memory. With the lower half's thread pointer. */
int is_lower(const void *address, size_t size);

void read_descriptors(struct open_file *files);
/* The same files are open under the same numbers as before. */
void check_same_descriptors(const struct open_file *before);
void read_signals(struct signal_state *state);
void handler(int signal);

/* discard_subject.c */
void mode_discard(void);
void mode_keep(void);
void mode_discard_mpi(void);

#endif
