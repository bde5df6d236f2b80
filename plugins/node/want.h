/* What has to be changed of a node so that it says what the cloud says. Pure. Every thread. */
#ifndef CCM_NODE_WANT_H
#define CCM_NODE_WANT_H

#include "machine.h"
#include "model.h"

#define NODE_PROVIDER_TEXT (2 * ALI_PROVIDER_PART)

/* Options that decide about it. */
struct node_rules {
    bool ipv6;
    bool network;  /* a new node waits for its route: condition NetworkUnavailable */
    bool shutdown; /* nodes of stopped instances get a taint */
};

/* What is known of one node. */
struct node_sight {
    const struct ccm_node *node;
    const struct node_subject *subject;
    const cJSON *machine; /* NULL: nothing but the taint of new nodes is our business */
    bool closed;          /* it is not ready for pods yet: the taint stays */
    uint32_t told;        /* facts, as bits, that the cloud had when it was looked at last */
};

/* Texts are borrowed from the machine and the node. */
struct node_want {
    bool set_addresses;
    struct node_addresses addresses; /* all of them */
    bool set_network;
    const char *labels[NODE_LABELS]; /* value to be written; NULL = it is right */
    bool drop[NODE_LABELS];
    const char *bad_label; /* the first whose value no label can have; NULL = none */
    const char *bad_value;
    const char
        *no_address;  /* what kubelet said it has (--node-ip), and has not; NULL = all is well */
    bool unaddressed; /* the machine shows no address at all: nothing is written */
    char provider[NODE_PROVIDER_TEXT]; /* to be written; "" = it is there */
    bool untaint;                      /* NODE_TAINT_NEW goes */
    bool stop;                         /* NODE_TAINT_STOPPED comes */
    bool start;                        /* it goes */
};

void node_want_fini(struct node_want *want);

/* ret: zeroed. 0 or -ENOMEM. */
CCM_NODISCARD int node_want_make(const struct node_rules *rules, const struct node_sight *sight,
                                 struct node_want *ret);

/* Whether the object, its status, has to be written. */
bool node_want_has_object(const struct node_want *want);
bool node_want_has_status(const struct node_want *want);

/* Facts that the machine tells, as bits: for node_sight.told of the next time. */
uint32_t node_want_facts(const cJSON *machine);

/* Whether Kubernetes takes the text as the value of a label. */
bool node_label_is_valid(const char *value);

#endif
