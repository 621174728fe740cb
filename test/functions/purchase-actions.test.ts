import { afterEach, describe, expect, it } from '@jest/globals';
import { actOnPurchase, listPurchaseActions } from '../../lib/actions/contract.ts';
import { changeSettings, createApiKey } from '../../lib/apps/manage-apps.ts';
import { findRawEvent } from '../../lib/events/event-table.ts';
import { getService } from '../../lib/foundation/get-service.ts';
import { toKey } from '../../lib/foundation/key.ts';
import { dayMs } from '../../lib/foundation/time.ts';
import { getPurchase } from '../../lib/purchases/contract.ts';
import { findPurchase, listTransactionsOfPurchases } from '../../lib/purchases/purchase-table.ts';
import { buildBasicAuth, callEndpoint, callWithSecretKey } from '../../testing/call.ts';
import { isOfApp, scanItems } from '../../testing/dump-items.ts';
import { createUniqueName } from '../../testing/given.ts';
import { type BoughtPurchase, buyForActions } from '../../testing/purchase-actions.ts';
import { startTestService } from '../../testing/service.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';
import { findEvents } from './event-fixture.ts';

const service = startBeforeAll(startTestService);
afterEach(async () => await service.clearFaults());

const idempotencyKey = 'attempt-1';
const extension = { action: 'extend', days: 7, idempotencyKey };

/** Lists the events of the performed actions. */
const findActions = async ({ keys, purchaseId }: BoughtPurchase) =>
  (await findEvents(keys, purchaseId)).filter(
    (event: { context: { eventType: string } }) => event.context.eventType === 'purchase.acted',
  );

const getExpiration = async ({ keys, purchaseId }: BoughtPurchase) =>
  (await findPurchase(getService(), keys.appName, purchaseId))?.purchase.expirationDate ?? 0;

/** Returns the refunded amounts of the payments of a purchase in micros. */
const listRefunds = async ({ keys, purchaseId }: BoughtPurchase) =>
  (await listTransactionsOfPurchases(getService(), keys.appName, [purchaseId])).flatMap((payment) => [
    ...(payment.partialRefunds ?? []).map(({ amountMicros }) => amountMicros),
    ...(payment.refundedAt === undefined ? [] : ['whole']),
  ]);

/** Returns the actions that are possible, by name. */
async function listPossible(bought: BoughtPurchase) {
  const { rows } = (await bought.list()).body;
  return rows.filter((row: { isPossible: boolean }) => row.isPossible).map((row: { action: string }) => row.action);
}

describe('GET /v3/purchases/:purchaseId/actions', () => {
  it.each([['store_a', ['defer', 'extend', 'finish', 'set-account']]] as const)(
    'lists what is possible for a subscription, and why the rest is not: %s',
    async (platform, possible) => {
      const bought = await buyForActions(service, platform);
      const { status, body } = await bought.list();
      expect(status).toBe(200);
      expect(await listPossible(bought)).toEqual(possible);
      for (const { isPossible, why, effect } of body.rows) expect(isPossible ? effect : why).toMatch(/^[A-Z].+\.$/);
    },
  );
});

