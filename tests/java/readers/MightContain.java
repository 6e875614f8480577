import java.util.List;
import java.util.function.BiFunction;
import org.apache.hudi.common.bloom.BloomFilter;

/** Asks a filter for many keys at once: a 1 for each that it may contain, a 0 for the others. */
public class MightContain implements BiFunction<BloomFilter, List<String>, String> {
  @Override
  public String apply(BloomFilter filter, List<String> keys) {
    StringBuilder answers = new StringBuilder();
    keys.forEach(key -> answers.append(filter.mightContain(key) ? '1' : '0'));
    return answers.toString();
  }
}
