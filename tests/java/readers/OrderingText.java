import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.apache.hudi.common.model.DeleteRecord;

/** The ordering value of a deletion with its class, which py4j does not tell: int and long are one to it. */
public class OrderingText implements Function<DeleteRecord, String> {
  @Override
  public String apply(DeleteRecord deletion) {
    return text(deletion.getOrderingValue());
  }

  private static String text(Object value) {
    if (value == null) {
      return "null";
    }
    String name = value.getClass().getSimpleName();
    if (name.equals("ArrayComparable")) {
      return name + values(value);
    }
    return (value instanceof ByteBuffer ? "ByteBuffer" : name) + " " + plain(value);
  }

  private static String plain(Object value) {
    if (value instanceof ByteBuffer) {
      ByteBuffer bytes = ((ByteBuffer) value).duplicate();
      StringBuilder hex = new StringBuilder();
      while (bytes.hasRemaining()) {
        hex.append(String.format("%02x", bytes.get()));
      }
      return hex.toString();
    }
    return value instanceof BigDecimal ? ((BigDecimal) value).toPlainString() : value.toString();
  }

  /** Releases before 1.1 have no such class, so it is not named here. */
  private static List<String> values(Object array) {
    List<String> texts = new ArrayList<>();
    try {
      ((List<?>) array.getClass().getMethod("getValues").invoke(array)).forEach(each -> texts.add(text(each)));
    } catch (ReflectiveOperationException failed) {
      throw new RuntimeException(failed);
    }
    return texts;
  }
}
