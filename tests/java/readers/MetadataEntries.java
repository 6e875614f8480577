import com.fasterxml.jackson.core.json.JsonWriteFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.apache.avro.generic.IndexedRecord;
import org.apache.hudi.common.data.HoodieData;
import org.apache.hudi.common.data.HoodieListData;
import org.apache.hudi.common.model.HoodieRecord;
import org.apache.hudi.common.model.HoodieRecordGlobalLocation;
import org.apache.hudi.metadata.HoodieBackedTableMetadata;
import org.apache.hudi.metadata.HoodieMetadataPayload;

/**
 * Every entry of one index as Hudi's own reader merges it: all keys begin with the empty prefix. Entries go to a file,
 * one JSON object a line, ascending by the bytes of their keys; what is deleted is left out.
 */
public class MetadataEntries implements Function<List<Object>, Long> {
  private final ObjectMapper json = JsonMapper.builder().enable(JsonWriteFeature.ESCAPE_NON_ASCII).build();

  /** Arguments: metadata of the table, name of the index, file to write. */
  @Override
  public Long apply(List<Object> arguments) {
    HoodieBackedTableMetadata metadata = (HoodieBackedTableMetadata) arguments.get(0);
    try {
      List<Entry> entries = new ArrayList<>();
      for (HoodieRecord<HoodieMetadataPayload> each : all(metadata, (String) arguments.get(1)).collectAsList()) {
        if (!each.getData().isDeleted()) {
          add(entries, each.getRecordKey(), each.getData());
        }
      }
      entries.sort(Entry::compareTo);
      List<String> lines = new ArrayList<>();
      entries.forEach(each -> lines.add(each.line));
      Files.write(Path.of((String) arguments.get(2)), lines);
      return (long) lines.size();
    } catch (Exception failed) {
      throw new RuntimeException(failed);
    }
  }

  /** Releases before 1.1 take texts for prefixes, later ones a class of their own for each kind of key. */
  @SuppressWarnings("unchecked")
  private static HoodieData<HoodieRecord<HoodieMetadataPayload>> all(HoodieBackedTableMetadata metadata, String index)
      throws ReflectiveOperationException {
    Object found;
    try {
      found = HoodieBackedTableMetadata.class
          .getMethod("getRecordsByKeyPrefixes", List.class, String.class, boolean.class)
          .invoke(metadata, new ArrayList<>(List.of("")), index, true);
    } catch (NoSuchMethodException later) {
      Object verbatim = Class.forName("org.apache.hudi.metadata.RecordIndexRawKey")
          .getConstructor(String.class).newInstance("");
      found = HoodieBackedTableMetadata.class
          .getMethod("getRecordsByKeyPrefixes", HoodieData.class, String.class, boolean.class)
          .invoke(metadata, HoodieListData.eager(List.of(verbatim)), index, true);
    }
    return (HoodieData<HoodieRecord<HoodieMetadataPayload>>) found;
  }

  private void add(List<Entry> entries, String key, HoodieMetadataPayload payload) throws Exception {
    IndexedRecord record = payload.getInsertValue(null).get();
    int type = (Integer) get(record, "type");
    if (type == 1 || type == 2) {
      for (Map.Entry<?, ?> file : ((Map<?, ?>) get(record, "filesystemMetadata")).entrySet()) {
        if (!(Boolean) get(file.getValue(), "isDeleted")) {
          Map<String, Object> fields = started(key);
          fields.put("name", file.getKey().toString());
          fields.put("size_bytes", get(file.getValue(), "size"));
          entries.add(new Entry(key, json.writeValueAsString(fields)));
        }
      }
      return;
    }
    Map<String, Object> fields = started(key);
    if (type == 3 || type == 6) {
      statistics(fields, get(record, "ColumnStatsMetadata"));
    } else if (type == 4) {
      bloom(fields, get(record, "BloomFilterMetadata"));
    } else if (type == 5) {
      location(fields, get(record, "recordIndexMetadata"), payload.getRecordGlobalLocation());
    } else if (type == 7) {
      fields.put("is_deleted", get(get(record, "SecondaryIndexMetadata"), "isDeleted"));
    } else {
      throw new IllegalStateException("an entry of type " + type);
    }
    if (!Boolean.TRUE.equals(fields.remove("is_deleted"))) {
      entries.add(new Entry(key, json.writeValueAsString(fields)));
    }
  }

