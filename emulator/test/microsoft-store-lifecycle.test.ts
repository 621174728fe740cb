import { afterAll, beforeAll, describe, expect, it, test } from '@jest/globals';
import {
  type MicrosoftStoreClient,
  purchaseHost,
  startMicrosoftStoreClient,
  startTime,
} from './microsoft-store-client-app.ts';
import { runSteps, type Step } from './random-histories.ts';

let client: MicrosoftStoreClient;
beforeAll(async () => {
  client = await startMicrosoftStoreClient();
});
afterAll(() => client.close());

let purchaseCount = 0;

/** Buys a monthly subscription at `startTime`, runs the steps and fetches it. */
async function runHistory(steps: readonly Step[], order: object = {}) {
  client.clock.set(startTime);
  purchaseCount += 1;
  const { id } = (await client.buy({ productId: `product ${purchaseCount}`, ...order })).body;
  await runSteps(client, id, steps);
  return { id, item: (await client.recurrences(id)).body.items[0] };
}

const formatTimestamp = (day: string): string => `${day}T10:00:00.0000000+00:00`;
const active = { recurrenceState: 'Active', autoRenew: true, expirationTime: formatTimestamp('2027-02-28') };

describe('subscription of the Microsoft Store', () => {
  test.each<[string, readonly Step[], object, object]>([
    [
      'is active after the purchase',
      [],
      {},
      {
        ...active,
        startTime: formatTimestamp('2027-01-31'),
        expirationTimeWithGrace: formatTimestamp('2027-03-14'),
        isTrial: false,
      },
    ],
    [
      'renews',
      [['renew']],
      {},
      { ...active, expirationTime: formatTimestamp('2027-03-31'), startTime: formatTimestamp('2027-01-31') },
    ],
    [
      'renews automatically',
      ['P3M'],
      { autoRenew: true },
      { ...active, expirationTime: formatTimestamp('2027-05-31') },
    ],
    [
      'ends its trial with the renewal',
      [['renew']],
      { trial: 'P1W' },
      { isTrial: false, expirationTime: formatTimestamp('2027-03-07') },
    ],
    ['starts with a trial', [], { trial: 'P1W' }, { isTrial: true, expirationTime: formatTimestamp('2027-02-07') }],
    [
      'stays active after a cancellation',
      [['cancel']],
      {},
      { ...active, autoRenew: false, cancellationDate: formatTimestamp('2027-01-31') },
    ],
    ['renews again after the cancellation is reverted', [['cancel'], ['uncancel']], {}, active],
    ['stays active for 3 h after its expiration', [['cancel'], 'P1M', 'PT2H'], {}, { ...active, autoRenew: false }],
    ['is inactive after 3 h', [['cancel'], 'P1M', 'PT3H'], {}, { recurrenceState: 'Inactive', autoRenew: false }],
    [
      'is in dunning after a failed payment',
      [['fail-payment'], 'P1M'],
      {},
      { ...active, recurrenceState: 'InDunning' },
    ],
    [
      'fails at the end of the grace period',
      [['fail-payment'], 'P1M', 'P14D'],
      {},
      { recurrenceState: 'Failed', autoRenew: false },
    ],
    [
      'fails immediately without a grace period',
      [['fail-payment', { grace: false }]],
      {},
      { recurrenceState: 'Failed' },
    ],
    ['fails after a second failed payment', [['fail-payment'], ['fail-payment']], {}, { recurrenceState: 'Failed' }],
    [
      'recovers without a gap',
      ['P1M', ['fail-payment'], 'P3D', ['recover']],
      {},
      { ...active, expirationTime: formatTimestamp('2027-03-31') },
    ],
    [
      'is inactive after a cancellation in dunning',
      [['fail-payment'], ['cancel']],
      {},
      { recurrenceState: 'Inactive' },
    ],
    [
      'ends if it is refunded',
      ['P1D', ['refund']],
      {},
      { recurrenceState: 'Canceled', cancellationDate: formatTimestamp('2027-02-01') },
    ],
    ['ends if it is revoked', [['revoke']], {}, { recurrenceState: 'Canceled' }],
    [
      'ends with the action expire',
      ['P1D', ['expire']],
      {},
      { recurrenceState: 'Inactive', expirationTime: formatTimestamp('2027-02-01') },
    ],
  ])('%s', async (_what, steps, order, expected) => {
    expect((await runHistory(steps, order)).item).toMatchObject(expected);
  });

  test.each<[string, readonly Step[], string]>([
    ['a renewal of a canceled subscription', [['cancel']], 'renew'],
    ['a renewal of an ended subscription', [['expire']], 'renew'],
    ['a second cancellation', [['cancel']], 'cancel'],
    ['uncancel without a cancellation', [], 'uncancel'],
    ['a recovery without a failed payment', [], 'recover'],
    ['a failed payment without a due payment', [['cancel']], 'fail-payment'],
    ['a second refund', [['refund']], 'refund'],
    ['pause', [], 'pause'],
    ['a plan change', [], 'change-plan'],
    ['a price increase', [], 'raise-price'],
    ['share', [], 'share'],
  ])('rejects %s', async (_what, steps, action) => {
    const { id } = await runHistory(steps);
    expect(await client.act(id, action)).toMatchObject({ status: 422, body: { message: expect.any(String) } });
  });

  it('allows another purchase only after its end', async () => {
    const order = { productId: 'sold again', applicationUsername: 'buyer' };
    const { id } = await runHistory([], order);
    expect(await client.buy(order)).toMatchObject({ status: 422 });
    await client.act(id, 'expire');
    expect((await client.buy(order)).body.id).not.toBe(id);
    expect((await client.recurrences(id)).body.items).toHaveLength(2);
  });

  it('rejects an introductory price', async () => {
    expect(await client.buy({ productId: 'intro', intro: true })).toMatchObject({ status: 422 });
  });
});

describe('POST /v8.0/b2b/recurrences/{id}/change', () => {
  const change = async (id: string, body: object) =>
    client.post(purchaseHost, `/v8.0/b2b/recurrences/${id}/change`, {
      b2bKey: await client.key('purchase', id),
      ...body,
    });

  test.each([
    [
      { changeType: 'Cancel' },
      { recurrenceState: 'Active', autoRenew: false, expirationTime: formatTimestamp('2027-02-28') },
    ],
    [{ changeType: 'Refund' }, { recurrenceState: 'Canceled' }],
    [{ changeType: 'ToggleAutoRenew' }, { recurrenceState: 'Active', autoRenew: false }],
    [{ changeType: 'Extend', extensionTimeInDays: '3' }, { expirationTime: formatTimestamp('2027-03-03') }],
  ])('changes a subscription by %j', async (body, expected) => {
    const { id } = await runHistory([]);
    expect(await change(id, body)).toMatchObject({ status: 200, body: { id, ...expected } });
    expect((await client.recurrences(id)).body.items).toMatchObject([expected]);
  });

  it('rejects a missing subscription and an unknown change type', async () => {
    const { id } = await runHistory([]);
    expect(await change(id, { changeType: 'Pause' })).toMatchObject({ status: 400 });
    expect(await change(id, { changeType: 'Extend' })).toMatchObject({ status: 400 });
    const path = '/v8.0/b2b/recurrences/mdr:0:none/change';
    const body = { b2bKey: await client.key('purchase', id), changeType: 'Cancel' };
    expect(await client.post(purchaseHost, path, body)).toMatchObject({ status: 404 });
  });
});
