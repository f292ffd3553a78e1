package io.holdfast.proxy.crash;

import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The table of crash points names methods that exist: a renamed one must not end the crashes there in silence. */
class CrashPointTest {
    @ParameterizedTest
    @EnumSource(CrashPoint.class)
    void placeExists(CrashPoint point) throws IOException {
        check(point, point.place);
        if (point.armedBy != null) {
            check(point, point.armedBy);
        }
    }

    private static void check(CrashPoint point, Place place) throws IOException {
        try (InputStream classFile =
                CrashPoint.class.getClassLoader().getResourceAsStream(place.internalClassName() + ".class")) {
            assertNotNull(classFile, () -> point + ": there is no class " + place.className());
            CrashPointWeaver weaver = new CrashPointWeaver(place, false);
            assertTrue(weaver.weave(classFile.readAllBytes()).length > 0);
            assertTrue(weaver.woven() > 0, () -> point + ": there is no " + place);
        }
    }
}
