import { ServiceError } from './errors.ts';
import { purchaseKey } from './keys.ts';
import { type LogContext, logError } from './log.ts';
import type { Service } from './service.ts';
import type { StreamRecord } from './stream-record.ts';
import type { EpochMillis } from './time.ts';

export const streamWorkers = ['fan-out-webhooks', 'aggregate-statistics'] as const;

/**
 * Work that a stream worker skipped because every repetition would fail. Contains keys only: the operator replays it
 * from the table after the correction.
 */
export interface StreamFailure {
  readonly worker: (typeof streamWorkers)[number];
  readonly appName: string;
  /** Key of the record's item, or of the counter or customer that the worker cannot read. */
  readonly key: StreamRecord['key'];
  readonly reason: string;
  /** Time of the write, on the table's clock. */
  readonly writtenAt: EpochMillis;
}

/** Runs a computation without I/O. Throws a permanent error if it fails, because a repetition would fail too. */
export function computeFromRecord<T>(compute: () => T): T {
  try {
    return compute();
  } catch (error) {
    const { code, message } = ServiceError.fromUnknown(error);
    throw new ServiceError(code, message, { cause: error, isPermanent: true });
  }
}

export const toStreamFailure = (
  worker: StreamFailure['worker'],
  { appName, key, writtenAt }: Pick<StreamRecord, 'appName' | 'key' | 'writtenAt'>,
  { message }: ServiceError,
): StreamFailure => ({ worker, appName, key, reason: message, writtenAt });

/** Enqueues and logs skipped work. Throws `ConnectionFailed` if a message could not be enqueued. */
export async function reportStreamFailures(
  { streamFailures }: Service,
  failures: readonly StreamFailure[],
): Promise<void> {
  await streamFailures.send(failures);
  for (const { worker, reason, ...record } of failures)
    logError(
      { worker, ...describeRecord(record), problem: 'StreamRecordSkipped' },
      new ServiceError('DatabaseError', reason),
    );
}

/** Returns the app and the purchase of a record for the log. Other keys can contain usernames. */
export const describeRecord = ({ appName, key }: Pick<StreamRecord, 'appName' | 'key'>): LogContext => ({
  app: appName,
  ...(key.sk === purchaseKey.sortKey() && { purchaseId: purchaseKey.parse(key).purchaseId }),
});
