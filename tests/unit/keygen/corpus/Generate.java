import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.nio.ByteBuffer;
import java.util.Iterator;
import java.util.Map;
import org.apache.avro.LogicalTypes;
import org.apache.avro.Schema;
import org.apache.avro.SchemaBuilder;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.util.Utf8;
import org.apache.hudi.common.config.TypedProperties;
import org.apache.hudi.keygen.BaseKeyGenerator;

/**
 * What Hudi's key generators make of rows. Reads a case a line (class, options, fields, rows) and writes a line for each:
 * {"error": ...} when the generator cannot be made, else {"rows": [[key, path], ...]} with {"error": ...} for a key or path
 * that Hudi refuses. The file is started by make_corpus.py.
 */
public class Generate {
  private static final ObjectMapper JSON = new ObjectMapper();

  public static void main(String[] arguments) throws Exception {
    PrintStream answers = System.out;
    System.setOut(System.err);
    BufferedReader cases = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
    for (String line = cases.readLine(); line != null; line = cases.readLine()) {
      answers.write((JSON.writeValueAsString(answer(JSON.readTree(line))) + "\n").getBytes("UTF-8"));
    }
    answers.flush();
  }

  private static ObjectNode answer(JsonNode given) {
    ObjectNode result = JSON.createObjectNode();
    BaseKeyGenerator generator;
    try {
      TypedProperties options = new TypedProperties();
      given.get("options").fields().forEachRemaining(o -> options.setProperty(o.getKey(), o.getValue().asText()));
      Class<?> type = Class.forName("org.apache.hudi.keygen." + given.get("class").asText());
      generator = (BaseKeyGenerator) type.getConstructor(TypedProperties.class).newInstance(options);
    } catch (Throwable error) {
      return result.put("error", reason(error));
    }
    Schema schema = schema(given.get("fields"));
    ArrayNode rows = result.putArray("rows");
    for (JsonNode values : given.get("rows")) {
      GenericRecord record = new GenericData.Record(schema);
      int position = 0;
      for (Iterator<Map.Entry<String, JsonNode>> i = given.get("fields").fields(); i.hasNext(); position++) {
        record.put(position, value(i.next().getValue().asText(), values.get(position)));
      }
      ArrayNode row = rows.addArray();
      try {
        row.add(generator.getRecordKey(record));
      } catch (Throwable error) {
        row.addObject().put("error", reason(error));
      }
      try {
        row.add(generator.getPartitionPath(record));
      } catch (Throwable error) {
        row.addObject().put("error", reason(error));
      }
    }
    return result;
  }

  private static String reason(Throwable error) {
    Throwable cause = error;
    while (cause.getCause() != null) {
      cause = cause.getCause();
    }
    String text = cause.getClass().getSimpleName() + ": " + cause.getMessage();
    return text.substring(0, Math.min(text.length(), 60));
  }

  private static Schema schema(JsonNode fields) {
    SchemaBuilder.FieldAssembler<Schema> made = SchemaBuilder.record("row").fields();
    fields.fields().forEachRemaining(
        field -> made.name(field.getKey()).type(Schema.createUnion(Schema.create(Schema.Type.NULL), type(field.getValue().asText())))
            .withDefault(null));
    return made.endRecord();
  }

  private static Schema type(String name) {
    switch (name) {
      case "string":
        return Schema.create(Schema.Type.STRING);
      case "int":
        return Schema.create(Schema.Type.INT);
      case "long":
        return Schema.create(Schema.Type.LONG);
      case "float":
        return Schema.create(Schema.Type.FLOAT);
      case "double":
        return Schema.create(Schema.Type.DOUBLE);
      case "boolean":
        return Schema.create(Schema.Type.BOOLEAN);
      case "date":
        return LogicalTypes.date().addToSchema(Schema.create(Schema.Type.INT));
      case "timestamp":
        return LogicalTypes.timestampMicros().addToSchema(Schema.create(Schema.Type.LONG));
      case "local":
        return LogicalTypes.localTimestampMicros().addToSchema(Schema.create(Schema.Type.LONG));
      case "decimal":
        return LogicalTypes.decimal(20, 2).addToSchema(Schema.createFixed("fixed", null, "", 9));
      default:
        throw new IllegalArgumentException(name);
    }
  }

  private static Object value(String type, JsonNode value) {
    if (value.isNull()) {
      return null;
    }
    switch (type) {
      case "string":
        return new Utf8(value.asText());
      case "int":
      case "date":
        return value.asInt();
      case "float":
        return (float) value.asDouble();
      case "double":
        return value.asDouble();
      case "boolean":
        return value.asBoolean();
      case "decimal":
        byte[] digits = new BigDecimal(value.asText()).setScale(2, RoundingMode.UNNECESSARY).unscaledValue().toByteArray();
        byte[] padded = new byte[9];
        java.util.Arrays.fill(padded, (byte) (digits[0] < 0 ? -1 : 0));
        System.arraycopy(digits, 0, padded, 9 - digits.length, digits.length);
        return new GenericData.Fixed(type("decimal"), padded);
      default:
        return value.asLong();
    }
  }
}
