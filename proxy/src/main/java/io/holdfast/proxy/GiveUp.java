package io.holdfast.proxy;

/** What becomes of a record that is given up. */
public enum GiveUp {
    /** It goes to the dead letters. The default. */
    DEAD_LETTER,
    /** It is dropped and counted. */
    DROP
}
