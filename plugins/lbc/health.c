#include "lbc/health.h"

#include "lbc/instance.h"
#include "lbc/pass/empty_pass.h"
#include "lbc/report/figures.h"
#include "lbc/service/condition.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_MS  30000 /* so long checks of a new load balancer may take */
#define AGAIN_MS  60000 /* while a port is unhealthy; doubled up to the interval of second looks */
#define MOST_MS   3600000 /* or this, when there are none */
#define PORTS_MAX 400     /* bytes of their names */
#define TOPIC     "health"

static int64_t health_now(const struct lbc_pass *pass)
{
    return pass->lbc->host->now_ms(pass->lbc->host);
}

void lbc_health_recall(struct lbc_pass *pass)
{
    const struct ccm_condition *shown = lbc_condition_find_ours(pass->service);
    struct lbc_health_memory *memory = &pass->entry->health;

    if (lbc_pass_is_returning(pass) && memory->text == NULL && shown != NULL &&
        ccm_text_equal(shown->reason, LBC_CONDITION_UNHEALTHY)) {
        memory->text = strdup(shown->message);
        memory->count = 1;
        memory->due_ms = health_now(pass);
    }
}

void lbc_health_forget(struct lbc_entry *entry)
{
    free(entry->health.text);
    entry->health = (struct lbc_health_memory){ .text = NULL };
}

void lbc_health_expect(struct lbc_pass *pass)
{
    lbc_health_forget(pass->entry);
    pass->entry->health.created = true;
    lbc_pass_emit_standing(pass, TOPIC, "", "");
}

/* --- when --- */

static bool health_can_be_read(const struct lbc_pass *pass)
{
    const struct ccm_host *host = pass->lbc->host;

    return pass->lbc->ops->read->health != NULL && lbc_pass_lb(pass)->id != NULL &&
           lbc_model_has_listeners(pass->model) &&
           host->option_int(host, NULL, lbc_opt_health.name) != 0;
}

/* New listeners, and changes while a port is unhealthy, need some time to show. */
static void health_plan_look(struct lbc_pass *pass)
{
    struct lbc_health_memory *memory = &pass->entry->health;

    if (memory->created || (memory->text != NULL && pass->writes > 0)) {
        memory->created = false;
        memory->looks = 0;
        memory->due_ms = health_now(pass) + FIRST_MS;
    }
}

static bool health_is_due(const struct lbc_pass *pass)
{
    const struct lbc_health_memory *memory = &pass->entry->health;

    return pass->audit || lbc_look_is_asked(&pass->look) ||
           (lbc_look_is_taken(&pass->look) && memory->text != NULL) ||
           (memory->due_ms != 0 && memory->due_ms <= health_now(pass));
}

static int64_t health_pause_ms(const struct lbc_pass *pass)
{
    const int64_t interval = pass->lbc->audit.interval_ms;
    const int64_t most = interval > 0 && interval < MOST_MS ? interval : MOST_MS;
    const uint32_t looks = pass->entry->health.looks;
    const int64_t pause = (int64_t)AGAIN_MS << (looks < 6 ? looks : 6);

    return pause < most ? pause : most;
}

/* What comes next after a look. */
static void health_plan_next(struct lbc_pass *pass)
{
    struct lbc_health_memory *memory = &pass->entry->health;
    const int64_t now = health_now(pass);

    if (memory->text != NULL) {
        memory->due_ms = now + health_pause_ms(pass);
        memory->looks++;
    } else if (memory->due_ms <= now) {
        memory->due_ms = 0;
        memory->looks = 0;
    }
}

/* --- what is told --- */

/* Returns how many ports are meant. */
static size_t health_format_ports(const struct lbc_pass *pass, const struct lbc_health *health,
                                  struct ccm_buf *text)
{
    const struct lbc_state *want = pass->model->want;
    size_t count = 0;

    for (size_t i = 0; i < want->listener_count; i++) {
        const struct lbc_listener *one = want->listeners[i];

        if (health[i].unhealthy == 0 || health[i].healthy > 0 || health[i].unknown > 0) {
            continue;
        }
        if (text->len < PORTS_MAX) {
            ccm_buf_addf(text, "%s%u/%s", count == 0 ? "" : ", ", one->port,
                         pass->model->type->protocol_name(one->protocol));
        }
        count++;
    }
    return count;
}

