package io.holdfast.store;

import java.util.List;

/**
 * What {@link StoppedStore#verify()}, {@link StoppedStore#audit()} or {@link StoreRepair} found.
 *
 * @param faults one line each; none if all is well.
 * @param notes  one line each: what was looked at, and what is no fault.
 */
public record StoreCheck(List<String> faults, List<String> notes) {
    /**
     * Whether nothing was found.
     *
     * @return true if there are no faults.
     */
    public boolean isClean() {
        return faults.isEmpty();
    }
}
