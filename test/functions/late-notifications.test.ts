import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createUniqueName } from '../../testing/given.ts';
import { listReasons, type NotificationFixture, startNotificationFixture } from './notification-fixture.ts';

let fixture: NotificationFixture;
beforeAll(async () => {
  fixture = await startNotificationFixture();
});
afterAll(() => fixture.close());

const { held, released } = { held: ['hold'], released: ['stop-holding'] } as const;
type Step = readonly [action: string, details?: object];
const renewals: readonly Step[] = [held, ['renew'], ['renew'], ['renew'], released];
const upgrade: Step = ['change-plan', { priceMicros: 99_990_000, period: 'P1M' }];

/** The steps with the reasons of the notifications in order of events, and the latest purchase. */
const lives: readonly (readonly [title: string, steps: readonly Step[], reasons: readonly string[], fields: object])[] =
  [
    ['a refund', [...renewals, ['refund']], ['REFUNDED', 'RENEWED'], { isExpired: true, amountMicros: 4_990_000 }],
    [
      'the refund of an upgrade',
      [held, ['renew'], released, upgrade, ['refund']],
      ['PLAN_CHANGED', 'REFUNDED', 'RENEWED'],
      { isExpired: true, productId: expect.stringContaining('premium'), amountMicros: 99_990_000 },
    ],
    [
      'a cancelation',
      [...renewals, ['cancel']],
      ['RENEWED', 'WILL_LAPSE'],
      { isExpired: false, renewalIntent: 'Lapse' },
    ],
  ];
const releaseOrders = ['as-held', 'reversed', 'shuffled'] as const;

/** Validates a subscription, performs the steps and releases the held notifications at the end, in the order. */
async function live(steps: readonly Step[], order: (typeof releaseOrders)[number]) {
  const { callControl } = fixture;
  const keys = await fixture.createNotifiedApp('store_a');
  const [group, productId] = [createUniqueName('group'), createUniqueName('basic')];
  const products = { productId, group, applicationUsername: createUniqueName('user') };
  const { id, validate } = await callControl('/purchases', {
    platform: 'store_a',
    type: 'paid subscription',
    ...products,
  });
  await fixture.validate(keys, validate);
  await fixture.processNotifications();
  for (const [action, details = {}] of steps) {
    if (action === 'hold') await callControl('/notifications', { platform: 'store_a', held: true });
    else if (action === 'stop-holding')
      await fetch(`${fixture.emulatorUrl}/control/notifications`, { method: 'DELETE' });
    else
      await callControl(`/purchases/${id}/${action}`, {
        ...details,
        ...(action === 'change-plan' && { productId: `premium ${group}` }),
      });
    await fixture.processNotifications();
  }
  await callControl('/notifications/release', { platform: 'store_a', order, seed: 7 });
  await fixture.processNotifications();
  const purchase = await fixture.fetchPurchase(keys, `store_a:${id}`);
  const { transactionId } = await callControl(`/purchases/${id}`);
  await fixture.validate(keys, (await callControl(`/purchases/${id}?form=receipt`)).validate);
  return { transactionId, purchase, revalidated: await fixture.fetchPurchase(keys, `store_a:${id}`) };
}

describe.each(lives)('process-notification (App Store) after %s', (_title, steps, reasons, fields) => {
  it.each(releaseOrders)('announces a fact once if the notifications before it arrive later (%s)', async (order) => {
    const { transactionId, purchase, revalidated } = await live(steps, order);
    expect(listReasons(purchase).toSorted()).toEqual(['PURCHASED', ...reasons].toSorted());
    expect(purchase).toMatchObject({ ...fields, transactionId: `store_a:${transactionId}` });
    // A validation reads the whole history and changes nothing.
    expect(revalidated).toEqual(purchase);
  });
});
