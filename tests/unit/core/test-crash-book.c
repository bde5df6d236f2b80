/* What the file of crashes says to the next process, whatever else stands in it. */
#include "daemon/crash_book.h"

#include "util/buf.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define LIMIT 3
#define MARK  UINT64_C(0x0123456789abcdef)
#define LINE  "crash 1 0123456789abcdef clb default/web\n"
#define FULL  2048 /* keys that are remembered */

struct world {
    char folder[32];
    char *path;
    struct ccm_buf text; /* what the file says */
};

static int fixture_begin(void **state)
{
    struct world *w = calloc(1, sizeof(*w));

    if (w == NULL) {
        return -1;
    }
    ccm_text_copy(w->folder, sizeof(w->folder), "/tmp/crash-book-XXXXXX");
    if (mkdtemp(w->folder) == NULL) {
        free(w);
        return -1;
    }
    w->path = ccm_text_format("%s/crashes", w->folder);
    *state = w;
    return w->path == NULL ? -1 : 0;
}

static int fixture_end(void **state)
{
    struct world *w = *state;

    (void)unlink(w->path); /* it may not be there */
    (void)rmdir(w->folder);
    ccm_buf_fini(&w->text);
    free(w->path);
    free(w);
    return 0;
}

/* Begin with a file that holds w->text. */
static struct daemon_crash_book *world_open(const struct world *w)
{
    CCM_CLEANUP(ccm_closep) int fd = open(w->path, O_WRONLY | O_CREAT | O_TRUNC, S_IRUSR | S_IWUSR);
    struct daemon_crash_book *book = NULL;

    assert_true(fd >= 0);
    assert_int_equal(write(fd, w->text.data, w->text.len), w->text.len);
    book = daemon_crash_book_open(w->path, LIMIT);
    assert_non_null(book);
    return book;
}

/* The next process finds the same. */
static void expect_crashes(const struct world *w, uint32_t count)
{
    struct daemon_crash_book *book = world_open(w);

    for (int process = 0; process < 2; process++) {
        assert_int_equal(daemon_crash_book_put_aside(book, "clb", "default/web", MARK), count);
        assert_int_equal(daemon_crash_book_put_aside(book, "nlb", "default/web", MARK), 0);
        assert_int_equal(daemon_crash_book_put_aside(book, "clb", "default/web", MARK + 1), 0);
        daemon_crash_book_free(book);
        book = daemon_crash_book_open(w->path, LIMIT);
        assert_non_null(book);
    }
    daemon_crash_book_free(book);
}

static void test_crashes_in_a_row(void **state)
{
    struct world *w = *state;

    ccm_buf_adds(&w->text, LINE LINE);
    expect_crashes(w, 0);
    ccm_buf_adds(&w->text, LINE);
    expect_crashes(w, 3);
    ccm_buf_adds(&w->text, LINE LINE);
    expect_crashes(w, 5);
}

/* A power failure leaves zeros where the file was growing. */
static void test_zeros_between(void **state)
{
    static const char zeros[4096];
    struct world *w = *state;

    ccm_buf_adds(&w->text, LINE);
    ccm_buf_add(&w->text, zeros, sizeof(zeros));
    ccm_buf_adds(&w->text, LINE LINE);
    ccm_buf_add(&w->text, zeros, sizeof(zeros));
    expect_crashes(w, 3);
}

/* Keys that nobody comes for any more make way for one that crashes now. */
static void test_a_full_book(void **state)
{
    struct world *w = *state;

    for (int i = 0; i < FULL; i++) {
        ccm_buf_addf(&w->text, "crash 3 0123456789abcdef route node-%d\n", i);
    }
    ccm_buf_adds(&w->text, LINE LINE LINE);
    expect_crashes(w, 3);

    struct daemon_crash_book *book = world_open(w);

    assert_false(daemon_crash_book_has(book, "route", "node-0"));
    assert_true(daemon_crash_book_has(book, "route", "node-1"));
    assert_true(daemon_crash_book_forget(book, "clb", "default/web"));
    assert_false(daemon_crash_book_has(book, "clb", "default/web"));
    daemon_crash_book_free(book);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_crashes_in_a_row, fixture_begin, fixture_end),
        cmocka_unit_test_setup_teardown(test_zeros_between, fixture_begin, fixture_end),
        cmocka_unit_test_setup_teardown(test_a_full_book, fixture_begin, fixture_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
