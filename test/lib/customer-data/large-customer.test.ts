import { beforeAll, describe, expect, it } from '@jest/globals';
import pMap from 'p-map';
import type { App } from '../../../lib/apps/app.ts';
import { getApp } from '../../../lib/apps/manage-apps.ts';
import { scanBounds } from '../../../lib/customer-data/customer-data-table.ts';
import { eraseCustomer } from '../../../lib/customer-data/erase-customer.ts';
import { exportCustomer } from '../../../lib/customer-data/export-customer.ts';
import { createEventRecorder } from '../../../lib/events/event-recorder.ts';
import { saveEvent } from '../../../lib/events/event-table.ts';
import type { Service } from '../../../lib/foundation/service.ts';
import { createService } from '../../../testing/create-service.ts';
import { formatItem, scanItems } from '../../../testing/dump-items.ts';
import { findNames } from '../../../testing/find-names.ts';
import { createObservation, createUniqueName, startDate } from '../../../testing/given.ts';
import { givenApp } from '../../../testing/given-app.ts';
import { recordObservation } from '../../../testing/purchase-inputs.ts';
import { createTestTable } from '../../../testing/table.ts';

/** More than the batches of 100, and than two pages. */
const count = 110;
const pageSize = 50;
const username = createUniqueName('buyer');

let service: Service;
let tableName: string;
let app: App;
beforeAll(async () => {
  const table = await createTestTable(createUniqueName('large'));
  service = createService(table);
  Object.assign(scanBounds(service), { pageSize });
  tableName = table.name;
  app = await getApp(service, (await givenApp(table)).appName);
  const indexes = Array.from({ length: count }, (_, index) => index);
  await pMap(indexes, recordPurchaseAndEvent, { concurrency: 8 });
});

async function recordPurchaseAndEvent(index: number): Promise<void> {
  const purchaseId = `store_a:${index}`;
  const observation = createObservation({ purchaseId, transactionId: purchaseId, productId: `store_a:p${index}` });
  await recordObservation(service, app.name, { username, observation });
  const recorder = createEventRecorder({ type: 'receipt.validated', date: startDate + index });
  recorder.setUser(username);
  const outcome = { status: 200, ok: true };
  const { event, raw } = recorder.finish({ request: { applicationUsername: username }, response: {}, outcome });
  await saveEvent(service, app.name, event, raw);
}

async function readExport() {
  let text = '';
  for await (const chunk of exportCustomer(service, app, username)) text += chunk;
  return JSON.parse(text) as { purchases: { purchaseId: string }[]; events: { eventId: string }[] };
}

describe('customer of more purchases and events than one page', () => {
  it('appears in the export with each purchase and event once', async () => {
    const { purchases, events } = await readExport();
    expect(purchases).toHaveLength(count);
    expect(new Set(purchases.map(({ purchaseId }) => purchaseId)).size).toBe(count);
    expect(events).toHaveLength(count);
    expect(new Set(events.map(({ eventId }) => eventId)).size).toBe(count);
  });

  it('loses every item in an erasure', async () => {
    const removed = await eraseCustomer(service, app, username, { wait: async () => {} });
    expect(removed).toMatchObject({ purchases: count, events: count });
    const items = (await scanItems(tableName)).map(formatItem);
    expect(items.length).toBeGreaterThan(count);
    expect(findNames(items, [username])).toEqual([]);
    expect(await readExport()).toMatchObject({ purchases: [], events: [] });
  });
});
