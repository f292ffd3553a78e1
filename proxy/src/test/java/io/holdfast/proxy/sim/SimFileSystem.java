package io.holdfast.proxy.sim;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.AccessMode;
import java.nio.file.CopyOption;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileStore;
import java.nio.file.FileSystem;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.WatchService;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.FileAttributeView;
import java.nio.file.attribute.FileStoreAttributeView;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.UserPrincipalLookupService;
import java.nio.file.spi.FileSystemProvider;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Puts a {@link SimDisk} behind {@code java.nio.file}, so that the store's own code runs on it. One thread. */
final class SimFileSystem extends FileSystem {
    private final Provider provider = new Provider();
    private final Store store = new Store();
    private final SimDisk disk;

    SimFileSystem(SimDisk disk) {
        this.disk = disk;
    }

    SimDisk disk() {
        return disk;
    }

    @Override
    public FileSystemProvider provider() {
        return provider;
    }

    @Override
    public void close() {
        throw new UnsupportedOperationException();
    }

    @Override
    public boolean isOpen() {
        return true;
    }

    @Override
    public boolean isReadOnly() {
        return false;
    }

    @Override
    public String getSeparator() {
        return "/";
    }

    @Override
    public Iterable<Path> getRootDirectories() {
        return List.of(getPath("/"));
    }

    @Override
    public Iterable<FileStore> getFileStores() {
        return List.of(store);
    }

    @Override
    public Set<String> supportedFileAttributeViews() {
        return Set.of("basic", "posix");
    }

    @Override
    public Path getPath(String first, String... more) {
        String all = more.length == 0 ? first : first + "/" + String.join("/", more);
        return new SimPath(this, all);
    }

    @Override
    public PathMatcher getPathMatcher(String syntaxAndPattern) {
        if (!syntaxAndPattern.startsWith("glob:")) {
            throw new UnsupportedOperationException(syntaxAndPattern);
        }
        String regex = syntaxAndPattern.substring(5).replace(".", "\\.").replace("*", ".*");
        return path -> path.toString().matches(regex);
    }

    @Override
    public UserPrincipalLookupService getUserPrincipalLookupService() {
        throw new UnsupportedOperationException();
    }

    @Override
    public WatchService newWatchService() {
        throw new UnsupportedOperationException();
    }

    private final class Store extends FileStore {
        @Override
        public String name() {
            return "sim";
        }

        @Override
        public String type() {
            return "sim";
        }

        @Override
        public boolean isReadOnly() {
            return false;
        }

        @Override
        public long getTotalSpace() {
            return 1L << 40;
        }

        @Override
        public long getUsableSpace() {
            return disk.usableBytes();
        }

        @Override
        public long getUnallocatedSpace() {
            return disk.usableBytes();
        }

        @Override
        public boolean supportsFileAttributeView(Class<? extends FileAttributeView> type) {
            return false;
        }

        @Override
        public boolean supportsFileAttributeView(String name) {
            return false;
        }

        @Override
        public <V extends FileStoreAttributeView> V getFileStoreAttributeView(Class<V> type) {
            return null;
        }

        @Override
        public Object getAttribute(String attribute) {
            throw new UnsupportedOperationException();
        }
    }

    private record Attributes(boolean isDirectory, long size) implements BasicFileAttributes {
        private static final FileTime EPOCH = FileTime.fromMillis(0);

        @Override
        public FileTime lastModifiedTime() {
            return EPOCH;
        }

        @Override
        public FileTime lastAccessTime() {
            return EPOCH;
        }

        @Override
        public FileTime creationTime() {
            return EPOCH;
        }

        @Override
        public boolean isRegularFile() {
            return !isDirectory;
        }

        @Override
        public boolean isSymbolicLink() {
            return false;
        }

        @Override
        public boolean isOther() {
            return false;
        }

        @Override
        public Object fileKey() {
            return null;
        }
    }

    private final class Provider extends FileSystemProvider {
        @Override
        public String getScheme() {
            return "sim";
        }

        @Override
        public FileSystem newFileSystem(java.net.URI uri, Map<String, ?> env) {
            throw new UnsupportedOperationException();
        }

        @Override
        public FileSystem getFileSystem(java.net.URI uri) {
            return SimFileSystem.this;
        }

        @Override
        public Path getPath(java.net.URI uri) {
            throw new UnsupportedOperationException();
        }

