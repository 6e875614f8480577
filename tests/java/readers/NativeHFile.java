import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.function.Function;
import org.apache.hudi.common.util.Option;
import org.apache.hudi.io.SeekableDataInputStream;
import org.apache.hudi.io.hfile.HFileReaderImpl;
import org.apache.hudi.io.hfile.KeyValue;
import org.apache.hudi.io.hfile.UTF8StringKey;
import org.apache.hudi.storage.HoodieStorage;
import org.apache.hudi.storage.StoragePath;

/**
 * Reads an HFile with Hudi's own reader: every entry, or those of given keys in ascending order. Entries go to a file,
 * one a line: key and value in base64. Asking for each entry from Python would take minutes.
 */
public class NativeHFile implements Function<List<Object>, Long> {
  /** Arguments: storage, HFile, file to write, list of keys or null. */
  @Override
  public Long apply(List<Object> arguments) {
    HoodieStorage storage = (HoodieStorage) arguments.get(0);
    StoragePath path = new StoragePath((String) arguments.get(1));
    List<?> keys = (List<?>) arguments.get(3);
    try {
      long size = storage.getPathInfo(path).getLength();
      SeekableDataInputStream stream = storage.openSeekable(path, false);
      try (HFileReaderImpl reader = new HFileReaderImpl(stream, size)) {
        reader.initializeMetadata();
        List<String> found = keys == null ? scanned(reader) : looked(reader, keys);
        Files.write(Path.of((String) arguments.get(2)), found);
        return reader.getNumKeyValueEntries();
      }
    } catch (Exception failed) {
      throw new RuntimeException(failed);
    }
  }

  private static List<String> scanned(HFileReaderImpl reader) throws Exception {
    List<String> found = new ArrayList<>();
    for (boolean more = reader.seekTo(); more; more = reader.next()) {
      found.add(line(reader.getKeyValue()));
    }
    return found;
  }

  private static List<String> looked(HFileReaderImpl reader, List<?> keys) throws Exception {
    List<String> found = new ArrayList<>();
    reader.seekTo();
    for (Object key : keys) {
      if (reader.seekTo(new UTF8StringKey((String) key)) == 0) {
        found.add(line(reader.getKeyValue()));
      }
    }
    return found;
  }

  private static String line(Option<KeyValue> at) {
    KeyValue entry = at.get();
    byte[] value = new byte[entry.getValueLength()];
    System.arraycopy(entry.getBytes(), entry.getValueOffset(), value, 0, value.length);
    Base64.Encoder text = Base64.getEncoder();
    byte[] key = entry.getKey().getContentInString().getBytes(StandardCharsets.UTF_8);
    return text.encodeToString(key) + "\t" + text.encodeToString(value);
  }
}
