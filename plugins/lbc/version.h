/*
 * The version of the load balancer engine as others link it: libccm-lbc.a and the headers that are
 * installed in ccm-lbc/. It has nothing to do with the ABI of plugins: the engine becomes part of
 * the plugin, and an old one runs with every daemon of the plugin's ABI. From one minor to the next
 * functions, structs and tables may change: build with the minor that you wrote for. A release
 * whose headers declare something else than the one before it (released.txt) has another minor.
 */
#ifndef CCM_LBC_VERSION_H
#define CCM_LBC_VERSION_H

#define LBC_VERSION_MAJOR 0U
#define LBC_VERSION_MINOR 2U

#endif
