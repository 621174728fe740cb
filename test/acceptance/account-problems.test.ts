import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import * as appStore from '../../emulator/app-store/account-problems.ts';
import * as braintree from '../../emulator/braintree/account-problems.ts';
import * as googlePlay from '../../emulator/google-play/account-problems.ts';
import * as microsoftStore from '../../emulator/microsoft-store/account-problems.ts';
import * as stripe from '../../emulator/stripe/account-problems.ts';
import { getApp } from '../../lib/apps/manage-apps.ts';
import { getService } from '../../lib/foundation/get-service.ts';
import { listProblems } from '../../lib/problems/list-problems.ts';
import { checkStore, listStores } from '../../lib/stores/contract.ts';
import { callWithSecretKey } from '../../testing/call.ts';
import { createUniqueName } from '../../testing/given.ts';
import { sampleItems } from '../../testing/sample.ts';
import { startTestService, type TestService } from '../../testing/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
  for (const method of ['error', 'warn'] as const) jest.spyOn(console, method).mockImplementation(() => {});
});
afterAll(async () => {
  jest.restoreAllMocks();
  await service?.close();
});

const stores = {
  store_a: appStore,
  store_b: googlePlay,
  store_c: microsoftStore,
  processor_a: stripe,
  processor_b: braintree,
} as const;

const problems = Object.entries(stores).flatMap(([platform, { accountProblems }]) =>
  Object.keys(accountProblems).map((problem) => ({ platform: platform as keyof typeof stores, problem })),
);

/** Only `connect` and `doctor` query the routes of notifications: purchases and their notifications work. */
const setUpProblems = ['no-pubsub-role', 'no-webhook-permission'];

/** Not met while a cached token is valid, so this store is idle before. */
const tokenProblems = ['key-deleted', 'secret-expired'];

/** Met by a request only if a payment is disputed, so a check finds it first. */
const checkedProblems = ['no-dispute-permission'];

async function givenBusyStore(platform: keyof typeof stores) {
  const keys = await service.createApp([platform]);
  const productId = platform.startsWith('processor') ? 'basic' : 'premium';
  const use = async (times: number) => {
    const order = { platform, productId, type: 'paid subscription', applicationUsername: createUniqueName() };
    const { validate } = await service.callControl('/purchases', order);
    for (let count = 0; count < times; count++) {
      await service.callControl('/clock', { advance: 'PT15S' });
      await service.validate(keys, validate);
    }
  };
  // A cached token stays valid after its key is deleted.
  await use(1);
  await service.callControl('/clock', { advance: 'PT2H' });
  return {
    use,
    check: async () => (await callWithSecretKey(checkStore, keys, { params: { platform } })).body,
    async readState() {
      const [{ health, isFailing, lastFailure }] = (await callWithSecretKey(listStores, keys)).body.rows;
      const service = getService();
      // The console and alerts show the same list.
      const shown = await listProblems(service, await getApp(service, keys.appName));
      return { health, isFailing, lastFailure, shown: shown.filter(({ id }) => id === `store ${platform}`) };
    },
  };
}

const ok = { health: 'ok', isFailing: false, shown: [] };

describe('state of a store in the problems of an app', () => {
  it.each(sampleItems(problems, 4))(
    'becomes red within a minute of $problem of $platform, and green after a check that it passes',
    async ({ platform, problem }) => {
      const { use, check, readState } = await givenBusyStore(platform);
      // So many requests that the failures of a minute are a small share.
      if (!tokenProblems.includes(problem)) await use(40);
      expect(await readState()).toMatchObject(ok);
      await service.changeAccount(platform, { problem });
      await use(4);
      if (checkedProblems.includes(problem)) expect(await check()).toMatchObject({ ok: false });
      const red = {
        health: 'failing',
        isFailing: true,
        lastFailure: { message: expect.stringMatching(/rejected the settings|permission/) },
        shown: [{ tone: 'bad' }],
      };
      expect(await readState()).toMatchObject(setUpProblems.includes(problem) ? ok : red);
      await service.changeAccount(platform, { problem: null });
      expect(await check()).toMatchObject({ ok: true });
      expect(await readState()).toMatchObject(ok);
    },
    120_000,
  );
});
