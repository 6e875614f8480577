import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.attribute.PosixFilePermissions;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.permission.FsPermission;

/** Rights are set by a call. Without its native library Hadoop starts a process, chmod, for each file. */
public class QuickLocalFiles extends RawLocalFileSystem {
  @Override
  public void setPermission(Path file, FsPermission rights) throws IOException {
    String asText = rights.getUserAction().SYMBOL + rights.getGroupAction().SYMBOL + rights.getOtherAction().SYMBOL;
    Files.setPosixFilePermissions(pathToFile(file).toPath(), PosixFilePermissions.fromString(asText));
  }
}
