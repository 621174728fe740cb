import { describe, expect, it } from '@jest/globals';
import { findGrant } from '../../../lib/entitlements/grant-table.ts';
import { addGrant } from '../../../lib/entitlements/manage-grants.ts';
import { grantKey } from '../../../lib/foundation/keys.ts';
import { dayMs } from '../../../lib/foundation/time.ts';
import { enqueueDueItems } from '../../../lib/refresh/enqueue-due-items.ts';
import { createService } from '../../../testing/create-service.ts';
import { createUniqueName, startDate } from '../../../testing/given.ts';
import { createTestTable } from '../../../testing/table.ts';

describe('enqueueDueItems', () => {
  it('announces the ends of the other grants if one is not readable', async () => {
    const appName = createUniqueName();
    // Its own table, because the worker reads the due items of all apps.
    const table = await createTestTable(createUniqueName('due'));
    const request = { entitlement: 'premium', reason: 'a gift', until: startDate + dayMs };
    const key = { id: 'key', name: 'alice' };
    const usernames = Array.from({ length: 60 }, (_, index) => `user-${index}`);
    const grants = await Promise.all(
      usernames.map(async (username) => {
        const { grant } = await addGrant(createService(table), request, { appName, username, key });
        return grant;
      }),
    );
    const damaged = grants.slice(0, 20);
    for (const { username, grantId } of damaged) {
      const item = await table.get(grantKey(appName, username, grantId));
      await table.batchPut([{ ...item, ...grantKey(appName, username, grantId), entitlement: 7 }]);
    }
    const service = createService(table, { now: () => startDate + 2 * dayMs });
    await enqueueDueItems(service, () => 60_000);
    const ended = await Promise.all(
      grants.slice(damaged.length).map(async ({ username, grantId }) => {
        return await findGrant(service, appName, { username, grantId });
      }),
    );
    expect(ended.filter((grant) => grant?.endAnnouncedAt === undefined)).toEqual([]);
  });
});
