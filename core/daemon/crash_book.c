#include "daemon/crash_book.h"

#include "util/buf.h"
#include "util/cleanup.h"
#include "util/crash.h"
#include "util/log.h"
#include "util/parse.h"
#include "util/strmap.h"
#include "util/text.h"
#include "util/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MAX    262144 /* bytes that are read: the newest */
#define ENTRIES_MAX 2048
#define TEXT_MAX    1100 /* of a plugin's name, a blank and a key */
#define COUNT_MAX   1000
#define FILE_FLAGS  (O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)

static const struct ccm_log book_log = { .part = "ccmd" };

struct crash_entry {
    uint64_t mark;
    uint32_t count;
};

struct daemon_crash_book {
    uint32_t limit;
    char *path;
    int fd;             /* of the file; -1: there is none */
    atomic_size_t keys; /* entries: mostly none */

    pthread_mutex_t lock;       /* guards what follows */
    struct ccm_strmap *entries; /* "PLUGIN KEY" -> struct crash_entry, the oldest first */
};

/* --- the file ------------------------------------------------------------------------------- */

static int hex_value(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The next word of the line, with %XX resolved; false when it has another form than the handler
 * gives it, or is too long. */
static bool record_take_word(const char **cursor, char *word, size_t size)
{
    const char *from = *cursor;
    size_t len = 0;

    while (*from > ' ' && *from < 0x7f && len + 1 < size) {
        char c = *from++;

        if (c == '%') {
            const int high = hex_value(from[0]);
            const int low = high < 0 ? -1 : hex_value(from[1]);

            if (low < 0 || high + low == 0) {
                return false;
            }
            c = (char)(high * 16 + low);
            from += 2;
        }
        word[len++] = c;
    }
    word[len] = '\0';
    if (len == 0 || (*from != ' ' && *from != '\0')) {
        return false;
    }
    *cursor = *from == ' ' ? from + 1 : from;
    return true;
}

static bool parse_mark(const char *word, uint64_t *ret)
{
    *ret = 0;
    if (strlen(word) != 16) {
        return false;
    }
    for (const char *at = word; *at != '\0'; at++) {
        const int digit = hex_value(*at);

        if (digit < 0) {
            return false;
        }
        *ret = *ret * 16 + (uint64_t)digit;
    }
    return true;
}

/* A key that nobody asks for any more, such as that of an object that was deleted meanwhile, must
 * not be in the way of one that crashes now. */
static void book_drop_oldest(struct daemon_crash_book *book)
{
    void *cursor = NULL;
    const char *name = NULL;

    if (ccm_strmap_next(book->entries, &cursor, &name, NULL) != 0) {
        ccm_strmap_del(book->entries, name);
    }
}

/* Count crashes of what was done with this mark; with another mark it begins anew. */
static void book_add(struct daemon_crash_book *book, const char *name, uint64_t mark,
                     uint32_t count)
{
    struct crash_entry *entry = ccm_strmap_get(book->entries, name);

    if (entry == NULL) {
        if (ccm_strmap_len(book->entries) >= ENTRIES_MAX) {
            book_drop_oldest(book);
        }
        entry = calloc(1, sizeof(*entry));
        if (entry == NULL || ccm_strmap_set(book->entries, name, entry) < 0) {
            free(entry);
            return; /* it crashes once more */
        }
    }
    entry->count = entry->mark == mark ? entry->count + count : count;
    entry->count = entry->count < COUNT_MAX ? entry->count : COUNT_MAX;
    entry->mark = mark;
}

/* A line without its end; one of another form is left out. */
static void book_read_line(struct daemon_crash_book *book, const char *line)
{
    const char *cursor = line;
    char word[32];
    char name[TEXT_MAX];
    char key[TEXT_MAX];
    uint32_t count;
    uint64_t mark;

    if (!record_take_word(&cursor, word, sizeof(word)) || !ccm_text_equal(word, "crash") ||
        !record_take_word(&cursor, word, sizeof(word)) ||
        ccm_parse_u32(word, 1, COUNT_MAX, &count) < 0 ||
        !record_take_word(&cursor, word, sizeof(word)) || !parse_mark(word, &mark) ||
        !record_take_word(&cursor, word, sizeof(word)) ||
        !record_take_word(&cursor, key, sizeof(key)) || *cursor != '\0') {
        return;
    }
    ccm_text_printf(name, sizeof(name), "%s %s", word, key); /* a longer one is found nowhere */
    book_add(book, name, mark, count);
}

static void book_read_file(struct daemon_crash_book *book, int64_t size)
{
    CCM_CLEANUP(ccm_freep) char *text = malloc(FILE_MAX + 1);
    const int64_t from = size > FILE_MAX ? size - FILE_MAX : 0;
    const ssize_t len = text == NULL ? -1 : pread(book->fd, text, FILE_MAX, from);
    char *line = text;
    char *end;

    if (len < 0) {
        return; /* nothing is known */
    }
    for (ssize_t i = 0; i < len; i++) {
        text[i] = text[i] == '\0' ? '\n' : text[i]; /* such as a power failure leaves */
    }
    text[len] = '\0';
    while ((end = strchr(line, '\n')) != NULL) { /* what has no end was cut off by the crash */
        *end = '\0';
        book_read_line(book, line);
        line = end + 1;
    }
}

static void print_escaped(struct ccm_buf *buf, const char *text)
{
    for (; *text != '\0'; text++) {
        const unsigned char c = (unsigned char)*text;

        if (c <= 0x20 || c >= 0x7f || c == '%') {
            ccm_buf_addf(buf, "%%%02x", c);
        } else {
            ccm_buf_addc(buf, (char)c);
        }
    }
}

static void print_entries(const struct daemon_crash_book *book, struct ccm_buf *buf)
{
    void *cursor = NULL;
    const char *name;
    void *value;

    while (ccm_strmap_next(book->entries, &cursor, &name, &value) != 0) {
        const struct crash_entry *entry = value;
        const char *key = strchr(name, ' ');

        ccm_buf_addf(buf, "crash %" PRIu32 " %016" PRIx64 " %.*s ", entry->count, entry->mark,
                     (int)(key - name), name);
        print_escaped(buf, key + 1);
        ccm_buf_addc(buf, '\n');
    }
}

/* A new file takes the place of the old one, under the same descriptor: a crash at any moment is in
 * the one that has the name, and once. When it cannot be written, the old one says too much, which
 * is put right later. */
static void book_write_file(struct daemon_crash_book *book)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = (size_t)4 << 20 };
    CCM_CLEANUP(ccm_freep) char *fresh = ccm_text_format("%s.new", book->path);
    CCM_CLEANUP(ccm_closep)
    int fd = fresh == NULL ? -1 : open(fresh, FILE_FLAGS | O_TRUNC, S_IRUSR | S_IWUSR);

    print_entries(book, &text);
    if (fd >= 0 && ccm_buf_error(&text) == 0 &&
        (text.len == 0 || write(fd, text.data, text.len) == (ssize_t)text.len)) {
        ccm_crash_set_record(book->fd, fd);
        if (rename(fresh, book->path) == 0) {
            ccm_crash_set_record(fd, -1);
            (void)dup3(fd, book->fd, O_CLOEXEC); /* both are open, and not the same */
        }
        ccm_crash_set_record(book->fd, -1);
    }
}

