import pMap from 'p-map';
import * as v from 'valibot';
import { isPermanent, type ServiceError } from '../foundation/errors.ts';
import { unpackEventId } from '../foundation/event-id.ts';
import { purchaseKey } from '../foundation/keys.ts';
import { catchFailure } from '../foundation/log.ts';
import type { Service } from '../foundation/service.ts';
import { describeRecord, reportStreamFailures, toStreamFailure } from '../foundation/stream-failure.ts';
import type { StreamRecord } from '../foundation/stream-record.ts';
import { settleCredits } from './settle-credits.ts';

const worker = 'fan-out-webhooks';
const concurrency = 10;
const PackedEvent = v.object({ event: v.union([v.string(), v.instance(Uint8Array)]) });

/**
 * Settles the purchases of stream records that give credits, each once. Returns the sequence number of the first record
 * that failed, from which the stream must be read again. Skips and reports a purchase that no repetition can settle.
 */
export async function settleRecords(service: Service, records: readonly StreamRecord[]): Promise<string | undefined> {
  const giving = records.filter(({ kind, after }) => kind === 'purchase' && after?.givesCredits === true);
  const byPurchase = new Map(giving.map((record) => [`${record.appName}\n${record.key.pk}`, record]));
  const failures = await pMap(
    [...byPurchase.values()],
    async (record) => ({ record, failure: await trySettle(service, record) }),
    { concurrency },
  );
  await reportStreamFailures(
    service,
    failures.flatMap(({ record, failure }) =>
      failure && isPermanent(failure) ? [toStreamFailure(worker, record, failure)] : [],
    ),
  );
  const failedKeys = new Set(
    failures.filter(({ failure }) => failure && !isPermanent(failure)).map(({ record }) => record.key.pk),
  );
  return giving.find(({ key }) => failedKeys.has(key.pk))?.sequenceNumber;
}

const trySettle = async (service: Service, record: StreamRecord): Promise<ServiceError | undefined> =>
  await catchFailure({ worker, ...describeRecord(record) }, async () => {
    const { purchaseId } = purchaseKey.parse(record.key);
    await settleCredits(service, record.appName, { purchaseId, eventId: findEventId(record) });
  });

/** The event of an announced version of the purchase. */
const findEventId = ({ after }: StreamRecord): string | undefined =>
  v.is(PackedEvent, after) ? unpackEventId(after.event) : undefined;
