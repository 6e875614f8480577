import com.fasterxml.jackson.core.json.JsonWriteFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.lang.reflect.InvocationTargetException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import org.apache.hudi.common.data.HoodieData;
import org.apache.hudi.common.data.HoodieListData;
import org.apache.hudi.common.data.HoodiePairData;
import org.apache.hudi.common.model.HoodieRecordGlobalLocation;
import org.apache.hudi.common.util.Option;
import org.apache.hudi.common.util.collection.Pair;
import org.apache.hudi.metadata.HoodieBackedTableMetadata;

/** Where the record index says that keys live: one JSON object a line for each key that is found. */
public class RecordLookup implements Function<List<Object>, Long> {
  private final ObjectMapper json = JsonMapper.builder().enable(JsonWriteFeature.ESCAPE_NON_ASCII).build();

  /** Arguments: metadata of the table, file with a JSON list of keys, file to write, data partition or null. */
  @Override
  public Long apply(List<Object> arguments) {
    try {
      List<String> keys = new ArrayList<>();
      for (Object key : json.readValue(Path.of((String) arguments.get(1)).toFile(), List.class)) {
        keys.add((String) key);
      }
      HoodieBackedTableMetadata metadata = (HoodieBackedTableMetadata) arguments.get(0);
      List<String> lines = new ArrayList<>();
      for (Map.Entry<String, HoodieRecordGlobalLocation> each : found(metadata, keys, arguments.get(3)).entrySet()) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("key", each.getKey());
        fields.put("partition", each.getValue().getPartitionPath());
        fields.put("file_id", each.getValue().getFileId());
        fields.put("instant", each.getValue().getInstantTime());
        lines.add(json.writeValueAsString(fields));
      }
      Files.write(Path.of((String) arguments.get(2)), lines);
      return (long) lines.size();
    } catch (Exception failed) {
      throw new RuntimeException(failed instanceof InvocationTargetException ? failed.getCause() : failed);
    }
  }

  /** The method and what it takes and gives changed in release 1.1, which also brought the index by partition. */
  @SuppressWarnings("unchecked")
  private static Map<String, HoodieRecordGlobalLocation> found(
      HoodieBackedTableMetadata metadata, List<String> keys, Object partition) throws ReflectiveOperationException {
    try {
      return new TreeMap<>((Map<String, HoodieRecordGlobalLocation>) HoodieBackedTableMetadata.class
          .getMethod("readRecordIndex", List.class).invoke(metadata, keys));
    } catch (NoSuchMethodException later) {
      Object pairs = HoodieBackedTableMetadata.class
          .getMethod("readRecordIndexLocationsWithKeys", HoodieData.class, Option.class)
          .invoke(metadata, HoodieListData.eager(keys), Option.ofNullable(partition));
      Map<String, HoodieRecordGlobalLocation> found = new TreeMap<>();
      for (Pair<String, HoodieRecordGlobalLocation> each
          : ((HoodiePairData<String, HoodieRecordGlobalLocation>) pairs).collectAsList()) {
        found.put(each.getKey(), each.getValue());
      }
      return found;
    }
  }
}
