import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  createFixedClock,
  decodePayload,
  type EmulatorClient,
  startEmulatorClient,
  startTime,
} from './emulator-client.ts';
import { fetchSubscriptionStatus, listNotificationTypes, runHistory } from './random-histories.ts';

let user: EmulatorClient;
beforeAll(async () => {
  user = await startEmulatorClient();
});
afterAll(() => user.close());

describe('as time passes', () => {
  it('a subscription that nobody renews expires, and says so', async () => {
    const { id, status, renewal } = await runHistory(user, ['P1M']);
    expect({ status, intent: renewal.expirationIntent }).toEqual({ status: 2, intent: 5 });
    expect(await listNotificationTypes(user, id)).toEqual(['SUBSCRIBED/INITIAL_BUY', 'EXPIRED']);
  });

  it('a cancelled one expires by its customer', async () => {
    expect(await runHistory(user, [['cancel'], 'P1M'])).toMatchObject({ status: 2, renewal: { expirationIntent: 1 } });
  });

  it('grace ends without access, and 60 days later the retrying ends', async () => {
    const { id, status } = await runHistory(user, ['P1M', ['fail-payment'], 'P16D']);
    expect(status).toBe(3);
    await user.advance('P44D');
    expect(await fetchSubscriptionStatus(user, id)).toMatchObject({ status: 2, renewal: { expirationIntent: 2 } });
    expect((await listNotificationTypes(user, id)).slice(-2)).toEqual([
      'GRACE_PERIOD_EXPIRED',
      'EXPIRED/BILLING_RETRY',
    ]);
  });

  it('grace of a cancelled subscription ends it', async () => {
    expect(await runHistory(user, [['fail-payment'], ['cancel'], 'P3M'])).toMatchObject({
      status: 2,
      renewal: { expirationIntent: 1 },
    });
  });

  it('one that renews by itself does so on its day of the month for a year', async () => {
    const { id, transaction } = await runHistory(user, ['P1Y'], { autoRenew: true, applicationUsername: 'yearling' });
    const { body } = await user.callServerApi(`/inApps/v2/history/${id}`);
    const history = body.signedTransactions.map(decodePayload);
    expect(history).toHaveLength(13);
    expect(history.map((one: { purchaseDate: number }) => new Date(one.purchaseDate).getUTCDate())).toEqual([
      31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31, 31,
    ]);
    expect(transaction.expiresDate).toBe(Date.parse('2028-02-29T10:00:00Z'));
  });

  it('one that renews by itself does not while its higher price is not accepted', async () => {
    const { id } = await runHistory(user, [['raise-price']], { autoRenew: true });
    await user.advance('P1M');
    expect(await fetchSubscriptionStatus(user, id)).toMatchObject({ status: 2, renewal: { expirationIntent: 3 } });
  });

  it('the renewals of all customers happen in the order of their time', async () => {
    user.clock.set(startTime);
    const weekly = await user.buy({ productId: 'weekly', period: 'P1W', autoRenew: true });
    const monthly = await user.buy({ productId: 'other', autoRenew: true });
    await user.advance('P3M');
    const { body } = await user.control('GET', '/control');
    const renewals = body.notifications
      .filter(({ purchaseId }: { purchaseId: string }) => [weekly.body.id, monthly.body.id].includes(purchaseId))
      .map(({ at }: { at: string }) => Date.parse(at));
    expect(renewals).toHaveLength(2 + 12 + 3);
    expect(renewals).toEqual([...renewals].sort((a, b) => a - b));
  });
});

it('lives by the clock that it is given', async () => {
  const clock = createFixedClock(Date.parse('2030-06-01T00:00:00Z'));
  const other = await startEmulatorClient({ clock });
  await other.control('POST', '/control/clock', { set: '2030-07-01T00:00:00Z' });
  expect(clock.now()).toBe(Date.parse('2030-07-01T00:00:00Z'));
  clock.set(Date.parse('2030-08-01T00:00:00Z'));
  expect((await other.control('GET', '/control/clock')).body).toEqual({ now: '2030-08-01T00:00:00.000Z' });
  await other.close();
});