/* --- life ----------------------------------------------------------------------------------- */

static void book_open_file(struct daemon_crash_book *book)
{
    struct stat about;
    int fd = open(book->path, FILE_FLAGS, S_IRUSR | S_IWUSR);

    if (fd < 0 || fstat(fd, &about) < 0 || !S_ISREG(about.st_mode)) {
        ccm_log_warn(&book_log, "crashes are not remembered: %s: %s", book->path,
                     fd < 0 ? strerror(errno) : "not a file");
        ccm_closep(&fd);
        return;
    }
    book->fd = fd;
    book_read_file(book, about.st_size);
    if (about.st_size > 0) {
        book_write_file(book);
    }
    atomic_store(&book->keys, ccm_strmap_len(book->entries));
    ccm_crash_set_record(fd, -1);
}

struct daemon_crash_book *daemon_crash_book_open(const char *path, uint32_t limit)
{
    struct daemon_crash_book *book = calloc(1, sizeof(*book));

    if (book == NULL) {
        return NULL;
    }
    book->fd = -1;
    book->limit = limit;
    book->path = strdup(path);
    book->entries = ccm_strmap_new(free);
    if (book->path == NULL || book->entries == NULL || pthread_mutex_init(&book->lock, NULL) != 0) {
        ccm_strmap_free(book->entries);
        free(book->path);
        free(book);
        return NULL;
    }
    book_open_file(book);
    return book;
}

void daemon_crash_book_free(struct daemon_crash_book *book)
{
    if (book == NULL) {
        return;
    }
    ccm_crash_set_record(-1, -1);
    ccm_closep(&book->fd);
    ccm_lock_fini(&book->lock);
    ccm_strmap_free(book->entries);
    free(book->path);
    free(book);
}

/* --- asking --------------------------------------------------------------------------------- */

static bool book_is_empty(struct daemon_crash_book *book)
{
    return book == NULL || atomic_load(&book->keys) == 0;
}

/* How often the key crashed; 0 = it did not. *ret_mark: with what mark. */
static uint32_t book_find(struct daemon_crash_book *book, const char *plugin, const char *key,
                          uint64_t *ret_mark)
{
    char name[TEXT_MAX];
    uint32_t count = 0;

    if (book_is_empty(book)) {
        return 0;
    }
    ccm_text_printf(name, sizeof(name), "%s %s", plugin, key);
    ccm_lock(&book->lock);

    const struct crash_entry *entry = ccm_strmap_get(book->entries, name);

    if (entry != NULL) {
        *ret_mark = entry->mark;
        count = entry->count;
    }
    ccm_unlock(&book->lock);
    return count;
}

bool daemon_crash_book_has(struct daemon_crash_book *book, const char *plugin, const char *key)
{
    uint64_t mark;

    return book_find(book, plugin, key, &mark) > 0;
}

uint32_t daemon_crash_book_put_aside(struct daemon_crash_book *book, const char *plugin,
                                     const char *key, uint64_t mark)
{
    uint64_t of = 0;
    const uint32_t count = book_find(book, plugin, key, &of);

    return count > 0 && of == mark && count >= book->limit ? count : 0;
}

bool daemon_crash_book_forget(struct daemon_crash_book *book, const char *plugin, const char *key)
{
    char wanted[TEXT_MAX];
    void *cursor = NULL;
    const char *name;
    void *value;
    bool found = false;

    if (book_is_empty(book)) {
        return false;
    }
    ccm_text_printf(wanted, sizeof(wanted), "%s %s", plugin, key == NULL ? "" : key);
    ccm_lock(&book->lock);
    while (ccm_strmap_next(book->entries, &cursor, &name, &value) != 0) {
        if (key == NULL ? ccm_text_starts(name, wanted) : ccm_text_equal(name, wanted)) {
            ccm_strmap_del(book->entries, name);
            found = true;
        }
    }
    if (found) {
        atomic_store(&book->keys, ccm_strmap_len(book->entries));
        book_write_file(book);
    }
    ccm_unlock(&book->lock);
    return found;
}
