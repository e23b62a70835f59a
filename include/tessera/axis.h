/*
 * References to mesh axes and sub-axes, and their algebra.
 *
 * A sub-axis "x":(m)k of an axis of size n is the middle of the reshape n -> [m, k, n/(m*k)]. Names
 * are resolved once; from then on an axis is its index in the mesh. Equality is by spelling:
 * "x":(1)8 is not "x", even when x has size 8 (and is not valid in a sharding).
 *
 * Functions on lists write to lists that the caller provides and do not allocate; what such a list
 * holds after a failure is not defined. All of them require axes that are valid in a sharding of
 * the mesh: tsr_axes_verify checks that, and axes of shardings and meshes have passed it.
 */
#ifndef TESSERA_AXIS_H
#define TESSERA_AXIS_H

#include <tessera/context.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tsr_mesh tsr_mesh;

/*
 * A full axis has is_sub 0, pre 1 and the size of the axis. pre * size is the pre-size of the
 * sub-axis that continues it.
 */
typedef struct tsr_axis_ref {
    int32_t axis;
    int32_t is_sub;
    int64_t pre;
    int64_t size;
} tsr_axis_ref;

/* A list that grows up to `capacity`. Functions that would exceed it return TSR_ERR_LIMIT. */
typedef struct tsr_axis_list {
    TSR_ARRAY(capacity) tsr_axis_ref *refs;
    size_t count;
    size_t capacity;
} tsr_axis_list;

/* tsr_axis_full returns the full axis with an index, tsr_axis_sub the sub-axis "axis":(pre)size. */
TSR_API tsr_axis_ref tsr_axis_full(const tsr_mesh *mesh, size_t axis) TSR_MT_SAFE;
TSR_API tsr_axis_ref tsr_axis_sub(size_t axis, int64_t pre, int64_t size) TSR_MT_SAFE;

TSR_API bool tsr_axis_equal(tsr_axis_ref a, tsr_axis_ref b) TSR_MT_SAFE;

/*
 * Compares two axes in mesh order: by index in the mesh, then sub-axes by (pre-size, size), the
 * full axis after all sub-axes of pre-size 1. Returns a negative number, zero or a positive number.
 */
TSR_API int tsr_axis_compare(tsr_axis_ref a, tsr_axis_ref b) TSR_MT_SAFE;
/* Compares two axes in plain order: by name as text, then as tsr_axis_compare does. */
TSR_API int tsr_axis_compare_plain(const tsr_mesh *mesh, tsr_axis_ref a,
                                   tsr_axis_ref b) TSR_MT_SAFE;

/*
 * Returns whether a contains b: a is full, or both are sub-axes and the range of a includes that of
 * b. A sub-axis never contains the full axis.
 */
TSR_API bool tsr_axis_contains(tsr_axis_ref a, tsr_axis_ref b) TSR_MT_SAFE;
/* Returns whether b contains a and both start at the same place. */
TSR_API bool tsr_axis_is_prefix(tsr_axis_ref a, tsr_axis_ref b) TSR_MT_SAFE;
/* Returns whether b contains a and both end at the same place. */
TSR_API bool tsr_axis_is_suffix(tsr_axis_ref a, tsr_axis_ref b) TSR_MT_SAFE;
TSR_API bool tsr_axis_overlaps(tsr_axis_ref a, tsr_axis_ref b) TSR_MT_SAFE;
/* Returns whether some reshape of the axis has both: (1)2 and (1)3 of one axis cannot coexist. */
TSR_API bool tsr_axis_can_coexist(tsr_axis_ref a, tsr_axis_ref b) TSR_MT_SAFE;

/* The next five functions return whether such a sub-axis exists, and store it in *out. */
/* Finds the sub-axis that both cover. */
TSR_API bool tsr_axis_overlap(tsr_axis_ref a, tsr_axis_ref b, tsr_axis_ref *out) TSR_MT_SAFE;
/* Find the longest prefix, or the longest suffix, of a that does not overlap b. */
TSR_API bool tsr_axis_prefix_without(tsr_axis_ref a, tsr_axis_ref b, tsr_axis_ref *out) TSR_MT_SAFE;
TSR_API bool tsr_axis_suffix_without(tsr_axis_ref a, tsr_axis_ref b, tsr_axis_ref *out) TSR_MT_SAFE;
/* Finds the longest sub-axis that both start with. */
TSR_API bool tsr_axis_common_prefix(tsr_axis_ref a, tsr_axis_ref b, tsr_axis_ref *out) TSR_MT_SAFE;
/*
 * If b continues a: finds the sub-axis that covers both, or the full axis if they cover all of it.
 */
TSR_API bool tsr_axis_merge(TSR_NULLABLE const tsr_mesh *mesh, tsr_axis_ref a, tsr_axis_ref b,
                            tsr_axis_ref *out) TSR_MT_SAFE;
/* Returns whether b continues a. */
TSR_API bool tsr_axis_can_merge(tsr_axis_ref a, tsr_axis_ref b) TSR_MT_SAFE;

