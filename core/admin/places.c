#include "admin/places.h"

#include "util/thread.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>

int admin_places_init(struct admin_places *places)
{
    *places = (struct admin_places){ .last_number = 0 };
    return pthread_mutex_init(&places->lock, NULL) != 0 ? -ENOMEM : 0;
}

void admin_places_fini(struct admin_places *places)
{
    ccm_lock_fini(&places->lock);
}

/* Of IPv6 the network: an address of it is had for nothing. */
static uint64_t network_of(const struct sockaddr *from)
{
    uint64_t network = 0;

    if (from != NULL && from->sa_family == AF_INET) {
        network = ((const struct sockaddr_in *)(const void *)from)->sin_addr.s_addr;
    } else if (from != NULL && from->sa_family == AF_INET6) {
        memcpy(&network, &((const struct sockaddr_in6 *)(const void *)from)->sin6_addr,
               sizeof(network));
    }
    return network;
}

static bool place_stays(const struct admin_place *place)
{
    return place->taken && !place->leaving;
}

static size_t places_count_from(const struct admin_places *places, uint64_t from)
{
    size_t count = 0;

    for (size_t i = 0; i < ADMIN_PLACES_ALL; i++) {
        count += place_stays(&places->items[i]) && places->items[i].from == from ? 1 : 0;
    }
    return count;
}

/* Whether `a` goes before `b`. */
static bool place_goes_first(const struct admin_place *a, const struct admin_place *b)
{
    if (a->answered != b->answered) {
        return !a->answered;
    }
    const size_t like_a = places_count_from(a->places, a->from);
    const size_t like_b = places_count_from(b->places, b->from);

    return like_a != like_b ? like_a > like_b : a->number < b->number;
}

/* body: among those that hold some of a request. */
static struct admin_place *places_choose(struct admin_places *places, bool body)
{
    struct admin_place *first = NULL;

    for (size_t i = 0; i < ADMIN_PLACES_ALL; i++) {
        struct admin_place *place = &places->items[i];

        if (place_stays(place) && (!body || place->body > 0) &&
            (first == NULL || place_goes_first(place, first))) {
            first = place;
        }
    }
    return first;
}

static void place_shut(struct admin_place *place)
{
    place->leaving = true;
    place->places->bodies -= place->body;
    (void)shutdown(place->fd, SHUT_RDWR); /* the other side may have gone already */
}

static struct admin_place *places_find_free(struct admin_places *places)
{
    for (size_t i = 0; i < ADMIN_PLACES_ALL; i++) {
        if (!places->items[i].taken) {
            return &places->items[i];
        }
    }
    return NULL;
}

struct admin_place *admin_places_open(struct admin_places *places, int fd,
                                      const struct sockaddr *from)
{
    size_t staying = 0;

    ccm_lock(&places->lock);
    for (size_t i = 0; i < ADMIN_PLACES_ALL; i++) {
        staying += place_stays(&places->items[i]) ? 1 : 0;
    }

    struct admin_place *place = places_find_free(places);

    if (place != NULL && staying >= ADMIN_PLACES) {
        place_shut(places_choose(places, false));
    }
    if (place != NULL) {
        *place = (struct admin_place){
            .places = places,
            .taken = true,
            .fd = fd,
            .number = ++places->last_number,
            .from = network_of(from),
        };
    }
    ccm_unlock(&places->lock);
    return place;
}

void admin_place_close(struct admin_place *place)
{
    if (place == NULL) {
        return;
    }
    ccm_lock(&place->places->lock);
    place->places->bodies -= place->leaving ? 0 : place->body;
    place->taken = false;
    ccm_unlock(&place->places->lock);
}

bool admin_place_add(struct admin_place *place, size_t bytes)
{
    struct admin_places *places = place->places;

    ccm_lock(&places->lock);
    place->body += bytes;
    places->bodies += place->leaving ? 0 : bytes;
    while (places->bodies > ADMIN_PLACES_BODIES) {
        place_shut(places_choose(places, true)); /* there is one: the sum is not 0 */
    }

    const bool stays = !place->leaving;

    ccm_unlock(&places->lock);
    return stays;
}

void admin_place_end_request(struct admin_place *place, bool answered)
{
    struct admin_places *places = place->places;

    ccm_lock(&places->lock);
    places->bodies -= place->leaving ? 0 : place->body;
    place->body = 0;
    place->answered = place->answered || answered;
    ccm_unlock(&places->lock);
}
