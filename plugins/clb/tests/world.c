#include "world.h"

#include "lbc/instance.h"
#include "lbc/model/class.h"
#include "lbc/service/hash.h"
#include "lbc/service/marks.h"
#include "util/text.h"

#include <stdio.h>
#include <string.h>

static void world_no_inventory(struct world *world)
{
    lbc_inventory_free(world->lbc.inventory);
    world->lbc.inventory = NULL;
}

static void start(struct world *world)
{
    const struct ccm_host *host = fake_host_table(world->fake);

    struct ccm_error err = CCM_ERROR_INIT;

    memset(&world->lbc, 0, sizeof(world->lbc));
    assert_int_equal(lbc_init(&world->lbc, host, &clb_ops, &err), 0);
    world_no_inventory(world);
    atomic_init(&world->lbc.batch, CLB_BATCH_DEFAULT);
}

void world_begin(struct world *world)
{
    memset(world, 0, sizeof(*world));
    mini_begin();
    world->fake = fake_host_new();
    fake_host_option(world->fake, NULL, "removal_share_percent", "50");
    fake_host_option(world->fake, NULL, "removal_window_s", "300");
    fake_host_option(world->fake, NULL, "missing_wait_s", "300");
    start(world);
    world->service = obj_service();
    obj_port(world->service, "http", "TCP", 80, "8080", 30080);
    obj_port(world->service, "https", "TCP", 443, "8443", 30443);
    world->slice = obj_slice("web-1");
    obj_endpoint(world->slice, "10.1.0.1", "n1", READY);
    obj_endpoint(world->slice, "10.1.0.2", "n2", READY);
    obj_slice_port(world->slice, "http", 8080);
    obj_slice_port(world->slice, "https", 8443);
    world_add_node(world, "n1", "cn-hangzhou.i-1");
    world_add_node(world, "n2", "alicloud://cn-hangzhou.i-2");
    world_put(world);
}

void world_end(struct world *world)
{
    assert_int_equal(fake_host_borrowed(world->fake), 0);
    lbc_fini(&world->lbc);
    fake_host_free(world->fake);
    mini_end();
    (void)obj_end(NULL); /* always 0 */
}

void world_restart(struct world *world)
{
    lbc_fini(&world->lbc);
    start(world);
}

void world_put(struct world *world)
{
    fake_host_put(world->fake, &world->service->meta);
    fake_host_put(world->fake, &world->slice->meta);
}

void world_add_node(struct world *world, const char *name, const char *provider_id)
{
    fake_host_put(world->fake, &obj_node(name, provider_id)->meta);
}

static void remove_node(struct world *world, const char *name, uint64_t flags)
{
    const struct ccm_host *host = fake_host_table(world->fake);
    const struct ccm_object *node = host->get(host, CCM_KIND_NODE, name);
    const struct ccm_change change = {
        .struct_size = sizeof(change),
        .type = CCM_CHANGE_DELETED,
        .before = node,
        .flags = flags,
    };

    assert_non_null(node);
    fake_host_remove(world->fake, CCM_KIND_NODE, name);
    lbc_watches[2]->map(&world->lbc, &change);
    host->release(host, node);
}

void world_delete_node(struct world *world, const char *name)
{
    remove_node(world, name, 0);
}

void world_lose_node(struct world *world, const char *name)
{
    remove_node(world, name, CCM_CHANGE_MISSING);
}

void world_allow_removals(struct world *world)
{
    atomic_store(&world->lbc.released_until_ms, INT64_MAX);
}

int world_run(struct world *world)
{
    return world_run_key(world, "default/web");
}

int world_run_key(struct world *world, const char *key)
{
    const char *const keys[] = { key };
    const struct ccm_request req = {
        .struct_size = sizeof(req),
        .keys = keys,
        .key_count = 1,
        .deadline_ms = fake_host_now(world->fake) + 60000,
        .id = "1",
    };
    struct ccm_result result = { .struct_size = sizeof(result) };

    ccm_error_clear(&world->err);

    const int r = lbc_reconcile(&world->lbc, &req, &result, &world->err);

    world->requeue_ms = result.requeue_after_ms;
    world->flags = result.flags;
    return r;
}

void world_converge(struct world *world)
{
    for (int i = 0; i < 10; i++) {
        if (world_run(world) == 0) {
            return;
        }
    }
    fail_msg("no success: %s", world->err.message);
}

/* The label of additional tags, as it was last written. */
static void world_settle_tags(struct world *world)
{
    static const char key[] = "\"" LBC_LIFE_TAGS_LABEL "\":";

    for (size_t i = 0; i < fake_host_patch_count(world->fake); i++) {
        const char *at = strstr(fake_host_patch(world->fake, i)->body, key);

        if (at != NULL) {
            char marks[LBC_MARKS_TEXT] = ""; /* none where it says null */

            at += strlen(key);
            if (at[0] == '"') {
                ccm_text_printf(marks, sizeof(marks), "%.*s", (int)strcspn(at + 1, "\""), at + 1);
            }
            obj_label(&world->service->meta, LBC_LIFE_TAGS_LABEL, marks[0] == '\0' ? NULL : marks);
        }
    }
}

void world_settle(struct world *world)
{
    struct ccm_object *meta = &world->service->meta;
    char hash[LBC_HASH_TEXT];

    world->service->ingress = NULL;
    world->service->ingress_count = 0;
    meta->finalizers = NULL;
    meta->finalizer_count = 0;
    if (lbc_class_needs_delete(world->service)) {
        obj_label(meta, LBC_HASH_LABEL, NULL);
        obj_label(meta, LBC_LIFE_LB_LABEL, NULL);
    } else {
        assert_int_equal(lbc_hash_service(world->service, hash), 0);
        obj_label(meta, LBC_HASH_LABEL, hash);
        obj_label(meta, LBC_LIFE_LB_LABEL, world->lb_id == NULL ? mini_lb_id() : world->lb_id);
        world_settle_tags(world);
        obj_finalizer(meta, CLB_FINALIZER);
        obj_ingress(world->service, world->lb_ip == NULL ? mini_lb_address() : world->lb_ip, "");
    }
    world_put(world);
}

void world_steady(struct world *world)
{
    world_converge(world);
    world_settle(world);
    mini_reset_log();
    world->events = fake_host_event_count(world->fake);
}

const char *world_event(struct world *world)
{
    static char text[2048];

    if (world->events >= fake_host_event_count(world->fake)) {
        return NULL;
    }
    const struct fake_event *event = fake_host_event(world->fake, world->events++);

    (void)snprintf(text, sizeof(text), "%s: %s", event->reason, event->message); /* cut is fine */
    return text;
}
