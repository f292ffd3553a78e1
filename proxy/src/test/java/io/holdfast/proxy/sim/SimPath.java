package io.holdfast.proxy.sim;

import java.io.File;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.WatchEvent;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import java.util.List;

/** A path on the simulated disk; always absolute and normal, but for single names. */
final class SimPath implements Path {
    private final SimFileSystem fileSystem;
    private final String text;

    SimPath(SimFileSystem fileSystem, String text) {
        this.fileSystem = fileSystem;
        this.text = text;
    }

    private SimPath of(String other) {
        return new SimPath(fileSystem, other);
    }

    private List<String> parts() {
        return List.of(text.split("/")).stream().filter(part -> !part.isEmpty()).toList();
    }

    @Override
    public SimFileSystem getFileSystem() {
        return fileSystem;
    }

    @Override
    public boolean isAbsolute() {
        return text.startsWith("/");
    }

    @Override
    public Path getRoot() {
        return isAbsolute() ? of("/") : null;
    }

    @Override
    public Path getFileName() {
        return text.equals("/") ? null : of(text.substring(text.lastIndexOf('/') + 1));
    }

    @Override
    public Path getParent() {
        return text.equals("/") || text.indexOf('/') < 0 ? null : of(SimDisk.parent(text));
    }

    @Override
    public int getNameCount() {
        return parts().size();
    }

    @Override
    public Path getName(int index) {
        return of(parts().get(index));
    }

    @Override
    public Path subpath(int begin, int end) {
        return of(String.join("/", parts().subList(begin, end)));
    }

    @Override
    public boolean startsWith(Path other) {
        return text.equals(other.toString())
                || text.startsWith(other + "/")
                || other.toString().equals("/");
    }

    @Override
    public boolean endsWith(Path other) {
        return text.equals(other.toString()) || text.endsWith("/" + other);
    }

    @Override
    public Path normalize() {
        return this;
    }

    @Override
    public Path resolve(Path other) {
        if (other.isAbsolute() || text.isEmpty()) {
            return other;
        }
        return other.toString().isEmpty() ? this : of(text.equals("/") ? "/" + other : text + "/" + other);
    }

    @Override
    public Path relativize(Path other) {
        String prefix = text.equals("/") ? "/" : text + "/";
        return of(other.toString().equals(text) ? "" : other.toString().substring(prefix.length()));
    }

    @Override
    public URI toUri() {
        return URI.create("sim:" + text);
    }

    @Override
    public Path toAbsolutePath() {
        return isAbsolute() ? this : of("/" + text);
    }

    @Override
    public Path toRealPath(LinkOption... options) {
        return toAbsolutePath();
    }

    /** No file of the machine; it can tell whether it exists. */
    @Override
    @SuppressWarnings("serial")
    public File toFile() {
        return new File("sim:" + text) {
            @Override
            public boolean exists() {
                return Files.exists(SimPath.this);
            }
        };
    }

    @Override
    public WatchKey register(WatchService watcher, WatchEvent.Kind<?>[] events, WatchEvent.Modifier... modifiers) {
        throw new UnsupportedOperationException();
    }

    @Override
    public int compareTo(Path other) {
        return text.compareTo(other.toString());
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof SimPath path && path.fileSystem == fileSystem && path.text.equals(text);
    }

    @Override
    public int hashCode() {
        return text.hashCode();
    }

    @Override
    public String toString() {
        return text;
    }
}
