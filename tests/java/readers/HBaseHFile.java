import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.function.Function;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hudi.org.apache.hadoop.hbase.Cell;
import org.apache.hudi.org.apache.hadoop.hbase.CellUtil;
import org.apache.hudi.org.apache.hadoop.hbase.KeyValue;
import org.apache.hudi.org.apache.hadoop.hbase.io.hfile.HFile;
import org.apache.hudi.org.apache.hadoop.hbase.io.hfile.HFileScanner;

/** The same as NativeHFile with the reader of HBase, which the bundles before 1.1 carry. */
public class HBaseHFile implements Function<List<Object>, Long> {
  @Override
  public Long apply(List<Object> arguments) {
    Configuration configuration = new Configuration();
    Path path = new Path((String) arguments.get(1));
    List<?> keys = (List<?>) arguments.get(3);
    try (HFile.Reader reader = HFile.createReader(path.getFileSystem(configuration), path, configuration)) {
      HFileScanner scanner = reader.getScanner(false, true);
      List<String> found = new ArrayList<>();
      if (keys == null) {
        for (boolean more = scanner.seekTo(); more; more = scanner.next()) {
          found.add(line(scanner.getCell()));
        }
      } else {
        for (Object key : keys) {
          byte[] row = ((String) key).getBytes(StandardCharsets.UTF_8);
          if (scanner.seekTo(new KeyValue(row, null, null, null)) == 0) {
            found.add(line(scanner.getCell()));
          }
        }
      }
      Files.write(java.nio.file.Path.of((String) arguments.get(2)), found);
      return reader.getEntries();
    } catch (Exception failed) {
      throw new RuntimeException(failed);
    }
  }

  private static String line(Cell cell) {
    Base64.Encoder text = Base64.getEncoder();
    return text.encodeToString(CellUtil.cloneRow(cell)) + "\t" + text.encodeToString(CellUtil.cloneValue(cell));
  }
}
