/*
 * The connections of a server, and which one is closed when there are too many, or when the bodies
 * that are being read are too large together.
 * - Connections: if an address has more than its fair share, one of the address with most; else one
 *   of any address. Of these one that had no answer yet, then the oldest.
 * - Bodies: the largest one of the address that holds most; of equal ones the oldest.
 * So one address alone cannot keep others out. Many addresses together can.
 *
 * Every thread; one lock, a leaf.
 */
#ifndef CCM_ADMIN_PLACES_H
#define CCM_ADMIN_PLACES_H

#include "util/attr.h"

#include <netinet/in.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#define ADMIN_PLACES     48U /* kept at a time: one more, and another one has to go */
#define ADMIN_PLACES_ALL 80U /* with those that have to go and are not gone yet */

#define ADMIN_PLACES_FAIR 8U /* connections of one address that are not more than its share */

#define ADMIN_PLACES_BODIES ((size_t)12 * 1024 * 1024) /* of all requests that are being read */

struct admin_places;

/* One connection. Its members are guarded by the lock of `places`. */
struct admin_place {
    struct admin_places *places;
    bool taken;
    bool leaving;  /* it was shut down */
    bool answered; /* a request of it was */
    int fd;
    uint64_t number;      /* the order of arrival */
    struct in6_addr from; /* the address of the other side */
    size_t body;          /* bytes that are held of its request */
};

struct admin_places {
    pthread_mutex_t lock;
    struct admin_place items[ADMIN_PLACES_ALL];
    uint64_t last_number;
    size_t bodies; /* of those that are not leaving */
};

/* 0 or -ENOMEM. */
CCM_NODISCARD int admin_places_init(struct admin_places *places);
/* No connection may be left. */
void admin_places_fini(struct admin_places *places);

/* A place for a new connection, whose socket is borrowed until admin_place_close(). from: the other
 * side, NULL = not known. NULL: all places are taken by connections that are about to go. */
struct admin_place *admin_places_open(struct admin_places *places, int fd,
                                      const struct sockaddr *from);
/* NULL is fine. */
void admin_place_close(struct admin_place *place);

/* More of its request is held. False: this connection has to go itself. */
CCM_NODISCARD bool admin_place_add(struct admin_place *place, size_t bytes);
/* Its request has ended, with an answer or without. */
void admin_place_end_request(struct admin_place *place, bool answered);

#endif
