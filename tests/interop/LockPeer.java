package org.apache.hudi.client.transaction.lock;

import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hudi.client.transaction.lock.models.LockGetResult;
import org.apache.hudi.client.transaction.lock.models.LockProviderHeartbeatManager;
import org.apache.hudi.client.transaction.lock.models.LockUpsertResult;
import org.apache.hudi.client.transaction.lock.models.StorageLockData;
import org.apache.hudi.client.transaction.lock.models.StorageLockFile;
import org.apache.hudi.common.config.LockConfiguration;
import org.apache.hudi.common.config.TypedProperties;
import org.apache.hudi.common.lock.LockProvider;
import org.apache.hudi.common.util.Option;
import org.apache.hudi.common.util.collection.Pair;
import org.apache.hudi.hive.transaction.lock.HiveMetastoreBasedLockProvider;
import org.apache.hudi.storage.hadoop.HadoopStorageConfiguration;
import org.slf4j.LoggerFactory;

/**
 * Hudi's own lock providers, asked line by line. Arguments: "zookeeper", "implicit", "hive" or the URL of the object that is the storage-based lock, then
 * options as key=value. Hudi's client for locks on S3 is in a bundle of its own that is not to be had here: this one sends the same
 * conditional requests.
 */
public class LockPeer implements StorageLockClient {
  private final HttpClient http = HttpClient.newHttpClient();
  private final URI object;

  LockPeer(URI object) {
    this.object = object;
  }

  public static void main(String[] arguments) throws Exception {
    TypedProperties properties = new TypedProperties();
    for (int index = 1; index < arguments.length; index++) {
      String[] pair = arguments[index].split("=", 2);
      properties.setProperty(pair[0], pair[1]);
    }
    LockProvider<?> provider = provider(arguments[0], properties);
    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
    System.out.println("> ready");
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      String[] words = line.split(" ");
      try {
        switch (words[0]) {
          case "lock":
            System.out.println("> " + provider.tryLock(Long.parseLong(words[1]), TimeUnit.MILLISECONDS));
            break;
          case "node":
            System.out.println("> " + ZookeeperBasedImplicitBasePathLockProvider.getLockBasePath(words[1]));
            break;
          case "unlock":
            provider.unlock();
            System.out.println("> done");
            break;
          default: // as one that is killed
            Runtime.getRuntime().halt(1);
        }
      } catch (RuntimeException error) {
        System.out.println("> error " + String.valueOf(error.getMessage()).replace('\n', ' '));
      }
    }
    Runtime.getRuntime().halt(0);
  }

  private static LockProvider<?> provider(String which, TypedProperties properties) {
    switch (which) {
      case "zookeeper":
        return new ZookeeperBasedLockProvider(new LockConfiguration(properties), null);
      case "implicit":
        return new ZookeeperBasedImplicitBasePathLockProvider(new LockConfiguration(properties), null);
      case "hive":
        return new HiveMetastoreBasedLockProvider(
            new LockConfiguration(properties), new HadoopStorageConfiguration(new Configuration()));
      default:
        return new StorageBasedLockProvider(
            "hudis-own-uuid", properties,
            (owner, millis, renew) -> new LockProviderHeartbeatManager(owner, millis, renew),
            (owner, file, given) -> new LockPeer(URI.create(which)),
            LoggerFactory.getLogger(StorageBasedLockProvider.class), null);
    }
  }

  @Override
  public Pair<LockUpsertResult, Option<StorageLockFile>> tryUpsertLockFile(
      StorageLockData data, Option<StorageLockFile> previous) {
    try {
      byte[] body = StorageLockFile.toByteArray(data);
      HttpRequest.Builder put = request().PUT(HttpRequest.BodyPublishers.ofByteArray(body));
      if (previous.isPresent()) {
        put.header("If-Match", previous.get().getVersionId());
      } else {
        put.header("If-None-Match", "*");
      }
      HttpResponse<byte[]> answer = http.send(put.build(), HttpResponse.BodyHandlers.ofByteArray());
      if (answer.statusCode() == 412 || answer.statusCode() == 409) {
        return Pair.of(LockUpsertResult.ACQUIRED_BY_OTHERS, Option.empty());
      }
      if (answer.statusCode() != 200) {
        return Pair.of(LockUpsertResult.UNKNOWN_ERROR, Option.empty());
      }
      String tag = answer.headers().firstValue("etag").get();
      return Pair.of(LockUpsertResult.SUCCESS, Option.of(new StorageLockFile(data, tag)));
    } catch (Exception error) {
      return Pair.of(LockUpsertResult.UNKNOWN_ERROR, Option.empty());
    }
  }

  @Override
  public Pair<LockGetResult, Option<StorageLockFile>> readCurrentLockFile() {
    try {
      HttpResponse<byte[]> answer = http.send(request().GET().build(), HttpResponse.BodyHandlers.ofByteArray());
      if (answer.statusCode() == 404) {
        return Pair.of(LockGetResult.NOT_EXISTS, Option.empty());
      }
      String tag = answer.headers().firstValue("etag").get();
      StorageLockFile file = StorageLockFile.createFromStream(new ByteArrayInputStream(answer.body()), tag);
      return Pair.of(LockGetResult.SUCCESS, Option.of(file));
    } catch (Exception error) {
      return Pair.of(LockGetResult.UNKNOWN_ERROR, Option.empty());
    }
  }

  private HttpRequest.Builder request() {
    String credential = "AWS4-HMAC-SHA256 Credential=tester/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0";
    return HttpRequest.newBuilder(object).header("Authorization", credential);
  }

  @Override
  public Option<String> readObject(String path, boolean checkExists) {
    return Option.empty();
  }

  @Override
  public boolean writeObject(String path, String content) {
    return false;
  }

  @Override
  public void close() {}
}
