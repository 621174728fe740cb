import { describe, expect, it } from '@jest/globals';
import { purchaseKey } from '../../../lib/foundation/keys.ts';
import { refreshAllPurchases } from '../../../lib/refresh/refresh-all-purchases.ts';
import { createService } from '../../../testing/create-service.ts';
import { createObservation } from '../../../testing/given.ts';
import { givenApp } from '../../../testing/given-app.ts';
import { recordObservation } from '../../../testing/purchase-inputs.ts';
import { startBeforeAll } from '../../../testing/start-before-all.ts';
import { createTestTable } from '../../../testing/table.ts';

const table = startBeforeAll(createTestTable);

describe('refreshAllPurchases', () => {
  it('counts a purchase that is not readable as failed, and continues with the others', async () => {
    const { appName } = await givenApp(table);
    const service = createService(table);
    for (const purchaseId of ['store_a:1', 'store_a:2', 'store_a:3']) {
      const observation = createObservation({ purchaseId, transactionId: purchaseId });
      await recordObservation(service, appName, { username: 'ann', observation });
    }
    const damaged = await table.get(purchaseKey(appName, 'store_a:1'));
    await table.batchPut([{ ...damaged, ...purchaseKey(appName, 'store_a:1'), purchase: 7 }]);
    expect(await refreshAllPurchases(service, appName)).toEqual({ refreshed: 2, failed: 1 });
  });
});
