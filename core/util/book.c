#include "util/book.h"

#include "util/thread.h"

#include <errno.h>
#include <stdlib.h>

int ccm_book_init(struct ccm_book *book, ccm_strmap_free_fn free_value)
{
    book->map = ccm_strmap_new(free_value);
    if (book->map == NULL || pthread_mutex_init(&book->lock, NULL) != 0) {
        ccm_strmap_free(book->map);
        book->map = NULL;
        return -ENOMEM;
    }
    return 0;
}

void ccm_book_fini(struct ccm_book *book)
{
    ccm_strmap_free(book->map);
    ccm_lock_fini(&book->lock);
}

struct ccm_strmap *ccm_book_open(struct ccm_book *book)
{
    ccm_lock(&book->lock);
    return book->map;
}

void ccm_book_close(struct ccm_book *book)
{
    ccm_unlock(&book->lock);
}

void *ccm_book_obtain(struct ccm_book *book, const char *key, size_t size)
{
    void *value = ccm_strmap_get(book->map, key);

    if (value != NULL) {
        return value;
    }
    value = calloc(1, size);
    if (value != NULL && ccm_strmap_set(book->map, key, value) < 0) {
        free(value);
        value = NULL;
    }
    return value;
}

void ccm_book_forget(struct ccm_book *book, const char *key)
{
    ccm_strmap_del(ccm_book_open(book), key);
    ccm_book_close(book);
}
