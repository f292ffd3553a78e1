package io.holdfast.store;

/**
 * Gauges of a lane.
 *
 * @param segments              segment files in the log.
 * @param bytesOnDisk           bytes of all segment files, the prepared one included.
 * @param durableSequence       every record up to it is durable.
 * @param finishedSequence      every record up to it is finished.
 * @param sessions              sessions remembered, as of the last second.
 * @param segmentsCreatedInline segment files the writer had to make itself, or to wait for.
 * @param segmentsReclaimed     segment files deleted.
 * @param deadSegments          segment files given up because a sync failed.
 * @param receivedIdsReused     QoS 2 Packet Identifiers used for another message before their PUBREL.
 * @param missingAtStart        records that were found missing when the lane was opened.
 * @param wasTailTorn           whether the log ended in bytes that were no intact record.
 * @param missingRecords        records that the uplink found damaged or gone.
 * @param damagedPlaces         places in segment files that were found damaged.
 * @param damagedFilesDeleted   damaged files that were not kept any longer because there were too many.
 */
public record LaneStat(
        int segments,
        long bytesOnDisk,
        long durableSequence,
        long finishedSequence,
        int sessions,
        long segmentsCreatedInline,
        long segmentsReclaimed,
        long deadSegments,
        long receivedIdsReused,
        long missingAtStart,
        boolean wasTailTorn,
        long missingRecords,
        long damagedPlaces,
        long damagedFilesDeleted) {}
