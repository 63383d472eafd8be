import com.netflix.hollow.api.consumer.HollowConsumer;
import com.netflix.hollow.api.consumer.fs.HollowFilesystemBlobRetriever;
import com.netflix.hollow.api.producer.HollowProducer;
import com.netflix.hollow.api.producer.fs.HollowFilesystemPublisher;
import java.io.BufferedReader;
import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.zip.GZIPInputStream;

/**
 * Netflix Hollow with the rows of one table in two editions.
 *
 * <p>"produce DIR FIRST SECOND" writes the snapshot of the first file and the delta to the second.
 * "consume DIR" loads the snapshot, applies the delta, and prints seconds and heap.
 */
public final class HollowPeer {
  /** The columns of the table of refugees as our export writes them, without links. */
  static final class Refugees {
    String originCode;
    String originName;
    String asylumCode;
    String asylumName;
    String populationGroup;
    String gender;
    String ageRange;
    Integer minAge;
    Integer maxAge;
    int population;
    String start;
    String end;
    String resource;
  }

  private static void addAll(String file, HollowProducer.WriteState state) throws IOException {
    try (BufferedReader in = new BufferedReader(new InputStreamReader(
        new GZIPInputStream(new FileInputStream(file), 1 << 16), StandardCharsets.UTF_8), 1 << 16)) {
      Map<String, Integer> at = new HashMap<>();
      String[] header = in.readLine().split(",");
      for (int i = 0; i < header.length; i++) {
        at.put(header[i], i);
      }
      String[] cells = new String[header.length];
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        split(line, cells);
        Refugees r = new Refugees();
        r.originCode = cells[at.get("origin_location_code")];
        r.originName = cells[at.get("origin_location_name")];
        r.asylumCode = cells[at.get("asylum_location_code")];
        r.asylumName = cells[at.get("asylum_location_name")];
        r.populationGroup = cells[at.get("population_group")];
        r.gender = cells[at.get("gender")];
        r.ageRange = cells[at.get("age_range")];
        r.minAge = number(cells[at.get("min_age")]);
        r.maxAge = number(cells[at.get("max_age")]);
        r.population = Integer.parseInt(cells[at.get("population")]);
        r.start = cells[at.get("reference_period_start")];
        r.end = cells[at.get("reference_period_end")];
        r.resource = cells[at.get("resource_catalog_id")];
        state.add(r);
      }
    }
  }

  private static Integer number(String cell) {
    return cell.isEmpty() ? null : Integer.valueOf(cell);
  }

  private static void split(String line, String[] cells) throws IOException {
    int k = 0;
    StringBuilder cell = new StringBuilder();
    boolean quoted = false;
    for (int i = 0; i <= line.length(); i++) {
      char c = i < line.length() ? line.charAt(i) : ',';
      if (c == '"') {
        if (quoted && i + 1 < line.length() && line.charAt(i + 1) == '"') {
          cell.append('"');
          i++;
        } else {
          quoted = !quoted;
        }
      } else if (c == ',' && !quoted) {
        cells[k++] = cell.toString();
        cell.setLength(0);
      } else {
        cell.append(c);
      }
    }
    if (k != cells.length) {
      throw new IOException("a line has " + k + " cells, the header " + cells.length + ": " + line);
    }
  }

  private static double cpu() {
    com.sun.management.OperatingSystemMXBean os =
        (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    return os.getProcessCpuTime() / 1e9;
  }

  private static void produce(Path dir, String first, String second) throws IOException {
    HollowProducer producer = HollowProducer.withPublisher(new HollowFilesystemPublisher(dir)).build();
    producer.initializeDataModel(Refugees.class);
    StringBuilder versions = new StringBuilder();
    for (String file : new String[] {first, second}) {
      double cpu = cpu();
      long began = System.nanoTime();
      versions.append(producer.runCycle(state -> addAll(file, state))).append('\n');
      System.out.printf("cycle: %.1f s, %.1f s of CPU%n", (System.nanoTime() - began) / 1e9, cpu() - cpu);
    }
    Files.writeString(dir.resolve("versions"), versions);
    for (File f : dir.toFile().listFiles()) {
      System.out.println(f.getName() + " " + f.length());
    }
  }

  private static long used() {
    return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
  }

  private static double settled() throws InterruptedException {
    for (int i = 0; i < 3; i++) {
      System.gc();
      Thread.sleep(100);
    }
    return used() / 1048576.0;
  }

  private static volatile long peak;

  private static void refresh(HollowConsumer consumer, String what, long version) throws InterruptedException {
    double before = settled();
    double cpu = cpu();
    Thread watch = new Thread(() -> {
      peak = 0;
      while (!Thread.interrupted()) {
        peak = Math.max(peak, used());
        try {
          Thread.sleep(1);
        } catch (InterruptedException e) {
          return;
        }
      }
    });
    watch.start();
    long began = System.nanoTime();
    consumer.triggerRefreshTo(version);
    double took = (System.nanoTime() - began) / 1e9;
    double spent = cpu() - cpu;
    watch.interrupt();
    watch.join();
    System.out.printf("%s: %.2f s, %.2f s of CPU; heap %.0f MiB before, %.0f at its peak, %.0f after%n", what, took,
        spent, before, peak / 1048576.0, settled());
  }

  private static void consume(Path dir) throws Exception {
    String[] versions = Files.readString(dir.resolve("versions")).trim().split("\n");
    HollowConsumer consumer =
        HollowConsumer.withBlobRetriever(new HollowFilesystemBlobRetriever(dir)).build();
    refresh(consumer, "snapshot", Long.parseLong(versions[0]));
    refresh(consumer, "delta", Long.parseLong(versions[1]));
    System.out.println(
        consumer.getStateEngine().getTypeState("Refugees").getPopulatedOrdinals().cardinality() + " rows");
  }

  public static void main(String[] args) throws Exception {
    Path dir = Path.of(args[1]);
    if (args[0].equals("produce")) {
      Files.createDirectories(dir);
      produce(dir, args[2], args[3]);
    } else {
      consume(dir);
    }
  }

  private HollowPeer() {}
}
