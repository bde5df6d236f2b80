#include "util/crash.h"

#include "util/attr.h"
#include "util/log.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define LINE_SIZE  4096
#define WAIT_MS    2000  /* for whoever reads the log to make place for the line */
#define END_S      10    /* for all of it */
#define STACK_SIZE 65536 /* pages that nobody touches cost nothing */

static const struct crash_signal {
    int number;
    bool repeats; /* the instruction is run again when the handler returns */
    const char *name;
} crash_signals[] = {
    { SIGSEGV, true, "SIGSEGV" }, { SIGBUS, true, "SIGBUS" },    { SIGFPE, true, "SIGFPE" },
    { SIGILL, true, "SIGILL" },   { SIGABRT, false, "SIGABRT" }, { SIGTRAP, false, "SIGTRAP" },
    { SIGSYS, false, "SIGSYS" },
};

#define SIGNAL_COUNT CCM_ARRAY_LEN(crash_signals)

/* A signal belongs to the process, so this is one of the few places with static state. */
static struct sigaction crash_before[SIGNAL_COUNT]; /* what the signals did: default, sanitizer */
static atomic_bool crash_begun;
static pthread_key_t crash_stacks; /* gives that of a thread back when it ends */
static bool crash_has_stacks;
static _Thread_local void *crash_stack;
static _Thread_local struct ccm_crash_call *crash_current;
static _Thread_local volatile sig_atomic_t crash_is_mine;

/* --- text without help from the library ----------------------------------------------------- */

struct crash_text {
    size_t len;
    char bytes[LINE_SIZE];
};

static void crash_add_char(struct crash_text *text, char c)
{
    if (text->len < sizeof(text->bytes)) {
        text->bytes[text->len++] = c;
    }
}

static void crash_add(struct crash_text *text, const char *words)
{
    for (; *words != '\0'; words++) {
        crash_add_char(text, *words);
    }
}

/* What comes from outside: nothing in it ends the line or a text in JSON. */
static void crash_add_foreign(struct crash_text *text, const char *words)
{
    for (; *words != '\0'; words++) {
        const unsigned char c = (unsigned char)*words;

        crash_add_char(text, c < 0x20 || c == 0x7f || c == '"' || c == '\\' ? '?' : (char)c);
    }
}

static void crash_add_number(struct crash_text *text, uint64_t number, unsigned base, size_t width)
{
    char digits[24];
    size_t len = 0;

    do {
        digits[len++] = "0123456789abcdef"[number % base];
        number /= base;
    } while ((number > 0 || len < width) && len < sizeof(digits));
    while (len > 0) {
        crash_add_char(text, digits[--len]);
    }
}

/* The date of a day, counted from 1970-01-01; the algorithm counts years from March on. */
static void crash_add_day(struct crash_text *text, int64_t day)
{
    const int64_t z = day + 719468;
    const int64_t era = z / 146097;
    const int64_t of_era = z - era * 146097;
    const int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    const int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
    const int64_t m = (5 * of_year + 2) / 153;
    const int64_t month = m < 10 ? m + 3 : m - 9;

    crash_add_number(text, (uint64_t)(year + era * 400 + (month <= 2 ? 1 : 0)), 10, 4);
    crash_add_char(text, '-');
    crash_add_number(text, (uint64_t)month, 10, 2);
    crash_add_char(text, '-');
    crash_add_number(text, (uint64_t)(of_year - (153 * m + 2) / 5 + 1), 10, 2);
}

static void crash_add_time(struct crash_text *text)
{
    struct timespec now = { 0 };

    (void)clock_gettime(CLOCK_REALTIME, &now); /* cannot fail for this clock */

    const int64_t seconds = now.tv_sec < 0 ? 0 : (int64_t)now.tv_sec;
    const uint64_t of_day = (uint64_t)(seconds % 86400);

    crash_add_day(text, seconds / 86400);
    crash_add_char(text, 'T');
    crash_add_number(text, of_day / 3600, 10, 2);
    crash_add_char(text, ':');
    crash_add_number(text, of_day / 60 % 60, 10, 2);
    crash_add_char(text, ':');
    crash_add_number(text, of_day % 60, 10, 2);
    crash_add_char(text, '.');
    crash_add_number(text, (uint64_t)now.tv_nsec / 1000000, 10, 3);
    crash_add_char(text, 'Z');
}

/* --- what is said --------------------------------------------------------------------------- */

static void crash_add_cause(struct crash_text *text, const struct ccm_crash_call *call,
                            const char *name, const siginfo_t *info)
{
    if (call == NULL) {
        crash_add(text, "crash outside of calls into plugins: ");
    } else {
        crash_add(text, "crash of the plugin in ");
        crash_add(text, call->stage);
        crash_add(text, "(): ");
    }
    crash_add(text, name);
    if (info->si_code > 0 && (info->si_signo == SIGSEGV || info->si_signo == SIGBUS)) {
        crash_add(text, " at address 0x");
        crash_add_number(text, (uint64_t)(uintptr_t)info->si_addr, 16, 1);
    }
}

