/* machines - the instance types and nodes of disruption scenarios: three sizes, each twice as large and as dear as the
 * one before, in two zones, on-demand. One node of a size holds the pods of two of the next smaller one. */
#pragma once

#define TYPES                                                                                                          \
    "type small cpu=2 mem=8Gi pods=20 offer='on-demand z1 0.1|on-demand z2 0.1'\n"                                     \
    "type medium cpu=4 mem=16Gi pods=20 offer='on-demand z1 0.2|on-demand z2 0.2'\n"                                   \
    "type big cpu=8 mem=32Gi pods=20 offer='on-demand z1 0.4|on-demand z2 0.4'\n"
/* Any number of nodes may go at once. */
#define POOL "pool default budget=100% req='ct In on-demand'\n"

#define SMALL(name) "node " name " cpu=2 mem=8Gi pods=20 label=itype=small,ct=on-demand,zone=z1"
#define MEDIUM(name) "node " name " cpu=4 mem=16Gi pods=20 label=itype=medium,ct=on-demand,zone=z1"
#define BIG(name) "node " name " cpu=8 mem=32Gi pods=20 label=itype=big,ct=on-demand,zone=z1"
/* A node of somebody else with room for everything. */
#define ROOM "node room unmanaged cpu=100 mem=400Gi pods=110 label=zone=z1\n"
