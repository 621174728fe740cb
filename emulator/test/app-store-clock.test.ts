import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  createFixedClock,
  decodePayload,
  type EmulatorClient,
  startEmulatorClient,
  startTime,
} from './emulator-client.ts';
import { fetchSubscriptionStatus, listNotificationTypes, runHistory } from './random-histories.ts';

let client: EmulatorClient;
beforeAll(async () => {
  client = await startEmulatorClient();
});
afterAll(() => client.close());

describe('scheduled transitions of the App Store', () => {
  it('expires a subscription without a renewal and sends a notification', async () => {
    const { id, status, renewal } = await runHistory(client, ['P1M']);
    expect({ status, intent: renewal.expirationIntent }).toEqual({ status: 2, intent: 5 });
    expect(await listNotificationTypes(client, id)).toEqual(['SUBSCRIBED/INITIAL_BUY', 'EXPIRED']);
  });

  it('expires a canceled subscription as voluntary', async () => {
    expect(await runHistory(client, [['cancel'], 'P1M'])).toMatchObject({
      status: 2,
      renewal: { expirationIntent: 1 },
    });
  });

  it('ends access with the grace period and billing retry after 60 days', async () => {
    const { id, status } = await runHistory(client, ['P1M', ['fail-payment'], 'P16D']);
    expect(status).toBe(3);
    await client.advance('P44D');
    expect(await fetchSubscriptionStatus(client, id)).toMatchObject({ status: 2, renewal: { expirationIntent: 2 } });
    expect((await listNotificationTypes(client, id)).slice(-2)).toEqual([
      'GRACE_PERIOD_EXPIRED',
      'EXPIRED/BILLING_RETRY',
    ]);
  });

  it('ends a canceled subscription with its grace period', async () => {
    expect(await runHistory(client, [['fail-payment'], ['cancel'], 'P3M'])).toMatchObject({
      status: 2,
      renewal: { expirationIntent: 1 },
    });
  });

  it('renews automatically on the same day of each month for a year', async () => {
    const { id, transaction } = await runHistory(client, ['P1Y'], { autoRenew: true, applicationUsername: 'yearling' });
    const { body } = await client.callServerApi(`/inApps/v2/history/${id}`);
    const history = body.signedTransactions.map(decodePayload);
    expect(history).toHaveLength(13);
    expect(
      history.map((transaction: { purchaseDate: number }) => new Date(transaction.purchaseDate).getUTCDate()),
    ).toEqual([31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31, 31]);
    expect(transaction.expiresDate).toBe(Date.parse('2028-02-29T10:00:00Z'));
  });

  it('does not renew automatically before a price increase is accepted', async () => {
    const { id } = await runHistory(client, [['raise-price']], { autoRenew: true });
    await client.advance('P1M');
    expect(await fetchSubscriptionStatus(client, id)).toMatchObject({ status: 2, renewal: { expirationIntent: 3 } });
  });

  it('runs the renewals of all customers in chronological order', async () => {
    client.clock.set(startTime);
    const weekly = await client.buy({ productId: 'weekly', period: 'P1W', autoRenew: true });
    const monthly = await client.buy({ productId: 'other', autoRenew: true });
    await client.advance('P3M');
    const { body } = await client.control('GET', '/control');
    const renewals = body.notifications
      .filter(({ purchaseId }: { purchaseId: string }) => [weekly.body.id, monthly.body.id].includes(purchaseId))
      .map(({ at }: { at: string }) => Date.parse(at));
    expect(renewals).toHaveLength(2 + 12 + 3);
    expect(renewals).toEqual([...renewals].sort((a, b) => a - b));
  });
});

it('uses the clock of the caller', async () => {
  const clock = createFixedClock(Date.parse('2030-06-01T00:00:00Z'));
  const secondClient = await startEmulatorClient({ clock });
  await secondClient.control('POST', '/control/clock', { set: '2030-07-01T00:00:00Z' });
  expect(clock.now()).toBe(Date.parse('2030-07-01T00:00:00Z'));
  clock.set(Date.parse('2030-08-01T00:00:00Z'));
  expect((await secondClient.control('GET', '/control/clock')).body).toEqual({ now: '2030-08-01T00:00:00.000Z' });
  await secondClient.close();
});