/*
 * Cuts an axis or sub-axis in two: a major part of `size` and the minor remainder. Returns false if
 * `size` does not divide the axis or leaves nothing on one side.
 */
TSR_API bool tsr_axis_split(tsr_axis_ref axis, int64_t size, tsr_axis_ref *major,
                            tsr_axis_ref *minor) TSR_MT_SAFE;

/*
 * Checks that axes could occur in one sharding of the mesh, each as an element of a list of its
 * own: names known, no duplicates, sub-axes within their axis and disjoint. An error names the
 * first fault.
 */
TSR_API TSR_NODISCARD tsr_status tsr_axes_verify(tsr_context *ctx, tsr_arena *arena,
                                                 const tsr_mesh *mesh,
                                                 TSR_ARRAY(count) const tsr_axis_ref *axes,
                                                 size_t count) TSR_MT_CONTEXT;

/* Returns the product of the sizes of a list; -1 when it overflows. */
TSR_API int64_t tsr_axes_size(TSR_ARRAY(count) const tsr_axis_ref *axes, size_t count) TSR_MT_SAFE;
/* Returns whether any axis of one list overlaps any of the other. */
TSR_API bool tsr_axes_overlap(TSR_ARRAY(count_a) const tsr_axis_ref *a, size_t count_a,
                              TSR_ARRAY(count_b) const tsr_axis_ref *b, size_t count_b) TSR_MT_SAFE;
TSR_API bool tsr_axes_equal(TSR_ARRAY(count_a) const tsr_axis_ref *a, size_t count_a,
                            TSR_ARRAY(count_b) const tsr_axis_ref *b, size_t count_b) TSR_MT_SAFE;
/* Compares two lists: the shorter one first, then element by element in plain order. */
TSR_API int tsr_axes_compare(const tsr_mesh *mesh, TSR_ARRAY(count_a) const tsr_axis_ref *a,
                             size_t count_a, TSR_ARRAY(count_b) const tsr_axis_ref *b,
                             size_t count_b) TSR_MT_SAFE;

/* Appends an axis, or merges it with the last element where that is possible. */
TSR_API TSR_NODISCARD tsr_status tsr_axes_add(const tsr_mesh *mesh, tsr_axis_list *list,
                                              tsr_axis_ref axis) TSR_MT_SAFE;
/* Sorts a list in mesh order and merges neighbours, in place. */
TSR_API void tsr_axes_sort_and_merge(const tsr_mesh *mesh, tsr_axis_list *list) TSR_MT_SAFE;
/*
 * Computes a without the parts that overlap b, in the order of a; each axis is cut around every
 * overlap. Where a part of a and an axis of b overlap and cannot coexist, that part is removed
 * entirely.
 */
TSR_API TSR_NODISCARD tsr_status tsr_axes_difference(TSR_ARRAY(count_a) const tsr_axis_ref *a,
                                                     size_t count_a,
                                                     TSR_ARRAY(count_b) const tsr_axis_ref *b,
                                                     size_t count_b,
                                                     tsr_axis_list *out) TSR_MT_SAFE;
/* Shortens the list to its longest prefix that does not overlap the other list. */
TSR_API void tsr_axes_truncate(tsr_axis_list *list,
                               TSR_ARRAY(count_other) const tsr_axis_ref *other,
                               size_t count_other) TSR_MT_SAFE;
/*
 * Returns whether all elements of a but the last equal those of b, and the last one is a strict
 * prefix.
 */
TSR_API bool tsr_axes_is_strict_prefix(TSR_ARRAY(count_a) const tsr_axis_ref *a, size_t count_a,
                                       TSR_ARRAY(count_b) const tsr_axis_ref *b,
                                       size_t count_b) TSR_MT_SAFE;
/*
 * Computes the common prefix of two lists: their equal elements, then the common prefix of the
 * first pair that differs.
 */
TSR_API TSR_NODISCARD tsr_status tsr_axes_common_prefix(TSR_ARRAY(count_a) const tsr_axis_ref *a,
                                                        size_t count_a,
                                                        TSR_ARRAY(count_b) const tsr_axis_ref *b,
                                                        size_t count_b,
                                                        tsr_axis_list *out) TSR_MT_SAFE;
/*
 * Lists every axis of the mesh in order, cut wherever one of `axes` begins or ends. The axes must
 * be able to coexist.
 */
TSR_API TSR_NODISCARD tsr_status tsr_axes_of_mesh(const tsr_mesh *mesh,
                                                  TSR_ARRAY(count) const tsr_axis_ref *axes,
                                                  size_t count, tsr_axis_list *out) TSR_MT_SAFE;

/*
 * Prints an axis, `"x"` or `"x":(1)2`, or a list, `"x", "y":(2)2`. The text is allocated in the
 * arena.
 */
TSR_API TSR_NODISCARD tsr_status tsr_axes_print(tsr_context *ctx, tsr_arena *arena,
                                                const tsr_mesh *mesh,
                                                TSR_ARRAY(count) const tsr_axis_ref *axes,
                                                size_t count, const char **out) TSR_MT_CONTEXT;

#ifdef __cplusplus
}
#endif

#endif
