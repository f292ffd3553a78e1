package io.holdfast.proxy.interop;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;

/** A test class that uses a {@link Deployment}: those in use are ended when the test run ends. */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(InteropTest.EndDeployments.class)
@Timeout(value = 120, unit = TimeUnit.SECONDS)
@interface InteropTest {

    /** Puts the end of all deployments into the store of the whole run. */
    final class EndDeployments implements BeforeAllCallback {
        @Override
        public void beforeAll(ExtensionContext context) {
            context.getRoot()
                    .getStore(ExtensionContext.Namespace.create(Deployment.class))
                    .getOrComputeIfAbsent("end", key -> (AutoCloseable) Deployment::endAll, AutoCloseable.class);
        }
    }
}
