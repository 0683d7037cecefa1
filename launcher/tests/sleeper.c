/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sleeper.c - says that it has started, and waits to be killed.
 */
#include <unistd.h>

int main(void)
{
    if (write(STDOUT_FILENO, "!", 1) != 1) {
        return 1;
    }
    for (;;) {
        pause();
    }
}