static void crash_add_object(struct crash_text *text, const struct ccm_crash_call *call)
{
    crash_add_foreign(text, call->keys[0]);
    if (call->key_count > 1) {
        crash_add(text, " (+");
        crash_add_number(text, call->key_count - 1, 10, 1);
        crash_add(text, " more)");
    }
}

/* A pipe that nobody reads takes nothing: the crash must come to its end all the same. */
static void crash_write(int fd, const struct crash_text *text)
{
    struct pollfd ready = { .fd = fd, .events = POLLOUT };

    if (poll(&ready, 1, WAIT_MS) == 1 && write(fd, text->bytes, text->len) < 0) {
        return; /* nowhere to report it */
    }
}

/* As a line of log.c. */
static void crash_write_line(const struct ccm_crash_call *call, const char *name,
                             const siginfo_t *info)
{
    const bool json = ccm_log_is_json();
    const bool has_object = call != NULL && call->keys != NULL && call->key_count > 0;
    struct crash_text line;

    line.len = 0;
    crash_add(&line, json ? "{\"ts\":\"" : "");
    crash_add_time(&line);
    crash_add(&line, json ? "\",\"level\":\"error\",\"part\":\"" : " error ");
    crash_add_foreign(&line, call == NULL ? "ccmd" : call->plugin);
    if (has_object) {
        crash_add(&line, json ? "\",\"object\":\"" : " ");
        crash_add_object(&line, call);
    }
    crash_add(&line, json ? "\",\"msg\":\"" : ": ");
    crash_add_cause(&line, call, name, info);
    crash_add(&line, json ? "\"}\n" : "\n");
    crash_write(STDERR_FILENO, &line);
}

static void crash_report(const struct crash_signal *signal, const siginfo_t *info)
{
    crash_is_mine = 1;
    (void)alarm(END_S); /* what was set before does not come to its end */
    crash_write_line(crash_current, signal->name, info);
}

static void crash_handle(int number, siginfo_t *info, void *context)
{
    size_t i = 0;

    (void)context; /* the default action has it all */
    while (i < SIGNAL_COUNT - 1 && crash_signals[i].number != number) {
        i++;
    }
    if (crash_is_mine == 0) {
        while (atomic_exchange(&crash_begun, true)) {
            (void)pause(); /* another thread crashes, and the process with it */
        }
        crash_report(&crash_signals[i], info);
    }
    (void)sigaction(number, &crash_before[i], NULL); /* a valid signal */
    if (!crash_signals[i].repeats || info->si_code <= 0) {
        (void)raise(number); /* takes effect on return */
    }
}

static void crash_free_stack(void *stack)
{
    (void)munmap(stack, STACK_SIZE); /* it was mapped with that size */
}

/* The stack on which this thread crashes, made when it is first asked for. NULL: the one it has. */
static void *crash_obtain_stack(void)
{
    if (crash_stack == NULL && crash_has_stacks) {
        void *fresh = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

        if (fresh != MAP_FAILED && pthread_setspecific(crash_stacks, fresh) != 0) {
            crash_free_stack(fresh);
        } else if (fresh != MAP_FAILED) {
            crash_stack = fresh;
        }
    }
    return crash_stack;
}

void ccm_crash_install(void)
{
    struct sigaction action = { .sa_sigaction = crash_handle, .sa_flags = SA_SIGINFO | SA_ONSTACK };

    crash_has_stacks = pthread_key_create(&crash_stacks, crash_free_stack) == 0;
    (void)sigemptyset(&action.sa_mask); /* cannot fail */
    for (size_t i = 0; i < SIGNAL_COUNT; i++) {
        (void)sigaction(crash_signals[i].number, &action, &crash_before[i]); /* valid signals */
    }
}

void ccm_crash_begin(struct ccm_crash_call *call)
{
    call->outer = crash_current;
    if (call->outer == NULL) {
        const stack_t own = { .ss_sp = crash_obtain_stack(), .ss_size = STACK_SIZE };

        if (own.ss_sp == NULL || sigaltstack(&own, &call->before) < 0) {
            call->before.ss_sp = NULL;
            call->before.ss_flags = SS_DISABLE;
        }
    }
    crash_current = call;
}

void ccm_crash_end(struct ccm_crash_call *call)
{
    crash_current = call->outer;
    if (call->outer == NULL) {
        (void)sigaltstack(&call->before, NULL); /* what was there before */
    }
}
