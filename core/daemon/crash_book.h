/*
 * Which keys crashed the process, and how often in a row: so that one object cannot end it for
 * ever. The handler of crashes (util/crash.h) writes them to an open file that outlives the
 * process; the next one reads it here. A key that has crashed `limit` times in a row with the same
 * mark is put aside by daemon/runner.c. A mark stands for all that decides about a pass: the
 * object, the plugin, ccmd (daemon/crash_mark.h).
 *
 * The file is text, and nothing of it is believed that has not the form of a record. Every thread;
 * one lock, a leaf.
 */
#ifndef CCM_DAEMON_CRASH_BOOK_H
#define CCM_DAEMON_CRASH_BOOK_H

#include <stdbool.h>
#include <stdint.h>

struct daemon_crash_book;

/*
 * Read the file, make it when it is not there, and have crashes recorded in it from now on. limit:
 * at least 1. Without a usable file, which is logged, nothing is known and nothing is recorded.
 * NULL on ENOMEM.
 */
struct daemon_crash_book *daemon_crash_book_open(const char *path, uint32_t limit);
/* NULL is fine. */
void daemon_crash_book_free(struct daemon_crash_book *book);

/* Whether the key crashed at all since it last did well: then it is worked on alone. NULL has none.
 */
bool daemon_crash_book_has(struct daemon_crash_book *book, const char *plugin, const char *key);

/* How often it did in a row, with this mark, if that is the limit or more; else 0. */
uint32_t daemon_crash_book_put_aside(struct daemon_crash_book *book, const char *plugin,
                                     const char *key, uint64_t mark);

/* The key has done well, or somebody knows better. key NULL = all of the plugin. Returns whether
 * there was something to forget. */
bool daemon_crash_book_forget(struct daemon_crash_book *book, const char *plugin, const char *key);

#endif
