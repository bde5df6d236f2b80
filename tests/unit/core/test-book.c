/* A map with its lock. */
#include "util/book.h"
#include "util/thread.h"

#include <stdlib.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define TURNS 20000

static size_t freed;

static void count_free(void *value)
{
    freed++;
    free(value);
}

static void test_make_and_forget(void **state)
{
    struct ccm_book book;

    (void)state;
    freed = 0;
    assert_int_equal(ccm_book_init(&book, count_free), 0);

    struct ccm_strmap *map = ccm_book_open(&book);
    uint64_t *made = ccm_book_obtain(&book, "a", sizeof(*made));

    assert_non_null(made);
    assert_int_equal(*made, 0);
    *made = 7;
    assert_ptr_equal(ccm_book_obtain(&book, "a", sizeof(*made)), made);
    assert_ptr_equal(ccm_strmap_get(map, "a"), made);
    assert_non_null(ccm_book_obtain(&book, "b", 1));
    assert_int_equal(ccm_strmap_len(map), 2);
    ccm_book_close(&book);
    ccm_book_forget(&book, "a");
    ccm_book_forget(&book, "absent");
    assert_int_equal(freed, 1);
    ccm_book_fini(&book);
    assert_int_equal(freed, 2);
}

static void count_up(void *arg)
{
    struct ccm_book *book = arg;

    for (int i = 0; i < TURNS; i++) {
        (void)ccm_book_open(book);
        uint64_t *count = ccm_book_obtain(book, "a", sizeof(*count));

        if (count == NULL) {
            abort();
        }
        *count += 1;
        ccm_book_close(book);
    }
}

static void test_threads_take_turns(void **state)
{
    struct ccm_thread threads[4] = { 0 };
    struct ccm_book book;

    (void)state;
    assert_int_equal(ccm_book_init(&book, free), 0);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(ccm_thread_start(&threads[i], count_up, &book), 0);
    }
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(ccm_thread_join(&threads[i], INT64_MAX), 0);
    }
    assert_int_equal(*(uint64_t *)ccm_strmap_get(book.map, "a"), 4 * TURNS);
    ccm_book_fini(&book);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_make_and_forget),
        cmocka_unit_test(test_threads_take_turns),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
