package io.holdfast.proxy.link;

import io.netty.resolver.AddressResolver;
import io.netty.resolver.AddressResolverGroup;
import io.netty.resolver.InetNameResolver;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Promise;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

/** Looks names up with the system's resolver, on a thread that carries no devices: a slow DNS delays nobody (P10). */
final class OffLoopNameResolver extends AddressResolverGroup<InetSocketAddress> {
    private final Executor executor;

    /** Makes a resolver that blocks only threads of {@code executor}. */
    OffLoopNameResolver(Executor executor) {
        this.executor = executor;
    }

    @Override
    protected AddressResolver<InetSocketAddress> newResolver(EventExecutor eventExecutor) {
        return new Resolver(eventExecutor, executor).asAddressResolver();
    }

    private static final class Resolver extends InetNameResolver {
        private final Executor blocking;

        Resolver(EventExecutor eventExecutor, Executor blocking) {
            super(eventExecutor);
            this.blocking = blocking;
        }

        @Override
        protected void doResolve(String host, Promise<InetAddress> promise) {
            run(promise, () -> promise.setSuccess(InetAddress.getByName(host)));
        }

        @Override
        protected void doResolveAll(String host, Promise<List<InetAddress>> promise) {
            run(promise, () -> promise.setSuccess(List.of(InetAddress.getAllByName(host))));
        }

        private void run(Promise<?> promise, Lookup lookup) {
            try {
                blocking.execute(() -> {
                    try {
                        lookup.run();
                    } catch (UnknownHostException e) {
                        promise.setFailure(e);
                    }
                });
            } catch (RejectedExecutionException e) {
                promise.setFailure(e);
            }
        }
    }

    private interface Lookup {
        void run() throws UnknownHostException;
    }
}
