/* Destinations of routes as text, and IPv6 networks among them. Pure. */
#ifndef CCM_CLOUD_NETWORK6_H
#define CCM_CLOUD_NETWORK6_H

#include <stdbool.h>

#define CCM_CLOUD_NETWORK_TEXT 128

/* The text that the cloud keeps: an address alone gets its length, IPv6 is written in one way.
 * Longer texts, which are no networks, are cut. */
void ccm_cloud_network_text(const char *given, char text[CCM_CLOUD_NETWORK_TEXT]);

/* "2408::/64", or an address. */
bool ccm_cloud_network6_is(const char *text);

/* Whether one holds the other; false when one of them is no IPv6 network. */
bool ccm_cloud_networks6_meet(const char *a, const char *b);

#endif
