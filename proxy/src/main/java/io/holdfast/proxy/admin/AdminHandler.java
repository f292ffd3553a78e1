package io.holdfast.proxy.admin;

import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import java.nio.charset.StandardCharsets;

/** Answers one admin request. */
final class AdminHandler extends SimpleChannelInboundHandler<FullHttpRequest> {
    private static final String TEXT = "text/plain; charset=utf-8";

    private final ProxyReport report;
    private final PrometheusMeterRegistry registry;

    AdminHandler(ProxyReport report, PrometheusMeterRegistry registry) {
        this.report = report;
        this.registry = registry;
    }

    @Override
    protected void channelRead0(ChannelHandlerContext ctx, FullHttpRequest request) {
        if (!HttpMethod.GET.equals(request.method())) {
            answer(ctx, request, HttpResponseStatus.METHOD_NOT_ALLOWED, TEXT, "only GET\n");
            return;
        }
        int query = request.uri().indexOf('?');
        String path = query < 0 ? request.uri() : request.uri().substring(0, query);
        switch (path) {
            case "/metrics" ->
                answer(
                        ctx,
                        request,
                        HttpResponseStatus.OK,
                        "text/plain; version=0.0.4; charset=utf-8",
                        registry.scrape());
            case "/health/live" -> answer(ctx, request, HttpResponseStatus.OK, TEXT, "live\n");
            case "/health/ready" ->
                health(ctx, request, report.isReady(), report.isReady() ? "ready\n" : "not ready\n");
            case "/health/uplink" -> health(ctx, request, report.isUplinkHealthy(), report.describeUplinks());
            case "/ledger" -> answer(ctx, request, HttpResponseStatus.OK, "application/json", report.ledger());
            default ->
                answer(
                        ctx,
                        request,
                        HttpResponseStatus.NOT_FOUND,
                        TEXT,
                        "try /metrics, /health/live, /health/ready, /health/uplink or /ledger\n");
        }
    }

    private static void health(ChannelHandlerContext ctx, FullHttpRequest request, boolean good, String text) {
        answer(ctx, request, good ? HttpResponseStatus.OK : HttpResponseStatus.SERVICE_UNAVAILABLE, TEXT, text);
    }

    private static void answer(
            ChannelHandlerContext ctx, FullHttpRequest request, HttpResponseStatus status, String type, String text) {
        ByteBuf body = Unpooled.copiedBuffer(text, StandardCharsets.UTF_8);
        DefaultFullHttpResponse response = new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, status, body);
        response.headers().set(HttpHeaderNames.CONTENT_TYPE, type);
        response.headers().set(HttpHeaderNames.CONTENT_LENGTH, body.readableBytes());
        boolean keepAlive = HttpUtil.isKeepAlive(request);
        HttpUtil.setKeepAlive(response, keepAlive);
        var written = ctx.writeAndFlush(response);
        if (!keepAlive) {
            written.addListener(ChannelFutureListener.CLOSE);
        }
    }
}
