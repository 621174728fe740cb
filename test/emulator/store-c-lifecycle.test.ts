import { afterAll, beforeAll, describe, expect, it, test } from '@jest/globals';
import { purchaseHost, type StoreCClient, startStoreCClient, startTime } from './store-c-client-app.ts';

let user: StoreCClient;
beforeAll(async () => {
  user = await startStoreCClient();
});
afterAll(() => user.close());

type Step = readonly [action: string, details?: object] | string;

let bought = 0;

/** Buys a monthly subscription at `startTime`, lives it through the steps and looks at it. */
async function live(steps: readonly Step[], order: object = {}) {
  user.clock.set(startTime);
  bought += 1;
  const { id } = (await user.buy({ productId: `product ${bought}`, ...order })).body;
  for (const step of steps) {
    const { status, body } = typeof step === 'string' ? await user.advance(step) : await user.act(id, ...step);
    expect({ status, message: body.message }).toEqual({ status: 200 });
  }
  return { id, item: (await user.recurrences(id)).body.items[0] };
}

const written = (day: string): string => `${day}T10:00:00.0000000+00:00`;
const active = { recurrenceState: 'Active', autoRenew: true, expirationTime: written('2027-02-28') };

describe('a subscription', () => {
  test.each<[string, readonly Step[], object, object]>([
    [
      'is active when bought',
      [],
      {},
      { ...active, startTime: written('2027-01-31'), expirationTimeWithGrace: written('2027-03-14'), isTrial: false },
    ],
    ['renews', [['renew']], {}, { ...active, expirationTime: written('2027-03-31'), startTime: written('2027-01-31') }],
    ['renews by itself', ['P3M'], { autoRenew: true }, { ...active, expirationTime: written('2027-05-31') }],
    [
      'is no trial any more when it renews',
      [['renew']],
      { trial: 'P1W' },
      { isTrial: false, expirationTime: written('2027-03-07') },
    ],
    ['is a trial at first', [], { trial: 'P1W' }, { isTrial: true, expirationTime: written('2027-02-07') }],
    [
      'stays active when cancelled',
      [['cancel']],
      {},
      { ...active, autoRenew: false, cancellationDate: written('2027-01-31') },
    ],
    ['renews again when the cancellation is taken back', [['cancel'], ['uncancel']], {}, active],
    ['lags behind its dates', [['cancel'], 'P1M', 'PT2H'], {}, { ...active, autoRenew: false }],
    ['is inactive in the end', [['cancel'], 'P1M', 'PT3H'], {}, { recurrenceState: 'Inactive', autoRenew: false }],
    ['is in dunning when a payment fails', [['fail-payment'], 'P1M'], {}, { ...active, recurrenceState: 'InDunning' }],
    [
      'has failed when its grace is over',
      [['fail-payment'], 'P1M', 'P14D'],
      {},
      { recurrenceState: 'Failed', autoRenew: false },
    ],
    ['fails at once without grace', [['fail-payment', { grace: false }]], {}, { recurrenceState: 'Failed' }],
    ['fails when the payment fails again', [['fail-payment'], ['fail-payment']], {}, { recurrenceState: 'Failed' }],
    [
      'recovers without a gap',
      ['P1M', ['fail-payment'], 'P3D', ['recover']],
      {},
      { ...active, expirationTime: written('2027-03-31') },
    ],
    [
      'is inactive when the customer gives up in dunning',
      [['fail-payment'], ['cancel']],
      {},
      { recurrenceState: 'Inactive' },
    ],
    [
      'ends when refunded',
      ['P1D', ['refund']],
      {},
      { recurrenceState: 'Canceled', cancellationDate: written('2027-02-01') },
    ],
    ['ends when revoked', [['revoke']], {}, { recurrenceState: 'Canceled' }],
    [
      'ends when expired',
      ['P1D', ['expire']],
      {},
      { recurrenceState: 'Inactive', expirationTime: written('2027-02-01') },
    ],
  ])('%s', async (_what, steps, order, expected) => {
    expect((await live(steps, order)).item).toMatchObject(expected);
  });

  test.each<[string, readonly Step[], string]>([
    ['renew a cancelled one', [['cancel']], 'renew'],
    ['renew an ended one', [['expire']], 'renew'],
    ['cancel twice', [['cancel']], 'cancel'],
    ['take no cancellation back', [], 'uncancel'],
    ['recover what did not fail', [], 'recover'],
    ['fail a payment that is not due', [['cancel']], 'fail-payment'],
    ['refund twice', [['refund']], 'refund'],
    ['pause', [], 'pause'],
    ['change the plan', [], 'change-plan'],
    ['raise the price', [], 'raise-price'],
    ['share', [], 'share'],
  ])('cannot %s', async (_what, steps, action) => {
    const { id } = await live(steps);
    expect(await user.act(id, action)).toMatchObject({ status: 422, body: { message: expect.any(String) } });
  });

  it('is sold again only when it has ended, and as another one', async () => {
    const order = { productId: 'sold again', applicationUsername: 'buyer' };
    const { id } = await live([], order);
    expect(await user.buy(order)).toMatchObject({ status: 422 });
    await user.act(id, 'expire');
    expect((await user.buy(order)).body.id).not.toBe(id);
    expect((await user.recurrences(id)).body.items).toHaveLength(2);
  });

  it('has no introductory price', async () => {
    expect(await user.buy({ productId: 'intro', intro: true })).toMatchObject({ status: 422 });
  });
});

describe('the developer', () => {
  const change = async (id: string, body: object) =>
    user.post(purchaseHost, `/v8.0/b2b/recurrences/${id}/change`, { b2bKey: await user.key('purchase', id), ...body });

  test.each([
    [{ changeType: 'Cancel' }, { recurrenceState: 'Canceled' }],
    [{ changeType: 'Refund' }, { recurrenceState: 'Canceled' }],
    [{ changeType: 'ToggleAutoRenew' }, { recurrenceState: 'Active', autoRenew: false }],
    [{ changeType: 'Extend', extensionTimeInDays: '3' }, { expirationTime: written('2027-03-03') }],
  ])('changes a subscription by %j', async (body, expected) => {
    const { id } = await live([]);
    expect(await change(id, body)).toMatchObject({ status: 200, body: { id, ...expected } });
    expect((await user.recurrences(id)).body.items).toMatchObject([expected]);
  });

  it('cannot change what is not there, or in a way that is none', async () => {
    const { id } = await live([]);
    expect(await change(id, { changeType: 'Pause' })).toMatchObject({ status: 400 });
    expect(await change(id, { changeType: 'Extend' })).toMatchObject({ status: 400 });
    const path = '/v8.0/b2b/recurrences/mdr:0:none/change';
    const body = { b2bKey: await user.key('purchase', id), changeType: 'Cancel' };
    expect(await user.post(purchaseHost, path, body)).toMatchObject({ status: 404 });
  });
});
