import java.nio.charset.StandardCharsets;
import org.apache.hudi.HoodieSchemaConversionUtils;
import org.apache.spark.sql.types.StructType;

/**
 * Makes avro_schemas.json: the Avro schemas that Apache Hudi's Spark writer gives to tables.
 * java -cp "hudi-spark3.5-bundle_2.12-1.2.0.jar:$PYSPARK/jars/*" AvroSchemas.java > avro_schemas.json   (PySpark 3.5)
 */
public class AvroSchemas {
  static final String[][] CASES = {
      {"scalars", "bo boolean, i int not null, l bigint, f float, d double, s string not null, b binary, by tinyint, sh smallint,"
          + " d1 decimal(1,0), d2 decimal(2,0), d9 decimal(9,4), d18 decimal(18,18), d19 decimal(19,0) not null, d38 decimal(38,10),"
          + " dt date, t timestamp, tn timestamp_ntz not null"},
      {"nested", "st struct<x: int, y: struct<z: string, dec: decimal(10,2)>>, li array<int>,"
          + " ls array<struct<a: bigint, b: array<string>>>, ll array<array<decimal(5,1)>>, m map<string, int>,"
          + " ms map<string, struct<k: date>>, md map<string, decimal(12,3)>, sm struct<m: map<string, array<timestamp>>>,"
          + " la array<decimal(7,2)>, x struct<x: struct<x: int>>, sr struct<r: int not null> not null"},
      {"two-words.and dots", "a int, s struct<b: decimal(4,2)>"},
      {"9lives", "a int"},
      {"caf\u00e9", "a int"}};

  public static void main(String[] args) {
    StringBuilder out = new StringBuilder("[");
    for (String[] c : CASES) {
      var names = HoodieSchemaConversionUtils.getRecordNameAndNamespace(c[0]);
      var schema = HoodieSchemaConversionUtils.convertStructTypeToHoodieSchema(StructType.fromDDL(c[1]), names._1(), names._2());
      out.append(out.length() == 1 ? "\n" : ",\n")
          .append(String.format("{\"table\":\"%s\",\"ddl\":\"%s\",\"avro\":%s}", c[0].replace("\u00e9", "\\u00e9"), c[1], schema));
    }
    System.out.println(out.append("\n]"));
  }
}