        @Override
        public FileChannel newFileChannel(Path path, Set<? extends OpenOption> options, FileAttribute<?>... attributes)
                throws IOException {
            String name = path.toString();
            if (disk.isDirectory(name)) {
                return new SimFileChannel(disk, null, name, false);
            }
            SimDisk.Inode inode = disk.find(name);
            if (inode != null && options.contains(StandardOpenOption.CREATE_NEW)) {
                throw new FileAlreadyExistsException(name);
            }
            boolean mayCreate =
                    options.contains(StandardOpenOption.CREATE) || options.contains(StandardOpenOption.CREATE_NEW);
            if (inode == null && !mayCreate) {
                throw new NoSuchFileException(name);
            }
            if (inode == null) {
                inode = disk.create(name);
            } else if (options.contains(StandardOpenOption.TRUNCATE_EXISTING)) {
                disk.truncate(inode, 0);
            }
            return new SimFileChannel(disk, inode, name, options.contains(StandardOpenOption.APPEND));
        }

        @Override
        public SeekableByteChannel newByteChannel(
                Path path, Set<? extends OpenOption> options, FileAttribute<?>... attributes) throws IOException {
            return newFileChannel(path, options, attributes);
        }

        @Override
        public DirectoryStream<Path> newDirectoryStream(Path directory, DirectoryStream.Filter<? super Path> filter)
                throws IOException {
            if (!disk.isDirectory(directory.toString())) {
                throw new NoSuchFileException(directory.toString());
            }
            List<Path> found = new java.util.ArrayList<>();
            for (String name : disk.list(directory.toString())) {
                Path path = new SimPath(SimFileSystem.this, name);
                if (filter == null || filter.accept(path)) {
                    found.add(path);
                }
            }
            return new DirectoryStream<>() {
                @Override
                public Iterator<Path> iterator() {
                    return found.iterator();
                }

                @Override
                public void close() {
                    // nothing is held
                }
            };
        }

        @Override
        public void createDirectory(Path directory, FileAttribute<?>... attributes) throws IOException {
            disk.createDirectory(directory.toString());
        }

        @Override
        public void delete(Path path) throws IOException {
            disk.delete(path.toString());
        }

        @Override
        public void copy(Path source, Path target, CopyOption... options) throws IOException {
            if (disk.find(target.toString()) != null) {
                if (!Arrays.asList(options).contains(StandardCopyOption.REPLACE_EXISTING)) {
                    throw new FileAlreadyExistsException(target.toString());
                }
                disk.delete(target.toString());
            }
            try (FileChannel in = newFileChannel(source, Set.of(StandardOpenOption.READ));
                    FileChannel out = newFileChannel(target, Set.of(StandardOpenOption.CREATE_NEW))) {
                java.nio.ByteBuffer bytes = java.nio.ByteBuffer.allocate((int) in.size());
                in.read(bytes, 0);
                bytes.flip();
                while (bytes.hasRemaining()) {
                    out.write(bytes);
                }
            }
        }

        @Override
        public void move(Path source, Path target, CopyOption... options) throws IOException {
            List<CopyOption> all = Arrays.asList(options);
            boolean replace =
                    all.contains(StandardCopyOption.REPLACE_EXISTING) || all.contains(StandardCopyOption.ATOMIC_MOVE);
            disk.rename(source.toString(), target.toString(), replace);
        }

        @Override
        public boolean isSameFile(Path path, Path other) {
            return path.equals(other);
        }

        @Override
        public boolean isHidden(Path path) {
            return false;
        }

        @Override
        public FileStore getFileStore(Path path) {
            return store;
        }

        @Override
        public void checkAccess(Path path, AccessMode... modes) throws IOException {
            attributes(path);
        }

        private Attributes attributes(Path path) throws IOException {
            String name = path.toString();
            if (disk.isDirectory(name)) {
                return new Attributes(true, 0);
            }
            SimDisk.Inode inode = disk.find(name);
            if (inode == null) {
                throw new NoSuchFileException(name);
            }
            return new Attributes(false, inode.size());
        }

        @Override
        public <V extends FileAttributeView> V getFileAttributeView(Path path, Class<V> type, LinkOption... options) {
            return null;
        }

        @Override
        public <A extends BasicFileAttributes> A readAttributes(Path path, Class<A> type, LinkOption... options)
                throws IOException {
            return type.cast(attributes(path));
        }

        @Override
        public Map<String, Object> readAttributes(Path path, String names, LinkOption... options) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void setAttribute(Path path, String attribute, Object value, LinkOption... options) {
            throw new UnsupportedOperationException();
        }
    }
}
