/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tree_writer.h - declarations that the parts of tree_writer share: the model of the files.
 */
#ifndef TREE_WRITER_H
#define TREE_WRITER_H

#include <stddef.h>
#include <stdint.h>

#define FILES      12
#define LARGEST    (200 * 1024) /* bytes of a file */
#define SHARED_DIR "shared"

/* The expected state of a file. */
struct model {
    int exists;
    size_t size;
    unsigned char bytes[LARGEST];
};

extern struct model model[FILES];
extern int rank, ranks, step;

/* Ends the job with a message unless the condition holds. */
void check(int condition, const char *what, int line);
#define CHECK(condition) check((condition), #condition, __LINE__)

/* A random number below `limit`; the same in each run with the same seed. */
uint64_t draw(uint64_t limit);

/* The name of a file of the model, valid for four calls. */
const char *name_of(int file);

/* Fills `bytes` with random bytes. */
void fill(unsigned char *bytes, size_t size);

/* tree_content.c: makes a new file in one of the less common ways. */
void write_otherwise(int file);

/* tree_content.c: changes an existing file in one of the less common ways. */
void overwrite_otherwise(int file);

/* tree_kept.c: files that are open, or mapped, over all steps. The last function compares them with
 * the model. */
void open_kept_files(void);
void change_kept_files(void);
void compare_kept_files(void);

/* tree_names.c: changes names of files, directories and links in their own directory, and compares
 * them with the model. */
void make_names(void);
void change_names(void);
void compare_names(void);

#endif
