package io.holdfast.proxy.sim;

import java.util.SplittableRandom;

/** What a seed decides before the first step: the size of the scene, and which kinds of trouble it knows. */
final class Plan {
    final int devices;
    final int deviceLoops;
    final int lanes;
    final int messagesPerDevice;
    final int receiveMaximum;
    final int uplinkWindow;
    final boolean isBroker5;
    final int brokerReceiveMaximum;
    final boolean brokerDeliversOnRelease;
    final boolean brokerKeepsOneCompletion;
    final int steps;
    final int maxPayload;
    final long outboxBytes;
    final boolean rejectWhenFull;
    final int kills;
    final int powerCuts;
    final int connectionCuts;
    final int stalls;
    final int brokerRestarts;
    final int sessionLosses;
    final int refusals;
    final int fullDisks;
    final int failedForces;

    /** A small one has one device with a few messages, and no trouble of its own. */
    Plan(SplittableRandom random, boolean isSmall) {
        devices = isSmall ? 1 : 1 + random.nextInt(4);
        deviceLoops = 1 + random.nextInt(2);
        lanes = isSmall ? 1 : 1 + random.nextInt(2);
        messagesPerDevice = isSmall ? 6 : (5 + random.nextInt(40)) * (random.nextInt(8) == 0 ? 4 : 1);
        receiveMaximum = 2 + random.nextInt(12);
        uplinkWindow = 1 + random.nextInt(20);
        isBroker5 = random.nextInt(5) > 0;
        brokerReceiveMaximum = 1 + random.nextInt(20);
        brokerDeliversOnRelease = random.nextBoolean();
        brokerKeepsOneCompletion = random.nextInt(6) == 0;
        steps = isSmall ? 0 : 200 + random.nextInt(1500);
        maxPayload = random.nextInt(3) == 0 ? 16_000 : 200;
        outboxBytes = random.nextInt(3) > 0 ? 1L << 40 : (2 + random.nextInt(4)) * 330_000L * lanes;
        rejectWhenFull = random.nextBoolean();
        kills = some(random, 12);
        powerCuts = some(random, 12);
        connectionCuts = some(random, 30);
        stalls = some(random, 5);
        brokerRestarts = some(random, 10);
        sessionLosses = random.nextInt(3) == 0 ? some(random, 8) : 0;
        refusals = some(random, 20);
        fullDisks = random.nextInt(4) == 0 ? some(random, 10) : 0;
        failedForces = random.nextInt(4) == 0 ? some(random, 10) : 0;
    }

    /** A weight per thousand steps; often none at all. */
    private static int some(SplittableRandom random, int most) {
        return random.nextInt(3) == 0 ? 0 : random.nextInt(most + 1);
    }

    @Override
    public String toString() {
        return devices + " devices on " + deviceLoops + " loops, " + lanes + " lanes, " + messagesPerDevice
                + " messages each of up to " + maxPayload + " bytes, windows " + receiveMaximum + " and " + uplinkWindow
                + ", broker " + (isBroker5 ? "5" : "3.1.1") + " window " + brokerReceiveMaximum
                + (brokerDeliversOnRelease ? ", delivers on PUBREL" : "")
                + (brokerKeepsOneCompletion ? ", keeps a PUBCOMP back" : "") + ", outbox " + outboxBytes + " bytes, "
                + steps + " steps; per thousand: kill " + kills + ", power " + powerCuts + ", cut " + connectionCuts
                + ", stall " + stalls + ", broker " + brokerRestarts + ", session lost " + sessionLosses + ", refusal "
                + refusals + ", disk full " + fullDisks + ", failed sync " + failedForces;
    }
}
