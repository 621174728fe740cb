import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { createRevenueCatValidator } from '../../../cli/compare/revenuecat-validator.ts';
import { pullRevenueCat } from '../../../cli/import/from/pull-revenuecat.ts';
import { createRevenueCatClient } from '../../../cli/import/from/revenuecat-client.ts';
import { startRevenueCatStandIn } from '../../../testing/revenuecat-stand-in.ts';
import { startBeforeAll } from '../../../testing/start-before-all.ts';

const key = 'sk_test_0123456789';
const ids = Array.from({ length: 250 }, (_, index) => `user-${index}`);

/** Is in the list of customers, and deleted before they are read. */
const deletedId = 'user-120';
const folder = mkdtempSync(join(tmpdir(), 'claimcheck-revenuecat-'));

const standIn = startBeforeAll(
  async () =>
    await startRevenueCatStandIn({
      key,
      rejectedInterval: 50,
      listIds: () => ids,
      findCustomer: async (id) =>
        ids.includes(id) && id !== deletedId ? { id, subscriptions: [], purchases: [] } : undefined,
      products: [],
      entitlements: [],
    }),
);
afterAll(async () => {
  await standIn?.close();
  rmSync(folder, { recursive: true, force: true });
});

const connect = (signal = new AbortController().signal) => ({
  ...{ key, baseUrl: `${standIn.url}/v2`, rate: 1_000, maxWaitMs: 10_000, signal },
});
const readIds = (path: string): string[] =>
  readFileSync(path, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).id);

describe('pullRevenueCat', () => {
  it('reads each customer once despite rate limits and interruptions, also one who is deleted in that time', async () => {
    const path = join(folder, 'customers.jsonl');
    const progress: number[] = [];
    for (let run = 0; run < 3; run++) {
      const interruption = new AbortController();
      const client = createRevenueCatClient(connect());
      const options = { client, project: 'proj1', path, isResumed: run > 0, signal: interruption.signal };
      const onProgress = (customers: number): void => {
        progress.push(customers);
        interruption.abort();
      };
      await pullRevenueCat({ ...options, onProgress }).catch(({ code, message }) =>
        expect({ code, message }).toEqual({
          code: 'Conflict',
          message: expect.stringMatching(/Interrupted after \d+ customers\. Pass --resume\./),
        }),
      );
    }
    expect(readIds(path)).toEqual(ids);
    expect(progress).toEqual([100, 200, 250]);
    expect(standIn.countRejected()).toBeGreaterThan(5);
  });
});

describe('createRevenueCatValidator', () => {
  it('returns no purchases for a customer whom RevenueCat does not have', async () => {
    const validator = await createRevenueCatValidator({ ...connect(), project: undefined });
    expect(await validator.listPurchases('customer-of-today')).toMatchObject({ isOk: true, purchases: [] });
  });

  it('rejects an unknown project and a wrong key', async () => {
    for (const options of [{ project: 'proj2' }, { key: 'sk_wrong', project: 'proj1' }])
      await expect(createRevenueCatValidator({ ...connect(), ...options })).rejects.toMatchObject({
        code: 'Forbidden',
      });
  });
});