/* *ret_text: heap; NULL: nothing is unhealthy, which nobody may say for want of memory. */
static int health_format(const struct lbc_pass *pass, const struct lbc_health *health,
                         char **ret_text, size_t *ret_count, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf ports = { .max = 2 * PORTS_MAX };

    *ret_text = NULL;
    *ret_count = health_format_ports(pass, health, &ports);
    if (*ret_count == 0) {
        return 0;
    }
    if (ccm_buf_error(&ports) < 0) {
        return ccm_error_nomem(err);
    }
    *ret_text = ccm_text_format(
        "No backend of port %s is healthy: the health checks of load balancer [%s] "
        "fail. Check that security groups and firewalls of the backends let %s in, "
        "port and path of the health check (annotations health-check-...), and that "
        "the application listens on its target port at all addresses, not at "
        "127.0.0.1 alone",
        ccm_buf_str(&ports), lbc_pass_lb_id(pass), pass->lbc->ops->product->probes_from);
    return *ret_text == NULL ? ccm_error_nomem(err) : 0;
}

/* text: moved. */
static void health_publish(struct lbc_pass *pass, char *text, size_t count)
{
    struct lbc_health_memory *memory = &pass->entry->health;

    free(memory->text);
    memory->text = text;
    memory->count = text == NULL ? 0 : count;
    lbc_pass_emit_standing(pass, TOPIC, "UnhealthyBackends", text);
    lbc_empty_record(pass);
}

static void health_count(const struct lbc_pass *pass, const struct lbc_health *health)
{
    size_t unhealthy = 0;

    for (size_t i = 0; i < pass->model->want->listener_count; i++) {
        unhealthy += health[i].unhealthy;
    }
    lbc_figures_set_unhealthy(pass->lbc->figures, pass->entry->key, unhealthy);
}

static void health_read(struct lbc_pass *pass)
{
    const struct ccm_host *host = pass->lbc->host;
    CCM_CLEANUP(ccm_freep) struct lbc_health *health = NULL;
    struct ccm_error err = CCM_ERROR_INIT;
    char *text = NULL;
    size_t count = 0;
    int r = 0;

    health = calloc(pass->model->want->listener_count + 1, sizeof(*health));
    r = health == NULL ? ccm_error_nomem(&err) : pass->lbc->ops->read->health(pass, health, &err);
    if (r == 0) {
        r = health_format(pass, health, &text, &count, &err);
    }
    if (r == 0) {
        health_count(pass, health);
        health_publish(pass, text, count);
    } else if (lbc_error_is_put_off(&err)) {
        pass->entry->health.due_ms = health_now(pass) + (int64_t)err.retry_after_ms;
        return;
    } else if (err.kind != CCM_ERROR_CANCELLED) {
        host->log(host, CCM_LEVEL_WARN, pass->service->meta.key,
                  "the health of backends is not known: %s", err.message);
    }
    health_plan_next(pass);
}

void lbc_health_look(struct lbc_pass *pass)
{
    const struct ccm_host *host = pass->lbc->host;
    struct lbc_health_memory *memory = &pass->entry->health;
    const bool fails = pass->problems.count > 0;

    if (memory->text == NULL && (fails || pass->lbc->dry)) {
        return;
    }
    if (!health_can_be_read(pass)) {
        if (memory->text != NULL) {
            health_publish(pass, NULL, 0);
        }
        lbc_figures_set_unhealthy(pass->lbc->figures, pass->entry->key, 0);
        lbc_health_forget(pass->entry);
        return;
    }
    health_plan_look(pass);
    if (health_is_due(pass)) {
        health_read(pass);
    }
    if (memory->due_ms != 0 && !fails && !pass->lbc->dry) {
        const int64_t rest = memory->due_ms - health_now(pass);

        host->enqueue(host, pass->entry->key, CCM_LANE_BULK, (uint64_t)(rest > 0 ? rest : 0));
    }
}