  private static Map<String, Object> started(String key) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("key", key);
    return fields;
  }

  private static void location(Map<String, Object> fields, Object stored, HoodieRecordGlobalLocation location) {
    fields.put("partition", location.getPartitionPath());
    fields.put("file_id", location.getFileId());
    fields.put("instant", location.getInstantTime());
    fields.put("instant_ms", get(stored, "instantTime"));
    fields.put("position", get(stored, "position"));
  }

  private static void statistics(Map<String, Object> fields, Object stored) {
    fields.put("file_name", text(get(stored, "fileName")));
    fields.put("column_name", text(get(stored, "columnName")));
    fields.put("min", wrapped(get(stored, "minValue")));
    fields.put("max", wrapped(get(stored, "maxValue")));
    fields.put("value_count", get(stored, "valueCount"));
    fields.put("null_count", get(stored, "nullCount"));
    fields.put("total_bytes", get(stored, "totalSize"));
    fields.put("total_raw_bytes", get(stored, "totalUncompressedSize"));
    // Release 0.15.0 has no such field; for the others its absence means false.
    fields.put("is_tight_bound", Boolean.TRUE.equals(get(stored, "isTightBound")));
    Object kind = get(stored, "valueType");
    fields.put("value_type", kind == null ? null : get(kind, "typeOrdinal"));
    fields.put("value_type_info", kind == null ? null : text(get(kind, "additionalInfo")));
    fields.put("is_deleted", get(stored, "isDeleted"));
  }

  private static void bloom(Map<String, Object> fields, Object stored) {
    fields.put("type", text(get(stored, "type")));
    fields.put("instant", text(get(stored, "timestamp")));
    fields.put("bloom_filter", Base64.getEncoder().encodeToString(bytes((ByteBuffer) get(stored, "bloomFilter"))));
    fields.put("is_deleted", get(stored, "isDeleted"));
  }

  /** A bound: the name of its wrapper and its value as text, bytes as hex digits, an array as a list of bounds. */
  private static Object wrapped(Object wrapper) {
    if (wrapper == null) {
      return null;
    }
    String kind = ((IndexedRecord) wrapper).getSchema().getName();
    Map<String, Object> bound = new LinkedHashMap<>();
    bound.put("kind", kind);
    if (kind.equals("ArrayWrapper")) {
      List<Object> values = new ArrayList<>();
      ((List<?>) get(wrapper, "wrappedValues")).forEach(each -> values.add(wrapped(each)));
      bound.put("value", values);
    } else {
      bound.put("value", plain(kind, get(wrapper, "value")));
    }
    return bound;
  }

  private static String plain(String kind, Object value) {
    if (!(value instanceof ByteBuffer)) {
      return value instanceof BigDecimal ? ((BigDecimal) value).toPlainString() : text(value);
    }
    byte[] content = bytes((ByteBuffer) value);
    if (kind.equals("DecimalWrapper")) {
      return new BigDecimal(new BigInteger(content), 15).toPlainString();
    }
    StringBuilder hex = new StringBuilder();
    for (byte each : content) {
      hex.append(String.format("%02x", each));
    }
    return hex.toString();
  }

  private static byte[] bytes(ByteBuffer buffer) {
    byte[] content = new byte[buffer.remaining()];
    buffer.duplicate().get(content);
    return content;
  }

  private static String text(Object value) {
    return value == null ? null : value.toString();
  }

  /** Null for a field that this release does not have. */
  private static Object get(Object record, String name) {
    IndexedRecord stored = (IndexedRecord) record;
    return stored.getSchema().getField(name) == null ? null : stored.get(stored.getSchema().getField(name).pos());
  }

  private static final class Entry implements Comparable<Entry> {
    private final byte[] key;
    private final String line;

    private Entry(String key, String line) {
      this.key = key.getBytes(StandardCharsets.UTF_8);
      this.line = line;
    }

    @Override
    public int compareTo(Entry other) {
      int keys = Arrays.compareUnsigned(key, other.key);
      return keys == 0 ? line.compareTo(other.line) : keys;
    }
  }
}
