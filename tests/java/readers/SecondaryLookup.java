import com.fasterxml.jackson.core.json.JsonWriteFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.lang.reflect.InvocationTargetException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import org.apache.hudi.common.data.HoodieData;
import org.apache.hudi.common.data.HoodieListData;
import org.apache.hudi.common.data.HoodiePairData;
import org.apache.hudi.common.util.collection.Pair;
import org.apache.hudi.metadata.HoodieBackedTableMetadata;

/** Which records have a value, by a secondary index: a JSON list of pairs of value and ascending record keys. */
public class SecondaryLookup implements Function<List<Object>, Long> {
  private final ObjectMapper json = JsonMapper.builder().enable(JsonWriteFeature.ESCAPE_NON_ASCII).build();

  /** Arguments: metadata of the table, name of the index, file with a JSON list of values, file to write. */
  @Override
  public Long apply(List<Object> arguments) {
    try {
      HoodieBackedTableMetadata metadata = (HoodieBackedTableMetadata) arguments.get(0);
      List<Object> found = new ArrayList<>();
      for (Object value : json.readValue(Path.of((String) arguments.get(2)).toFile(), List.class)) {
        List<String> one = new ArrayList<>(Collections.singletonList((String) value));
        List<Object> pair = new ArrayList<>();
        pair.add(value);
        pair.add(new TreeSet<>(keys(metadata, (String) arguments.get(1), one)));
        found.add(pair);
      }
      json.writeValue(Path.of((String) arguments.get(3)).toFile(), found);
      return (long) found.size();
    } catch (Exception failed) {
      throw new RuntimeException(failed instanceof InvocationTargetException ? failed.getCause() : failed);
    }
  }

  /** Release 1.0.2 gives a map of sets, of every value that begins with the one asked for; later ones give pairs. */
  @SuppressWarnings("unchecked")
  private static List<String> keys(HoodieBackedTableMetadata metadata, String index, List<String> value)
      throws ReflectiveOperationException {
    List<String> keys = new ArrayList<>();
    try {
      Object found = HoodieBackedTableMetadata.class
          .getMethod("getSecondaryIndexRecords", List.class, String.class).invoke(metadata, value, index);
      keys.addAll(((Map<String, Set<String>>) found).getOrDefault(value.get(0), Set.of()));
    } catch (NoSuchMethodException later) {
      Object found = HoodieBackedTableMetadata.class
          .getMethod("readSecondaryIndexDataTableRecordKeysWithKeys", HoodieData.class, String.class)
          .invoke(metadata, HoodieListData.eager(value), index);
      for (Pair<String, String> each : ((HoodiePairData<String, String>) found).collectAsList()) {
        keys.add(each.getValue());
      }
    }
    return keys;
  }
}
