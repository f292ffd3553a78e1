package io.holdfast.proxy;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.GeneralCodingRules.ACCESS_STANDARD_STREAMS;
import static com.tngtech.archunit.library.GeneralCodingRules.NO_CLASSES_SHOULD_USE_JAVA_UTIL_LOGGING;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The seams that docs/ARCHITECTURE.md draws, kept. */
class ArchitectureTest {
    private static final String CODEC = "io.holdfast.codec..";
    private static final String STORE = "io.holdfast.store..";
    private static final String PROXY = "io.holdfast.proxy..";
    private static final String CLI = "io.holdfast.proxy.cli..";
    private static final String CHRONICLE = "net.openhft..";

    private static JavaClasses main;

    @BeforeAll
    static void read() {
        main = new ClassFileImporter()
                .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
                .importPackages("io.holdfast");
    }

    @Test
    void theCodecKnowsNettyOnly() {
        noClasses()
                .that()
                .resideInAPackage(CODEC)
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(STORE, PROXY, "org.agrona..", CHRONICLE)
                .check(main);
    }

    @Test
    void theStoreKnowsNeitherNettyNorTheProxy() {
        noClasses()
                .that()
                .resideInAPackage(STORE)
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("io.netty..", CODEC, PROXY)
                .check(main);
    }

    @Test
    void onlyTheSegmentLogKnowsChronicle() {
        noClasses()
                .that()
                .doNotHaveFullyQualifiedName("io.holdfast.store.SegmentLog")
                .should()
                .dependOnClassesThat()
                .resideInAPackage(CHRONICLE)
                .check(main);
    }

    @Test
    void theModulesHaveNoCycle() {
        slices().matching("io.holdfast.(*)..").should().beFreeOfCycles().check(main);
    }

    @Test
    void thePackagesOfTheProxyHaveNoCycle() {
        slices().matching("io.holdfast.proxy.(*)..").should().beFreeOfCycles().check(main);
    }

    @Test
    void theLinkAndTheUplinkKnowNothingOfTheDevicesSide() {
        noClasses()
                .that()
                .resideInAnyPackage("io.holdfast.proxy.link..", "io.holdfast.proxy.uplink..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(
                        "io.holdfast.proxy.source..",
                        "io.holdfast.proxy.connection..",
                        "io.holdfast.proxy.admission..",
                        "io.holdfast.proxy.ack..")
                .check(main);
    }

    @Test
    void nothingOfTheDevelopmentBrokerOrTheTestsIsShipped() {
        noClasses()
                .that()
                .resideInAPackage(PROXY)
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(
                        "io.holdfast.devbroker..", "io.holdfast.proxy.testing..", "com.hivemq..", "org.eclipse.paho..")
                .check(main);
    }

    @Test
    void onlyTheCommandLinePrints() {
        noClasses()
                .that()
                .resideOutsideOfPackage(CLI)
                .should(ACCESS_STANDARD_STREAMS)
                .check(main);
        NO_CLASSES_SHOULD_USE_JAVA_UTIL_LOGGING.check(main);
    }

    @Test
    void clocksArePassedIn() {
        noClasses()
                .should()
                .callMethod(System.class, "nanoTime")
                .orShould()
                .callMethod(System.class, "currentTimeMillis")
                .orShould()
                .callMethod(java.time.Instant.class, "now")
                .check(main);
    }

    @Test
    void onlyTheCommandLineKnowsPicocli() {
        noClasses()
                .that()
                .resideOutsideOfPackage(CLI)
                .should()
                .dependOnClassesThat()
                .resideInAPackage("picocli..")
                .check(main);
    }
}
