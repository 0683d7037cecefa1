/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tree_writer.h - what the parts of tree_writer share: its model of the files.
 */
#ifndef TREE_WRITER_H
#define TREE_WRITER_H

#include <stddef.h>
#include <stdint.h>

#define FILES      12
#define LARGEST    (200 * 1024) /* bytes of a file */
#define SHARED_DIR "shared"

/* What a file must have. */
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

/* Fills `bytes` by random. */
void fill(unsigned char *bytes, size_t size);

/* tree_content.c: makes the file new in one of the less common ways. */
void write_otherwise(int file);

/* tree_content.c: changes a file that exists in one of the less common ways. */
void overwrite_otherwise(int file);

/* tree_kept.c: files that are open, or mapped, over all steps. The last one
 * compares them with the model. */
void open_kept_files(void);
void change_kept_files(void);
void compare_kept_files(void);

/* tree_names.c: names of files, directories and links in a directory of their own,
 * and whether they are those of the model. */
void make_names(void);
void change_names(void);
void compare_names(void);

#endif
