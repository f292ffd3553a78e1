package io.holdfast.proxy.crash;

/**
 * A place in the code of the product, by name: all methods of that name, at their entry, at their normal return, or around each
 * call of another method in them.
 *
 * @param className of the class that has the method
 * @param method    its name
 * @param position  where in it
 * @param called    the name of the method called there; empty for entry and exit
 * @param argument  what the method's first argument, an int, has to be; {@link #ANY} for no matter
 * @param via       a class that has to be among the callers; empty for no matter
 */
record Place(String className, String method, Position position, String called, int argument, String via) {
    static final int ANY = Integer.MIN_VALUE;
    private static final String STORE = "io.holdfast.store.";
    private static final String PROXY = "io.holdfast.proxy.";

    enum Position {
        ENTRY,
        EXIT,
        BEFORE_CALL,
        AFTER_CALL
    }

    static Place entry(String className, String method) {
        return new Place(full(className), method, Position.ENTRY, "", ANY, "");
    }

    static Place exit(String className, String method) {
        return new Place(full(className), method, Position.EXIT, "", ANY, "");
    }

    static Place beforeCall(String className, String method, String called) {
        return new Place(full(className), method, Position.BEFORE_CALL, called, ANY, "");
    }

    static Place afterCall(String className, String method, String called) {
        return new Place(full(className), method, Position.AFTER_CALL, called, ANY, "");
    }

    Place onlyFor(int value) {
        return new Place(className, method, position, called, value, via);
    }

    Place calledBy(String caller) {
        return new Place(className, method, position, called, argument, full(caller));
    }

    /** A class of the store by its simple name, one of the proxy with its package. */
    private static String full(String name) {
        return (name.indexOf('.') < 0 ? STORE : PROXY) + name;
    }

    String internalClassName() {
        return className.replace('.', '/');
    }
}
