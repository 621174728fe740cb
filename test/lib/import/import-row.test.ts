import { beforeAll, describe, expect, it } from '@jest/globals';
import { changeSettings, getApp, saveCatalogue } from '../../../lib/apps/manage-apps.ts';
import { findAccount } from '../../../lib/credits/credit-table.ts';
import { settleCredits } from '../../../lib/credits/settle-credits.ts';
import { listEventsByTags } from '../../../lib/events/event-list-table.ts';
import { ServiceError } from '../../../lib/foundation/errors.ts';
import { getService } from '../../../lib/foundation/get-service.ts';
import type { Service } from '../../../lib/foundation/service.ts';
import { importRow, rowStores } from '../../../lib/import/import-row.ts';
import { type ImportRow, parseImportRow } from '../../../lib/import/parse-import-row.ts';
import { addErasedNames, selectErasedNames } from '../../../lib/purchases/erased-name-table.ts';
import type { Observation } from '../../../lib/purchases/observation.ts';
import { findPurchase } from '../../../lib/purchases/purchase-table.ts';
import type { Store, StoreValidation } from '../../../lib/stores/store.ts';
import type { StoreContext } from '../../../lib/stores/store-context.ts';
import { createObservation, createUniqueName, testCipher } from '../../../testing/given.ts';
import { givenApp } from '../../../testing/given-app.ts';
import { createTestTable } from '../../../testing/table.ts';

beforeAll(async () => {
  await createTestTable();
  process.env.MASTER_KEY_ID = 'unused';
});

const receiptRow = parseImportRow({ platform: 'store_a', receipt: 'MIIreceipt', user: 'ann' });
const validation: StoreValidation = {
  id: 'app',
  scope: 'application',
  observations: [createObservation()],
  nativeTransaction: {},
  ineligibleForIntroPrice: [],
};

interface ImportOptions {
  readonly appName?: string;
  readonly line?: number;
  readonly validate?: Partial<StoreValidation>;
  readonly refresh?: Store['refresh'];
  readonly onValidate?: (context: StoreContext) => void;
  readonly isUnannounced?: boolean;
  readonly givesCredits?: boolean;
  readonly service?: Service;
}

/** Imports a row of a store with these results. Returns whether the table changed. */
async function runImport(
  row: ImportRow,
  {
    appName = '',
    line = 2,
    validate = {},
    refresh = async () => [createObservation()],
    onValidate,
    isUnannounced = true,
    givesCredits = false,
    service = getService(),
  }: ImportOptions,
): Promise<boolean> {
  const validateReceipt = async (_request: unknown, context: StoreContext) => {
    onValidate?.(context);
    return { ...validation, ...validate };
  };
  const store = { platform: 'store_a', validate: validateReceipt, refresh };
  const importService = { ...service, container: {} };
  rowStores(importService).load = async () => store as unknown as Store;
  return await importRow(importService, row, {
    app: await getApp(getService(), appName),
    line,
    isUnannounced,
    givesCredits,
    onStoreCall: () => {},
  });
}

const givenAppName = async (): Promise<string> => (await givenApp(getService().table)).appName;
const findUsers = async (appName: string, purchaseId = 'store_a:1') =>
  (await findPurchase(getService(), appName, purchaseId))?.entitledUsers;

