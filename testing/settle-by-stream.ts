import { settleRecords } from '../lib/credits/settle-records.ts';
import { getService } from '../lib/foundation/get-service.ts';
import { purchaseKey } from '../lib/foundation/keys.ts';
import { buildStreamRecord } from './stream-records.ts';

/** Delivers a purchase to the stream worker that settles credits. Returns the record that must be read again. */
export async function settleByStream(appName: string, purchaseId: string): Promise<string | undefined> {
  const after = await getService().table.get(purchaseKey(appName, purchaseId));
  return after && (await settleRecords(getService(), [buildStreamRecord({ after }, 1)]));
}
