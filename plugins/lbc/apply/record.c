#include "lbc/apply/record.h"

#include "lbc/names.h"
#include "util/buf.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <stdlib.h>

int lbc_record_backends(const struct lbc_step *step, const struct lbc_backends *set)
{
    struct lbc_group *group = step->group;
    const char *description = lbc_group_key(step->want);
    const bool is_usual = ccm_text_equal(description, group->name);
    int r = 0;

    for (size_t i = 0; r == 0 && i < set->len; i++) {
        struct lbc_backend one = set->items[i];

        if (step->type == LBC_STEP_REMOVE) {
            lbc_backends_remove(&group->backends, &one);
            continue;
        }
        one.description = is_usual ? NULL : (char *)(uintptr_t)description; /* copied by put */
        one.leaving = false;
        r = lbc_backends_put(&group->backends, &one);
    }
    return r;
}

int lbc_step_list_members(const struct lbc_step *step, struct lbc_backends *ret)
{
    const size_t present = step->group == NULL ? 0 : step->group->backends.len;
    int r = 0;

    for (size_t i = 0; r == 0 && i < present; i++) {
        r = lbc_backends_put(ret, &step->group->backends.items[i]);
    }
    for (size_t i = 0; r == 0 && i < step->backends.len; i++) {
        if (step->type == LBC_STEP_REMOVE) {
            lbc_backends_remove(ret, &step->backends.items[i]);
        } else {
            r = lbc_backends_put(ret, &step->backends.items[i]);
        }
    }
    return r;
}

int lbc_record_new_group(struct lbc_state *have, struct lbc_step *step,
                         const struct lbc_state_type *type)
{
    step->group = lbc_state_new_group(have, type);
    if (step->group == NULL || lbc_text_set(&step->group->name, step->want->name) < 0) {
        return -ENOMEM;
    }
    step->group->id = CCM_STEAL(step->sent.made_id);
    return lbc_record_backends(step, &step->backends);
}

int lbc_record_listener(const struct lbc_step *step)
{
    struct lbc_listener *listener = step->listener;

    return lbc_attrs_copy(&listener->attrs, &step->to->attrs) < 0 ||
                   (step->to->description != NULL &&
                    lbc_text_set(&listener->description, step->to->description) < 0) ||
                   lbc_text_set(&listener->group_id, step->group == NULL ? NULL : step->group->id) <
                       0
               ? -ENOMEM
               : 0;
}

int lbc_record_new_listener(struct lbc_state *have, struct lbc_step *step,
                            const struct lbc_state_type *type)
{
    struct lbc_listener *listener = lbc_state_new_listener(have, type);

    if (listener == NULL || lbc_listener_copy(listener, step->to) < 0) {
        return -ENOMEM;
    }
    free(listener->id);
    listener->id = CCM_STEAL(step->sent.made_id);
    listener->running = false;
    listener->certs_known = true;
    listener->ranges = false;
    step->listener = listener;
    return lbc_record_listener(step);
}

int lbc_record_deleted(struct lbc_state *have, const struct lbc_state_type *type)
{
    struct lbc_state *gone = calloc(1, type->size);

    if (gone == NULL) {
        return -ENOMEM;
    }
    lbc_state_move(gone, have, type);
    lbc_state_fini(gone, type);
    free(gone);
    have->listeners_known = true;
    return 0;
}

int lbc_record_values(const struct lbc_step_table *table, const struct lbc_step *step,
                      struct lbc_lb *lb)
{
    const struct lbc_step_row *row = table->rows == NULL ? NULL : &table->rows[step->type];

    return row != NULL && ((row->value != 0 &&
                            lbc_text_set(&lb->texts[row->value - 1], step->value) < 0) ||
                           (row->extra != 0 && step->extra != NULL &&
                            lbc_text_set(&lb->texts[row->extra - 1], step->extra) < 0))
               ? -ENOMEM
               : 0;
}

int lbc_record_tags(const struct lbc_step *step, struct lbc_lb *lb)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < step->tags.len; i++) {
        const struct lbc_tag *tag = &step->tags.items[i];

        if (step->type == LBC_STEP_UNTAG) {
            lbc_tags_remove(&lb->tags, tag->key);
            continue;
        }
        r = lbc_tags_put(&lb->tags, tag->key, tag->value);
        lb->untagged = lb->untagged && !ccm_text_equal(tag->key, lbc_names.tag_owner);
    }
    return r;
}

int lbc_record_texts(struct lbc_texts *to, const struct lbc_texts *set, bool added)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < set->len; i++) {
        if (added) {
            r = lbc_texts_put(to, set->items[i]);
        } else {
            lbc_texts_remove(to, set->items[i]);
        }
    }
    return r;
}

int lbc_record_tags_failure(const struct lbc_step *step, const char *lb_id, int r,
                            struct ccm_error *err)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = 1024 };

    for (size_t i = 0; i < step->tags.len; i++) {
        ccm_buf_addf(&text, "%s%s=%s", i == 0 ? "" : ",", step->tags.items[i].key,
                     step->tags.items[i].value);
    }
    return ccm_error_wrap(err, r, "error to %s slb id [%s] with tags %s",
                          step->type == LBC_STEP_TAG ? "tag" : "untag", lb_id, ccm_buf_str(&text));
}
