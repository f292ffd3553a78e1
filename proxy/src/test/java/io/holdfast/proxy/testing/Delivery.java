package io.holdfast.proxy.testing;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Judges what a subscriber got against what devices sent: nothing lost, order kept, QoS 2 never twice. */
public final class Delivery {
    private final List<String> faults = new ArrayList<>();
    private long duplicates;
    private long messages;

    /** Every message of the device has been acknowledged to it. */
    public void judge(ResendingDevice device, Subscribers subscribers) {
        faults.addAll(device.faults());
        judge(device.name() + " QoS 1", subscribers.received(device.name(), 1), device.acknowledged(1), false);
        judge(device.name() + " QoS 2", subscribers.received(device.name(), 2), device.acknowledged(2), true);
    }

    private void judge(String what, List<Integer> received, int sent, boolean exactlyOnce) {
        Set<Integer> seen = new HashSet<>();
        int highest = 0;
        for (int number : received) {
            messages++;
            if (!seen.add(number)) {
                duplicates++;
                if (exactlyOnce) {
                    faults.add(what + ": " + number + " came twice");
                }
            } else if (number != highest + 1) {
                faults.add(what + ": " + number + " came after " + highest);
                highest = Math.max(highest, number);
            } else {
                highest = number;
            }
        }
        if (seen.size() != sent) {
            faults.add(what + ": " + sent + " were acknowledged, " + seen.size() + " came");
        }
    }

    /** What is wrong; empty if nothing is. */
    public List<String> faults() {
        return faults;
    }

    /** Messages that came more than once, all of QoS 1. */
    public long duplicates() {
        return duplicates;
    }

    /** Messages that came. */
    public long messages() {
        return messages;
    }
}
