import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Pattern;

/**
 * Where a test holds a Java writer: before a step that it names.
 *
 * <p>A file `NAME.on` in the folder `holds` has a regular expression. The first step that it is found in renames the
 * file to `NAME.held` and waits until the test deletes it. Other threads, the heartbeat among them, go on.
 */
public final class Holds {
  private static final Path FOLDER = Path.of("holds").toAbsolutePath();

  private Holds() {}

  /** Notes the step in `holds/steps`, and waits if a hold is on for it. */
  public static void before(String step) {
    if (step.contains("/.heartbeat/")) {
      return;
    }
    try {
      Path held = claimed(step);
      while (held != null && Files.exists(held)) {
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(10));
      }
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  private static synchronized Path claimed(String step) throws IOException {
    byte[] line = (step + "\n").getBytes();
    Files.write(FOLDER.resolve("steps"), line, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    try (DirectoryStream<Path> holds = Files.newDirectoryStream(FOLDER, "*.on")) {
      for (Path hold : holds) {
        if (Pattern.compile(Files.readString(hold)).matcher(step).find()) {
          return Files.move(hold, FOLDER.resolve(hold.getFileName().toString().replaceFirst("on$", "held")));
        }
      }
    }
    return null;
  }
}
