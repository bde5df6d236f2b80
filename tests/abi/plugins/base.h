/*
 * A sound plugin, to be spoilt in one point: a source file defines one of the macros below and
 * includes this.
 */
#ifndef CCM_TEST_ABI_BASE_H
#define CCM_TEST_ABI_BASE_H

#include <ccm/plugin.h>

#include <unistd.h>

#ifndef PLUGIN_MAJOR
#define PLUGIN_MAJOR CCM_ABI_MAJOR
#endif
#ifndef PLUGIN_SIZE
#define PLUGIN_SIZE sizeof(struct ccm_plugin)
#endif
#ifndef PLUGIN_FLAGS
#define PLUGIN_FLAGS 0
#endif
#ifndef PLUGIN_CREATE_RESULT
#define PLUGIN_CREATE_RESULT 0
#endif
#ifndef PLUGIN_START_RESULT
#define PLUGIN_START_RESULT 0
#endif
#ifndef PLUGIN_START_KIND
#define PLUGIN_START_KIND CCM_ERROR_TRANSIENT
#endif
#ifndef PLUGIN_DESTROY
#define PLUGIN_DESTROY base_destroy
#endif
/* Statements to be done first in a function, such as base_hang(). */
#ifndef PLUGIN_IN_CREATE
#define PLUGIN_IN_CREATE (void)0
#endif
#ifndef PLUGIN_IN_START
#define PLUGIN_IN_START (void)0
#endif
#ifndef PLUGIN_IN_RECONCILE
#define PLUGIN_IN_RECONCILE (void)0
#endif
#ifndef PLUGIN_IN_MAP
#define PLUGIN_IN_MAP (void)0
#endif
#ifndef PLUGIN_KIND
#define PLUGIN_KIND CCM_KIND_SERVICE
#endif

static int base_calls;
static const struct ccm_host *base_host;

/* Never returns, whatever is asked of it. */
static inline void base_hang(void)
{
    base_host->log(base_host, CCM_LEVEL_INFO, NULL, "hangs from now on");
    for (;;) {
        (void)pause(); /* signals change nothing */
    }
}

static int base_create(const struct ccm_host *host, void **ret_self, struct ccm_error *err)
{
    base_host = host;
    PLUGIN_IN_CREATE;
    if (PLUGIN_CREATE_RESULT < 0) {
        return ccm_error_set(err, PLUGIN_CREATE_RESULT, CCM_ERROR_TERMINAL, "the moon is full");
    }
    *ret_self = &base_calls;
    return PLUGIN_CREATE_RESULT;
}

static int base_start(void *self, struct ccm_error *err)
{
    (void)self; /* no state */
    PLUGIN_IN_START;
    if (PLUGIN_START_RESULT < 0) {
        return ccm_error_set(err, PLUGIN_START_RESULT, PLUGIN_START_KIND, "no credentials");
    }
    return 0;
}

static int base_reconcile(void *self, const struct ccm_request *req, struct ccm_result *ret,
                          struct ccm_error *err)
{
    int *calls = self;

    (void)req; /* whatever the keys are */
    (void)ret; /* done */
    (void)err; /* cannot fail */
    PLUGIN_IN_RECONCILE;
    *calls += 1;
    return 0;
}

static void base_stop(void *self)
{
    int *calls = self;

    *calls += 100;
}

static inline void base_destroy(void *self)
{
    int *calls = self;

    *calls += 10000;
}

static void base_map(void *self, const struct ccm_change *change)
{
    (void)self; /* no work comes from it */
    (void)change;
    PLUGIN_IN_MAP;
}

#ifdef PLUGIN_IN_CHECK
static int base_check(const struct ccm_check_sink *sink)
{
    (void)sink; /* nothing is found */
    PLUGIN_IN_CHECK;
    return 0;
}
#endif

static const struct ccm_watch base_watch = {
    .struct_size = sizeof(struct ccm_watch),
    .kind = PLUGIN_KIND,
#ifdef PLUGIN_RESOURCE
    .api_version = "v1",
    .resource = PLUGIN_RESOURCE,
#endif
    .map = base_map,
};

static const struct ccm_watch *const base_watches[] = { &base_watch, NULL };

const struct ccm_plugin ccm_plugin = {
    .abi_major = PLUGIN_MAJOR,
    .struct_size = PLUGIN_SIZE,
    .name = PLUGIN_NAME,
    .flags = PLUGIN_FLAGS,
    .watches = base_watches,
    .create = base_create,
    .start = base_start,
    .reconcile = base_reconcile,
    .stop = base_stop,
    .destroy = PLUGIN_DESTROY,
    .version = "1.2.3",
    .summary = "does nothing, for tests",
#ifdef PLUGIN_FORGET
    .forget = PLUGIN_FORGET,
#endif
#ifdef PLUGIN_IN_CHECK
    .check = base_check,
#endif
};

#endif
