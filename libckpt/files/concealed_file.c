/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * concealed_file.c - locates files that were concealed when the process was saved.
 *
 * A restart first reveals all concealed objects. A file that the program only reads is then
 * under its visible name. A file that the program has open for writing is concealed again.
 */
#include "files/concealed_file.h"

#include "ckpt/journal.h"
#include "journal/concealed.h"
#include "journal/shadow.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Returns the journal's directory if the job conceals its outputs, else NULL. */
static const char *concealing_journal(void)
{
    static char lock[4096 + sizeof(CKPT_JOURNAL_CONCEALED)];
    const char *journal = getenv(CKPT_JOURNAL_VARIABLE);

    if (journal == NULL || *journal == '\0') {
        return NULL;
    }
    snprintf(lock, sizeof lock, "%s/" CKPT_JOURNAL_CONCEALED, journal);
    return access(lock, F_OK) == 0 ? journal : NULL;
}

size_t ckpt_concealed_file_settle(const char *path, int is_written,
                                  struct ckpt_failure *failure, int *error_p)
{
    const size_t prefix = ckpt_concealed_prefix(path);
    const char *journal = concealing_journal();

    *error_p = 0;
    if (prefix == 0 || access(path, F_OK) == 0) {
        return 0;
    }
    if (!is_written || journal == NULL) {
        return prefix;
    }
    *error_p = ckpt_shadow_restore(journal, path, prefix);
    if (*error_p != 0) {
        (void)ckpt_refuse(failure, CKPT_REFUSAL_CHANGED_FILE, *error_p,
                          "%s cannot be concealed again: %s",
                          path + prefix, strerror(-*error_p));
    }
    return 0;
}
