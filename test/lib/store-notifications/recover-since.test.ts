import { describe, expect, it } from '@jest/globals';
import { hourMs } from '../../../lib/foundation/time.ts';
import { recoverSince } from '../../../lib/store-notifications/recover-notifications.ts';
import { createService } from '../../../testing/create-service.ts';
import { givenApp } from '../../../testing/given-app.ts';
import { startBeforeAll } from '../../../testing/start-before-all.ts';
import { createTestTable } from '../../../testing/table.ts';

const table = startBeforeAll(createTestTable);

describe('recoverSince', () => {
  it('rejects a time in the future', async () => {
    const { appName } = await givenApp(table);
    const service = createService(table);
    await expect(recoverSince(service, appName, { since: service.now() + hourMs })).rejects.toMatchObject({
      code: 'InvalidPayload',
      message: 'startdate must not be in the future.',
    });
  });
});
