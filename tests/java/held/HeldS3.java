import java.io.IOException;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.util.Progressable;
import org.apache.hadoop.fs.s3a.S3AFileSystem;

/** Hadoop's objects in S3; a test can hold whoever is about to change one. */
public class HeldS3 extends S3AFileSystem {
  @Override
  public FSDataOutputStream create(
      Path file, FsPermission rights, boolean overwrites, int buffer, short copies, long block, Progressable progress)
      throws IOException {
    Holds.before("create " + file.toUri().getPath());
    return super.create(file, rights, overwrites, buffer, copies, block, progress);
  }

  @Override
  public boolean rename(Path from, Path to) throws IOException {
    Holds.before("rename " + from.toUri().getPath() + " to " + to.toUri().getPath());
    return super.rename(from, to);
  }

  @Override
  public boolean delete(Path file, boolean isRecursive) throws IOException {
    Holds.before("delete " + file.toUri().getPath());
    return super.delete(file, isRecursive);
  }
}
