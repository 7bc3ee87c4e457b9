import org.apache.hadoop.hive.conf.HiveConf;
import org.apache.hadoop.hive.metastore.HiveMetaStore;
import org.apache.hadoop.hive.metastore.txn.TxnDbUtil;

/** A Hive metastore whose new database also has the tables of transactions and locks, which Hive's schema tool would make. */
public class LockingMetastore {
  public static void main(String[] arguments) throws Throwable {
    TxnDbUtil.prepDb(new HiveConf());
    HiveMetaStore.main(arguments);
  }
}