describe('importRow', () => {
  it.each([[{ isOffline: true }], [{ isFallback: true }]] as const)(
    'throws ConnectionFailed and records nothing for a validation with %j',
    async (validate) => {
      const appName = await givenAppName();
      await expect(runImport(receiptRow, { appName, validate })).rejects.toMatchObject({ code: 'ConnectionFailed' });
      expect(await findUsers(appName)).toBeUndefined();
    },
  );

  it('requires a query of the store and amounts', async () => {
    const appName = await givenAppName();
    const contexts: object[] = [];
    await runImport(receiptRow, { appName, onValidate: (context) => contexts.push(context) });
    expect(contexts).toMatchObject([{ requiresQuery: true, requiresAmounts: true }]);
  });

  it('rejects a purchase that the store does not have', async () => {
    const appName = await givenAppName();
    const row = parseImportRow({ platform: 'store_a', originalTransactionId: '1' });
    await expect(runImport(row, { appName, refresh: async () => [] })).rejects.toMatchObject({
      code: 'InvalidPayload',
    });
  });

  it('records all purchases of a receipt, also the consumables that a validation limits', async () => {
    const appName = await givenAppName();
    const observations = Array.from({ length: 120 }, (_, index): Observation => {
      const purchaseId = `store_a:${index}`;
      return createObservation({ purchaseId, transactionId: purchaseId, productType: 'consumable' });
    });
    const unlistedPurchaseIds = observations.map(({ purchase }) => purchase.purchaseId);
    expect(await runImport(receiptRow, { appName, validate: { observations, unlistedPurchaseIds } })).toBe(true);
    expect(await findUsers(appName, 'store_a:0')).toEqual(['ann']);
    expect(await findUsers(appName, 'store_a:119')).toEqual(['ann']);
  });

  it.each([true, false])('gives credits only if requested (muted: %s)', async (isUnannounced) => {
    for (const givesCredits of [false, true]) {
      const appName = await givenAppName();
      const observation = createObservation({ productId: 'store_a:coins', productType: 'consumable' });
      await saveCatalogue(getService(), appName, { 'store_a:coins': { type: 'consumable', credits: { coins: 100 } } });
      const validate = { observations: [observation] };
      await runImport(receiptRow, { appName, validate, isUnannounced, givesCredits });
      await settleCredits(getService(), appName, observation.purchase);
      const { credits } = await findAccount(getService(), appName, { username: 'ann', isSandbox: false });
      expect(credits).toMatchObject(givesCredits ? { coins: { granted: 100 } } : {});
      expect(Object.keys(credits)).toHaveLength(givesCredits ? 1 : 0);
    }
  });

  it('claims in the order of the file with any order of the imports', async () => {
    const appName = await givenAppName();
    await changeSettings(getService(), appName, { strategy: 'first' });
    const toRow = (user: string) => parseImportRow({ platform: 'store_a', originalTransactionId: '1', user });
    await runImport(toRow('second'), { appName, line: 7 });
    await runImport(toRow('first'), { appName, line: 4 });
    expect(await findUsers(appName)).toEqual(['first']);
    await changeSettings(getService(), appName, { strategy: 'last' });
    await runImport(toRow('third'), { appName, line: 9 });
    await runImport(toRow('earlier'), { appName, line: 2 });
    expect(await findUsers(appName)).toEqual(['third']);
  });

  it('claims for all users of a row, and returns false if nothing changes', async () => {
    const appName = await givenAppName();
    const row = parseImportRow({ purchaseId: 'apple:1', entitledUsers: ['ann', 'bob'] });
    expect(await runImport(row, { appName })).toBe(true);
    expect((await findUsers(appName))?.toSorted()).toEqual(['ann', 'bob']);
    expect(await runImport(row, { appName })).toBe(false);
  });

  it('rejects a user who was erased, without a query of the store, and keeps the erasure', async () => {
    const appName = await givenAppName();
    const service = { ...getService(), cipher: testCipher };
    await addErasedNames(service, appName, ['ann', 'bob']);
    for (const users of [{ user: 'ann' }, { entitledUsers: ['cyd', 'bob'] }]) {
      const refresh = async () => {
        throw new Error('queried');
      };
      await expect(
        runImport(parseImportRow({ purchaseId: 'apple:1', ...users }), { appName, refresh, service }),
      ).rejects.toMatchObject({ code: 'InvalidPayload', message: expect.stringMatching(/erased on request/) });
    }
    expect(await findUsers(appName)).toBeUndefined();
    expect(await selectErasedNames(service, appName, ['ann', 'bob'])).toEqual(['ann', 'bob']);
    expect(await runImport(parseImportRow({ purchaseId: 'apple:1', user: 'cyd' }), { appName, service })).toBe(true);
  });

  it('records an event that names the user and the purchase', async () => {
    const appName = await givenAppName();
    const user = createUniqueName('user');
    await runImport(parseImportRow({ purchaseId: 'apple:1', user }), { appName });
    const [event] = await listEventsByTags(getService(), appName, [user], 10);
    expect(event).toMatchObject({
      type: 'purchase.imported',
      applicationUsername: user,
      content: { purchases: [{ purchaseId: 'store_a:1' }], claims: [{ applicationUsername: user }], notifications: [] },
    });
  });

  it('queries a payment of Braintree if the token is not a subscription', async () => {
    const appName = await givenAppName();
    const tokens: object[] = [];
    const { refreshTokens } = parseImportRow({ platform: 'braintree', token: 'abc', productId: 'p' }).query as {
      refreshTokens: readonly object[];
    };
    const refresh: Store['refresh'] = async (token) => {
      tokens.push(token);
      if ('subscription' in token) throw new ServiceError('InvalidPayload', 'not found');
      return [createObservation()];
    };
    await runImport(parseImportRow({ platform: 'braintree', token: 'abc', productId: 'p' }), { appName, refresh });
    expect(tokens).toEqual(refreshTokens);
  });
});
