#include "admin/places.h"

#include "util/thread.h"

#include <errno.h>
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

/* The address of the other side; zeroes where it is not known. */
static struct in6_addr address_of(const struct sockaddr *from)
{
    struct in6_addr address = { 0 };

    if (from != NULL && from->sa_family == AF_INET) {
        memcpy(&address, &((const struct sockaddr_in *)(const void *)from)->sin_addr,
               sizeof(struct in_addr));
    } else if (from != NULL && from->sa_family == AF_INET6) {
        address = ((const struct sockaddr_in6 *)(const void *)from)->sin6_addr;
    }
    return address;
}

static bool place_stays(const struct admin_place *place)
{
    return place->taken && !place->leaving;
}

/* What the other side of a connection has: connections, or bytes of bodies. */
struct share {
    size_t connections;
    size_t bytes;
};

static struct share place_share(const struct admin_place *of)
{
    struct share share = { 0 };

    for (size_t i = 0; i < ADMIN_PLACES_ALL; i++) {
        const struct admin_place *place = &of->places->items[i];

        if (place_stays(place) && memcmp(&place->from, &of->from, sizeof(of->from)) == 0) {
            share.connections++;
            share.bytes += place->body;
        }
    }
    return share;
}

/* Whether `a` is closed before `b` when there are too many connections. */
static bool place_goes_first(const struct admin_place *a, const struct admin_place *b)
{
    const size_t many_a = place_share(a).connections;
    const size_t many_b = place_share(b).connections;

    if (many_a != many_b && (many_a > ADMIN_PLACES_FAIR || many_b > ADMIN_PLACES_FAIR)) {
        return many_a > many_b;
    }
    return a->answered != b->answered ? !a->answered : a->number < b->number;
}

/* Whether `a` is closed before `b` when bodies are too large together. */
static bool place_holds_more(const struct admin_place *a, const struct admin_place *b)
{
    const size_t bytes_a = place_share(a).bytes;
    const size_t bytes_b = place_share(b).bytes;

    if (bytes_a != bytes_b) {
        return bytes_a > bytes_b;
    }
    return a->body != b->body ? a->body > b->body : a->number < b->number;
}

/* That which goes before all others. */
static struct admin_place *places_choose(struct admin_places *places,
                                         bool (*goes_first)(const struct admin_place *a,
                                                            const struct admin_place *b))
{
    struct admin_place *first = NULL;

    for (size_t i = 0; i < ADMIN_PLACES_ALL; i++) {
        struct admin_place *place = &places->items[i];

        if (place_stays(place) && (first == NULL || goes_first(place, first))) {
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
        place_shut(places_choose(places, place_goes_first));
    }
    if (place != NULL) {
        *place = (struct admin_place){
            .places = places,
            .taken = true,
            .fd = fd,
            .number = ++places->last_number,
            .from = address_of(from),
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
        place_shut(places_choose(places, place_holds_more)); /* it has some: the sum is not 0 */
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
