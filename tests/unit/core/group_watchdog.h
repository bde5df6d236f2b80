/* The watchdog of a group of tests; for cmocka_run_group_tests(). */
#ifndef TESTS_GROUP_WATCHDOG_H
#define TESTS_GROUP_WATCHDOG_H

#include "sched/watchdog.h"

static struct sched_watchdog *watchdog;

static int start_watchdog(void **state)
{
    (void)state;
    return sched_watchdog_new(&watchdog);
}

static int end_watchdog(void **state)
{
    (void)state;
    sched_watchdog_free(watchdog);
    return 0;
}

#endif
