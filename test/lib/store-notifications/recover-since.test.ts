import { describe, expect, it } from '@jest/globals';
import { setStoreSettings } from '../../../lib/apps/store-settings-table.ts';
import { hourMs } from '../../../lib/foundation/time.ts';
import { recoverSince } from '../../../lib/store-notifications/recover-notifications.ts';
import { createService } from '../../../testing/create-service.ts';
import { startDate } from '../../../testing/given.ts';
import { givenApp } from '../../../testing/given-app.ts';
import { startBeforeAll } from '../../../testing/start-before-all.ts';
import { createTestTable } from '../../../testing/table.ts';

const table = startBeforeAll(createTestTable);

describe('recoverSince', () => {
  it('reports a store that does not list its notifications, and continues with the others', async () => {
    const { appName } = await givenApp(table);
    const service = createService(table);
    const platforms = ['store_a', 'processor_b'] as const;
    for (const platform of platforms) await setStoreSettings(service, appName, platform, {});
    expect(await recoverSince(service, appName, { since: startDate - hourMs })).toEqual(
      platforms.map((platform) => ({
        platform,
        processed: 0,
        failed: 0,
        problem: `The ${platform} settings of the app are not valid.`,
      })),
    );
  });

  it('rejects a time in the future', async () => {
    const { appName } = await givenApp(table);
    await expect(recoverSince(createService(table), appName, { since: startDate + hourMs })).rejects.toMatchObject({
      code: 'InvalidPayload',
      message: 'startdate must not be in the future.',
    });
  });
});
