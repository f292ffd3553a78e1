package io.holdfast.store;

/** A place in the log of a lane, packed into a long: segment number above, offset in the file below. */
final class Position {
    private Position() {}

    static long of(final int segment, final long offset) {
        return ((long) segment << Integer.SIZE) | offset;
    }

    /** Behind everything that a segment can hold. */
    static long endOf(final int segment) {
        return of(segment, 0xFFFF_FFFFL);
    }

    static int segment(final long position) {
        return (int) (position >>> Integer.SIZE);
    }

    static long offset(final long position) {
        return position & 0xFFFF_FFFFL;
    }
}