describe('POST /v3/purchases/:purchaseId/actions', () => {
  it('extends a subscription and returns the state of the store', async () => {
    const bought = await buyForActions(service, 'store_a');
    const before = await getExpiration(bought);
    const { status, body } = await bought.act(extension);
    expect(status).toBe(200);
    const until = new Date(before + 7 * dayMs).toISOString();
    expect(body).toMatchObject({
      action: 'extend',
      reason: 'Ticket 4711',
      dryRun: false,
      isConfirmed: true,
      storeAnswer: { status: 'extended', until },
      performedBy: { name: 'main' },
      purchase: { expirationDate: until, entitledUsers: [bought.applicationUsername] },
    });
    const [event, ...others] = await findActions(bought);
    expect(others).toEqual([]);
    expect(event).toMatchObject({ context: { key: { level: 'secret' } } });
    expect(await findRawEvent(getService(), bought.keys.appName, event.eventId)).toMatchObject({
      request: { body: { action: 'extend', days: 7, reason: 'Ticket 4711', idempotencyKey } },
      response: { body: { storeAnswer: { status: 'extended' } } },
    });
  });

  it('rejects the idempotency key of a different action', async () => {
    const bought = await buyForActions(service, 'store_a');
    await bought.act(extension);
    for (const changes of [{ days: 8 }, { reason: 'Ticket 4712' }])
      expect(await bought.act({ ...extension, ...changes })).toMatchObject({
        status: 409,
        body: { message: 'idempotencyKey was used for a different action.' },
      });
  });

  it('stores the rejection of the store, which is not repeated', async () => {
    const bought = await buyForActions(service, 'store_a');
    for (const key of ['1', '2']) expect((await bought.act({ ...extension, idempotencyKey: key })).status).toBe(200);
    const before = await getExpiration(bought);
    const third = { ...extension, idempotencyKey: '3' };
    for (const response of [await bought.act(third), await bought.act(third)])
      expect(response).toMatchObject({
        status: 409,
        body: {
          code: 'Conflict',
          message:
            'The App Store rejects the action: the subscription already had two extensions in 365 days. (4030005)',
        },
      });
    expect(await getExpiration(bought)).toBe(before);
    const [rejected, ...others] = await findActions(bought);
    expect(others).toHaveLength(2);
    expect(rejected.context).toBeDefined();
  });

  it('leaves an unavailable store to a repetition with the same key', async () => {
    const bought = await buyForActions(service, 'store_a');
    const before = await getExpiration(bought);
    await service.callControl('/faults', { platform: 'store_a', fault: 'down', times: 30 });
    expect(await bought.act(extension)).toMatchObject({ status: 502, body: { code: 'ConnectionFailed' } });
    await service.clearFaults();
    expect((await bought.act(extension)).body).toMatchObject({ isConfirmed: true });
    expect(await getExpiration(bought)).toBe(before + 7 * dayMs);
  });

  it.each([
    ['store_a', { action: 'extend', days: 7 }, '/extend/'],
    ['store_b', { action: 'defer', days: 7 }, ':defer'],
    ['store_c', { action: 'extend', days: 7 }, '/change'],
    ['processor_a', { action: 'refund', amountMicros: 1_000_000 }, '/v1/refunds'],
    ['processor_b', { action: 'refund' }, '/void'],
  ] as const)('does not repeat an action whose response was lost: %s', async (platform, action, path) => {
    const bought = await buyForActions(service, platform);
    const before = await getExpiration(bought);
    await service.callControl('/faults', { platform, fault: 'cut', path });
    expect(await bought.act({ ...action, idempotencyKey })).toMatchObject({ status: 502 });
    const { body } = await bought.act({ ...action, idempotencyKey });
    expect(body).toMatchObject({ isConfirmed: true, storeAnswer: null });
    if ('days' in action) expect(await getExpiration(bought)).toBe(before + 7 * dayMs);
    else expect(await listRefunds(bought)).toHaveLength(1);
  });

  it('rejects another amount and another action after a lost response, and confirms the same request', async () => {
    const bought = await buyForActions(service, 'processor_a');
    const refund = { action: 'refund', amountMicros: 1_000_000, idempotencyKey };
    await service.callControl('/faults', { platform: 'processor_a', fault: 'cut', path: '/v1/refunds' });
    expect(await bought.act(refund)).toMatchObject({ status: 502 });
    for (const changes of [{ amountMicros: 2_000_000 }, { action: 'cancel', amountMicros: undefined }])
      expect(await bought.act({ ...refund, ...changes })).toMatchObject({
        status: 409,
        body: { message: 'idempotencyKey was used for a different action.' },
      });
    expect(await bought.act(refund)).toMatchObject({ status: 200, body: { isConfirmed: true } });
    expect(await listRefunds(bought)).toEqual([1_000_000]);
  });

  it('performs a partial refund once if it is repeated a year after its response was lost', async () => {
    const bought = await buyForActions(service, 'processor_a');
    const refund = { action: 'refund', amountMicros: 1_000_000, idempotencyKey };
    await service.callControl('/faults', { platform: 'processor_a', fault: 'cut', path: '/v1/refunds' });
    expect(await bought.act(refund)).toMatchObject({ status: 502 });
    const { table, now } = getService();
    const time = now() + 390 * dayMs;
    const items = (await scanItems(table.name)).filter((item) => isOfApp(item, bought.keys.appName));
    await table.batchDelete(items.filter(({ ttl }) => Number(ttl) * 1000 < time).map(toKey));
    expect(await bought.act(refund)).toMatchObject({ status: 200, body: { isConfirmed: true, storeAnswer: null } });
    expect(await listRefunds(bought)).toEqual([1_000_000]);
  });

  it('rejects an action that is not possible with the reason', async () => {
    const bought = await buyForActions(service, 'store_a');
    expect(await bought.act({ action: 'refund', idempotencyKey })).toMatchObject({
      status: 409,
      body: { message: expect.stringContaining('Apple decides about refunds.') },
    });
    expect(await bought.act({ ...extension, days: 91 })).toMatchObject({ status: 400 });
    expect(await bought.act({ action: 'extend', days: 7 })).toMatchObject({ status: 400 });
  });

  it('checks a dry run without changing the purchase', async () => {
    const bought = await buyForActions(service, 'store_a');
    const before = await getExpiration(bought);
    const { status, body } = await bought.act({ action: 'extend', days: 7, dryRun: true });
    expect(status).toBe(200);
    expect(body).toMatchObject({ dryRun: true, performedAt: null, effect: expect.any(String) });
    expect(await getExpiration(bought)).toBe(before);
    expect(await findActions(bought)).toEqual([]);
  });

  it('finishes a consumable', async () => {
    const bought = await buyForActions(service, 'store_a', {
      productId: 'coins',
      type: 'consumable',
      autoRenew: false,
    });
    expect((await bought.act({ action: 'finish', idempotencyKey })).body).toMatchObject({
      storeAnswer: { status: 'finished' },
      isConfirmed: null,
    });
  });

  it('sets the account of a purchase that no customer has claimed, which the customer then owns', async () => {
    const bought = await buyForActions(service, 'store_a', { applicationUsername: undefined });
    const other = await buyForActions(service, 'store_a');
    const account = createUniqueName('user');
    const { status, body } = await bought.act({ action: 'set-account', account, idempotencyKey });
    expect(status).toBe(200);
    expect(body).toMatchObject({ storeAnswer: { status: 'account set' }, isConfirmed: true });
    const { entitledUsers } = (
      await callWithSecretKey(getPurchase, bought.keys, { params: { purchaseId: bought.purchaseId } })
    ).body;
    expect(entitledUsers).toEqual([account]);
    expect((await other.act({ action: 'set-account', idempotencyKey })).status).toBe(400);
  });

  it('allows support keys the actions that the app allows, and viewer keys none', async () => {
    const { now } = getService();
    const callWith = async (
      { keys, purchaseId }: BoughtPurchase,
      level: 'support' | 'viewer',
      contract: typeof actOnPurchase | typeof listPurchaseActions,
    ) => {
      const { key } = await createApiKey(getService(), keys.appName, {
        level,
        name: createUniqueName('k').slice(0, 20),
        now: now(),
      });
      await service.callControl('/clock', { advance: 'PT1M' });
      const body = { ...extension, reason: 'Ticket 4711' };
      return await callEndpoint(contract, {
        headers: buildBasicAuth(keys.appName, key),
        params: { purchaseId },
        ...(contract.method === 'POST' && { body }),
      });
    };
    const bought = await buyForActions(service, 'store_a');
    expect((await callWith(bought, 'viewer', actOnPurchase)).status).toBe(403);
    expect((await callWith(bought, 'support', actOnPurchase)).body.message).toBe(
      'The app does not allow extend to support keys. The secret key is required.',
    );
    const listed = await callWith(bought, 'support', listPurchaseActions);
    expect(listed.body.rows.find(({ action }: { action: string }) => action === 'extend')).toMatchObject({
      isPossible: false,
      why: 'The app does not allow the action to support keys.',
    });
    expect((await callWith(bought, 'viewer', listPurchaseActions)).status).toBe(200);
    await changeSettings(getService(), bought.keys.appName, { supportActions: ['extend'] });
    expect((await callWith(bought, 'support', actOnPurchase)).body).toMatchObject({ isConfirmed: true });
    const performed = (await findActions(bought)).filter(
      (event: { context: { key: { level: string } } }) => event.context.key.level === 'support',
    );
    expect(performed).toHaveLength(1);
  });
});

