import java.util.concurrent.TimeUnit;
import org.apache.hudi.client.transaction.lock.ZookeeperBasedLockProvider;
import org.apache.hudi.common.config.LockConfiguration;
import org.apache.hudi.storage.StorageConfiguration;

/** Hudi's own lock; a test can hold whoever is about to ask for it or to release it. */
public class HeldZooKeeperLock extends ZookeeperBasedLockProvider {
  public HeldZooKeeperLock(LockConfiguration lock, StorageConfiguration<?> storage) {
    super(lock, storage);
  }

  @Override
  public boolean tryLock(long time, TimeUnit unit) {
    Holds.before("lock");
    return super.tryLock(time, unit);
  }

  @Override
  public void unlock() {
    Holds.before("unlock");
    super.unlock();
  }
}
