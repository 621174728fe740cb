import { beforeAll, describe, expect, it } from '@jest/globals';
import pMap from 'p-map';
import { findCachedApp } from '../../../lib/apps/app-table.ts';
import { createEventRecorder } from '../../../lib/events/event-recorder.ts';
import { getService } from '../../../lib/foundation/get-service.ts';
import { listOwnedPurchaseIds } from '../../../lib/purchases/owned-purchase-table.ts';
import { findMd5Alias } from '../../../lib/purchases/user-alias-table.ts';
import { recordObservations } from '../../../lib/validation/record-observations.ts';
import { createObservation } from '../../../testing/given.ts';
import { givenApp } from '../../../testing/given-app.ts';
import { recordObservation } from '../../../testing/purchase-inputs.ts';
import { createTestTable } from '../../../testing/table.ts';

beforeAll(async () => {
  await createTestTable();
  process.env.MASTER_KEY_ID = 'unused';
});

describe('recordObservations', () => {
  it('claims many unclaimed purchases of a customer in several validations', async () => {
    const keys = await givenApp(getService().table);
    const count = 103;
    const ids = Array.from({ length: count }, (_, index) => `store_b:unclaimed-${index}`);
    await pMap(
      ids,
      async (purchaseId) => {
        const bought = { purchaseId, transactionId: purchaseId, platform: 'store_b' } as const;
        const observation = createObservation(bought, { userAliases: ['ann'] });
        await recordObservation(getService(), keys.appName, { trigger: 'notification', observation });
      },
      { concurrency: 8 },
    );
    const app = await findCachedApp(getService(), keys.appName);
    if (!app) throw new Error('The app is missing.');
    const own = createObservation({ purchaseId: 'store_b:own', transactionId: 'store_b:own', platform: 'store_b' });
    const validate = async () => {
      const recorder = createEventRecorder({ type: 'receipt.validated', date: Date.now(), reqId: 'req' });
      await recordObservations(
        {
          app,
          recorder,
          service: getService(),
          request: { applicationUsername: 'ann' },
        },
        [own],
      );
      return (await listOwnedPurchaseIds(getService(), keys.appName, 'ann')).length;
    };
    expect(await validate()).toBe(101);
    expect(await validate()).toBe(count + 1);
    expect(await findMd5Alias(getService(), keys.appName, 'ann', 1)).toMatchObject({ isSaved: true });
  });
});