const subscription = { type: 'paid subscription', productId: 'premium' };
const coins = { type: 'consumable', productId: 'coins', autoRenew: false };
const ended = { isExpired: true };
const lapses = { isExpired: false, renewalIntent: 'Lapse' };

describe('POST /v3/purchases/:purchaseId/actions at each store', () => {
  it.each([
    ['store_b', 'refund', subscription, {}, { isExpired: false, renewalIntent: 'Renew' }, ['whole']],
    ['store_b', 'refund', coins, {}, {}, ['whole']],
    ['store_b', 'cancel', subscription, {}, lapses, []],
    ['store_b', 'revoke', subscription, {}, ended, ['whole']],
    ['store_b', 'revoke', coins, {}, ended, ['whole']],
    ['store_b', 'defer', subscription, { days: 30 }, { renewalIntent: 'Renew' }, []],
    ['store_c', 'refund', subscription, {}, ended, []],
    ['store_c', 'cancel', subscription, {}, lapses, []],
    ['store_c', 'extend', subscription, { days: 30 }, { renewalIntent: 'Renew' }, []],
    ['processor_a', 'refund', subscription, {}, ended, ['whole']],
    ['processor_a', 'refund', subscription, { amountMicros: 1_000_000 }, { isExpired: false }, [1_000_000]],
    ['processor_a', 'refund', coins, { amountMicros: 500_000 }, {}, [500_000]],
    ['processor_a', 'cancel', subscription, {}, lapses, []],
    ['processor_a', 'revoke', subscription, {}, ended, []],
    ['processor_a', 'extend', subscription, { days: 30 }, { renewalIntent: 'Renew' }, []],
    ['service_processor_a', 'refund', coins, {}, ended, ['whole']],
    ['processor_b', 'refund', subscription, {}, ended, ['whole']],
    ['processor_b', 'cancel', subscription, {}, lapses, []],
  ] as const)('%s: %s of a %o', async (platform, action, order, details, expected, refunds) => {
    const bought = await buyForActions(service, platform, { ...order, autoRenew: order.type === 'paid subscription' });
    const before = await getExpiration(bought);
    const request = { action, ...details, idempotencyKey };
    const first = await bought.act(request);
    expect(first).toMatchObject({ status: 200, body: { isConfirmed: true, purchase: expected } });
    const repeated = await bought.act(request);
    expect(repeated.body.performedAt).toBe(first.body.performedAt);
    expect(await listRefunds(bought)).toEqual(refunds);
    if ('days' in details) expect(await getExpiration(bought)).toBe(before + details.days * dayMs);
    expect(await findActions(bought)).toHaveLength(1);
  });

  it('refunds a part of a settled payment of processor_b, and rejects a part before the settlement', async () => {
    const bought = await buyForActions(service, 'processor_b', coins);
    const part = { action: 'refund', amountMicros: 500_000, idempotencyKey: 'early' };
    expect(await bought.act(part)).toMatchObject({
      status: 409,
      body: { message: expect.stringContaining('settled') },
    });
    await service.callControl('/clock', { advance: 'P2D' });
    expect(await bought.act({ ...part, idempotencyKey })).toMatchObject({ status: 200, body: { isConfirmed: true } });
    await bought.act({ ...part, idempotencyKey });
    expect(await listRefunds(bought)).toEqual([500_000]);
    expect(await bought.act({ action: 'refund', amountMicros: 9_000_000, idempotencyKey: 'much' })).toMatchObject({
      status: 400,
    });
  });

  it('validates a deferral of store_b in a dry run', async () => {
    const bought = await buyForActions(service, 'store_b');
    const before = await getExpiration(bought);
    const { body } = await bought.act({ action: 'defer', days: 30, dryRun: true });
    expect(body).toMatchObject({
      storeAnswer: { status: 'valid', until: new Date(before + 30 * dayMs).toISOString() },
    });
    expect(await getExpiration(bought)).toBe(before);
  });

  it('sets the account of a resubscription in the Play Store, which the customer then owns', async () => {
    const bought = await buyForActions(service, 'store_b', { applicationUsername: undefined });
    await bought.control('expire');
    const { id, validate } = await service.callControl(`/purchases/${bought.id}/resubscribe`, {});
    await service.validate(bought.keys, validate);
    const account = createUniqueName('user');
    const response = await callEndpoint(actOnPurchase, {
      headers: buildBasicAuth(bought.keys.appName, bought.keys.secretKey),
      params: { purchaseId: `store_b:${id}` },
      body: { action: 'set-account', account, reason: 'Bought in the Play Store', idempotencyKey },
    });
    expect(response).toMatchObject({ status: 200, body: { isConfirmed: true, purchase: { isAcknowledged: true } } });
    const params = { purchaseId: `store_b:${id}` };
    const { entitledUsers } = (await callWithSecretKey(getPurchase, bought.keys, { params })).body;
    expect(entitledUsers).toEqual([account]);
  });
});
