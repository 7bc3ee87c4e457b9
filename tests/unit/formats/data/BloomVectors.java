import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.zip.CRC32;
import org.apache.hudi.common.bloom.BloomFilter;
import org.apache.hudi.common.bloom.BloomFilterFactory;

/**
 * Makes bloom_vectors.json from Apache Hudi's own filters.
 * The last one is too large to keep: only its checksum is there, its keys are "clé-0", "clé-1" ...
 * java -cp hudi-spark3.5-bundle_2.12-1.2.0.jar BloomVectors.java > bloom_vectors.json
 */
public class BloomVectors {
  static List<String> keys(int count, long seed) {
    String alphabet = "abcXYZ0189-_:/ é€ßΩ字ñ\u0001";
    Random random = new Random(seed);
    List<String> keys = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      int length = random.nextInt(24);
      StringBuilder key = new StringBuilder(Integer.toString(i, 36)).append('|');
      for (int j = 0; j < length; j++) {
        key.append(alphabet.charAt(random.nextInt(alphabet.length())));
      }
      keys.add(key.toString());
    }
    return keys;
  }

  public static void main(String[] args) {
    Object[][] cases = {{"SIMPLE", 50, 1e-3, 50, 40, 1L}, {"DYNAMIC_V0", 64, 1e-9, 200, 30, 2L}, {"DYNAMIC_V0", 64, 1e-4, 200, 500, 3L},
        {"DYNAMIC_V0", 200, 1e-9, 700, 900, 4L}};
    StringBuilder out = new StringBuilder("[");
    for (int i = 0; i < cases.length; i++) {
      Object[] c = cases[i];
      BloomFilter filter = BloomFilterFactory.createBloomFilter((int) c[1], (double) c[2], (int) c[3], (String) c[0]);
      List<String> keys = keys((int) c[4], (long) c[5]);
      keys.forEach(filter::add);
      CRC32 crc = new CRC32();
      String text = filter.serializeToString();
      crc.update(text.getBytes(StandardCharsets.US_ASCII));
      StringBuilder list = new StringBuilder();
      for (String key : keys) {
        StringBuilder escaped = new StringBuilder();
        for (char ch : key.toCharArray()) {
          escaped.append(ch < 128 && ch >= 32 && ch != '"' && ch != '\\' ? "" + ch : String.format("\\u%04x", (int) ch));
        }
        list.append(list.length() == 0 ? "" : ",").append('"').append(escaped).append('"');
      }
      out.append(i == 0 ? "\n" : ",\n").append(String.format(
          "{\"type\":\"%s\",\"entries\":%d,\"fpp\":%s,\"max\":%d,\"count\":%d,\"crc32\":%d,\"text\":\"%s\",\"keys\":[%s]}",
          c[0], c[1], c[2], c[3], keys.size(), crc.getValue(), text, list));
    }
    BloomFilter grown = BloomFilterFactory.createBloomFilter(60000, 1e-9, 100000, "DYNAMIC_V0");
    int count = 150007;
    for (int i = 0; i < count; i++) {
      grown.add("cl\u00e9-" + i);
    }
    CRC32 crc = new CRC32();
    crc.update(grown.serializeToString().getBytes(StandardCharsets.US_ASCII));
    out.append(String.format(",\n{\"type\":\"DYNAMIC_V0\",\"entries\":60000,\"fpp\":1e-9,\"max\":100000,\"count\":%d,\"crc32\":%d}",
        count, crc.getValue()));
    System.out.println(out.append("\n]"));
  }
}
