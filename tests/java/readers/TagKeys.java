import com.fasterxml.jackson.core.json.JsonWriteFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.apache.hudi.client.common.HoodieSparkEngineContext;
import org.apache.hudi.common.data.HoodieData;
import org.apache.hudi.common.model.EmptyHoodieRecordPayload;
import org.apache.hudi.common.model.HoodieAvroRecord;
import org.apache.hudi.common.model.HoodieKey;
import org.apache.hudi.common.model.HoodieRecord;
import org.apache.hudi.config.HoodieWriteConfig;
import org.apache.hudi.data.HoodieJavaRDD;
import org.apache.hudi.index.HoodieIndex;
import org.apache.hudi.index.SparkHoodieIndexFactory;
import org.apache.hudi.table.HoodieSparkTable;

/** What the index of the write configuration says of records before they are written: a JSON list of objects. */
public class TagKeys implements Function<List<Object>, Long> {
  private final ObjectMapper json = JsonMapper.builder().enable(JsonWriteFeature.ESCAPE_NON_ASCII).build();

  /** Arguments: write configuration, engine context, file with a JSON list of [key, partition], file to write. */
  @Override
  public Long apply(List<Object> arguments) {
    try {
      HoodieSparkEngineContext context = (HoodieSparkEngineContext) arguments.get(1);
      List<HoodieRecord<EmptyHoodieRecordPayload>> records = new ArrayList<>();
      for (Object pair : json.readValue(Path.of((String) arguments.get(2)).toFile(), List.class)) {
        HoodieKey key = new HoodieKey((String) ((List<?>) pair).get(0), (String) ((List<?>) pair).get(1));
        records.add(new HoodieAvroRecord<>(key, new EmptyHoodieRecordPayload()));
      }
      List<Object> tagged = new ArrayList<>();
      for (HoodieRecord<EmptyHoodieRecordPayload> each : tagged((HoodieWriteConfig) arguments.get(0), context, records)) {
        boolean known = each.getCurrentLocation() != null;
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("key", each.getRecordKey());
        fields.put("partition", each.getPartitionPath());
        fields.put("file_id", known ? each.getCurrentLocation().getFileId() : null);
        fields.put("instant", known ? each.getCurrentLocation().getInstantTime() : null);
        tagged.add(fields);
      }
      json.writeValue(Path.of((String) arguments.get(3)).toFile(), tagged);
      return (long) tagged.size();
    } catch (Exception failed) {
      throw new RuntimeException(failed);
    }
  }

  @SuppressWarnings({"unchecked", "rawtypes"})
  private static List<HoodieRecord<EmptyHoodieRecordPayload>> tagged(
      HoodieWriteConfig config, HoodieSparkEngineContext context, List<HoodieRecord<EmptyHoodieRecordPayload>> records) {
    HoodieIndex index = SparkHoodieIndexFactory.createIndex(config);
    HoodieData<HoodieRecord<EmptyHoodieRecordPayload>> given = HoodieJavaRDD.of(records, context, 1);
    HoodieSparkTable<EmptyHoodieRecordPayload> table = HoodieSparkTable.create(config, context);
    return index.tagLocation(given, context, table).collectAsList();
  }
}
