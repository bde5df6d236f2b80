/* What every fuzz target is made of. One thread. */
#ifndef CCM_TESTS_FUZZ_H
#define CCM_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* One input. It may do nothing but come back: no crash, no leak, no hang. Called by libFuzzer in a
 * build with CCM_SANITIZE=fuzz, by replay.c for the files of the corpus in any other. Returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* End at once, in every build: something that must hold does not. */
#define FUZZ_REQUIRE(condition)                                                                    \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            __builtin_trap();                                                                      \
        }                                                                                          \
    } while (0)

/* The input as a file, for parsers that read one. The same name each time; NULL when there is no
 * room. */
const char *fuzz_file(const uint8_t *data, size_t size);

/* The input as text with a NUL; the caller frees. NULL when memory ran out. */
char *fuzz_text(const uint8_t *data, size_t size);

#endif
