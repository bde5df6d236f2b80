/*
 * A map with its lock: what a module remembers by key. Embedded in the struct of the module:
 *
 *     struct ccm_strmap *items = ccm_book_open(&figures->book);
 *     ...
 *     ccm_book_close(&figures->book);
 *
 * Between open and close the calling thread alone has the map, and what else of its struct the
 * module puts under the lock. In between it does not wait, and does not open the book again. Every
 * thread, but for init and fini.
 */
#ifndef CCM_UTIL_BOOK_H
#define CCM_UTIL_BOOK_H

#include "util/attr.h"
#include "util/strmap.h"

#include <pthread.h>
#include <stddef.h>

struct ccm_book {
    pthread_mutex_t lock;
    struct ccm_strmap *map;
};

/* free_value: of strmap.h. 0; on failure (-ENOMEM) there is nothing to finish. */
CCM_NODISCARD int ccm_book_init(struct ccm_book *book, ccm_strmap_free_fn free_value);
/* No thread has it open. */
void ccm_book_fini(struct ccm_book *book);

struct ccm_strmap *ccm_book_open(struct ccm_book *book);
void ccm_book_close(struct ccm_book *book);

/* The value of the key in a book that is open; where there is none, `size` zeroed bytes from the
 * heap become it. NULL on ENOMEM. */
void *ccm_book_obtain(struct ccm_book *book, const char *key, size_t size);
/* Drop one key of a book that is not open. */
void ccm_book_forget(struct ccm_book *book, const char *key);

#endif
