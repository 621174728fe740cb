import { describe, expect, it, test } from '@jest/globals';
import { startBeforeAll } from '../../testing/start-before-all.ts';
import { dayMs } from '../calendar.ts';
import { decodePayload, startEmulatorClient, startTime } from './emulator-client.ts';
import {
  fetchSubscriptionStatus,
  formatNotificationType,
  monthEnd,
  nextMonthEnd,
  runHistory,
  runSteps,
  type Step,
} from './random-histories.ts';

const client = startBeforeAll(startEmulatorClient);

const active = { status: 1, renewal: { autoRenewStatus: 1 } };

describe('family sharing (App Store)', () => {
  const share = async (ownerSteps: readonly Step[] = []) => {
    const { id } = await runHistory(client, []);
    const { body } = await client.act(id, 'share', { applicationUsername: 'kid' });
    await runSteps(client, id, ownerSteps);
    return { owner: id, body };
  };

  it('creates a separate purchase without price and account token for the member', async () => {
    const { owner, body } = await share();
    expect(body).toMatchObject({ sharedFrom: owner, state: 'ACTIVE', applicationUsername: 'kid' });
    expect(body.notifications.map(formatNotificationType)).toEqual(['SUBSCRIBED/INITIAL_BUY']);
    expect(body.validate.additionalData.applicationUsername).toBe('kid');
    const transaction = decodePayload(body.validate.transaction.jwsRepresentation);
    expect(transaction).toMatchObject({ inAppOwnershipType: 'FAMILY_SHARED', price: 0, expiresDate: monthEnd });
    expect(transaction.originalTransactionId).toBe(body.id);
    expect(transaction).not.toHaveProperty('appAccountToken');
    expect((await fetchSubscriptionStatus(client, body.id)).renewal).not.toHaveProperty('appAccountToken');
  });

  test.each<[string, readonly Step[], object]>([
    ['renews', [['renew']], { status: 1, transaction: { expiresDate: nextMonthEnd, price: 0 } }],
    ['expires', ['P1M'], { status: 2 }],
    ['is bought again', ['P2M', ['renew']], { status: 1 }],
    ['has a failed payment', [['fail-payment']], { status: 4 }],
    ['is refunded', [['refund']], { status: 5, transaction: { revocationType: 'FAMILY_REVOKE' } }],
  ])("changes the share when the owner's purchase %s", async (_name, ownerSteps, expected) => {
    const { body } = await share(ownerSteps);
    expect(await fetchSubscriptionStatus(client, body.id)).toMatchObject(expected);
  });

  it('returns the access of the member after a reversed refund, and not to a member who has left', async () => {
    const { owner, body } = await share();
    const left = (await client.act(owner, 'share', { applicationUsername: 'aunt' })).body.id;
    await client.act(left, 'revoke');
    await runSteps(client, owner, [['refund']]);
    const kid = body.id;
    expect(await runSteps(client, owner, [['reverse-refund']])).toEqual(['REFUND_REVERSED', 'SUBSCRIBED/RESUBSCRIBE']);
    const { status, transaction } = await fetchSubscriptionStatus(client, kid);
    expect({ status, expiresDate: transaction.expiresDate }).toEqual({ status: 1, expiresDate: monthEnd });
    expect(transaction).not.toHaveProperty('revocationDate');
    expect(transaction).not.toHaveProperty('revocationType');
    expect(await fetchSubscriptionStatus(client, left)).toMatchObject({ status: 5 });
  });

  it('keeps the share if an old transaction of the owner is refunded', async () => {
    const { owner, body } = await share([['renew']]);
    await runSteps(client, owner, [['refund', { transactionId: owner }]]);
    expect(await fetchSubscriptionStatus(client, body.id)).toMatchObject(active);
  });

  it('supports only revoke for a share', async () => {
    const { owner, body } = await share();
    expect(await client.act(body.id, 'renew')).toMatchObject({ status: 422 });
    expect((await client.act(body.id, 'revoke')).body.notifications.map(formatNotificationType)).toEqual(['REVOKE']);
    expect(await fetchSubscriptionStatus(client, body.id)).toMatchObject({
      status: 5,
      transaction: { revocationType: 'FAMILY_REVOKE' },
    });
    expect(await fetchSubscriptionStatus(client, owner)).toMatchObject(active);
  });

  it('rejects sharing a consumable', async () => {
    const { body } = await client.buy({ productId: 'coins', type: 'consumable' });
    expect(await client.act(body.id, 'share', { applicationUsername: 'kid' })).toMatchObject({ status: 422 });
  });
});

describe('multiseat purchases (App Store)', () => {
  const seatTiers = [
    { priceMicros: 9_990_000, quantity: 5 },
    { priceMicros: 7_990_000, quantity: 3 },
  ];
  const fetchHistory = async (id: string) =>
    (await client.callServerApi(`/inApps/v2/history/${id}`)).body.signedTransactions.map(decodePayload);

  it('returns the average price of a seat, and the seats of each price', async () => {
    const { transaction, renewal } = await runHistory(client, [], { seatTiers });
    expect(transaction).toMatchObject({
      quantity: 8,
      price: 9_240,
      multiSeatInfo: { priceTiers: expect.arrayContaining([{ price: 9_990, quantity: 5 }]) },
    });
    expect(renewal).toMatchObject({ renewalQuantity: 8 });
  });

  it('gives each member a transaction with the seats of the purchaser, until the seat is taken away', async () => {
    const { id } = await runHistory(client, [], { seats: 2 });
    const { body } = await client.act(id, 'assign-seat', { applicationUsername: 'member' });
    expect(decodePayload(body.validate.transaction.jwsRepresentation)).toMatchObject({
      inAppOwnershipType: 'ASSIGNED',
      quantity: 2,
      price: 4_990,
    });
    expect(body).toMatchObject({ sharedFrom: id, paidMicros: 0 });
    const removed = await client.act(id, 'remove-seat', { applicationUsername: 'member' });
    expect(removed.body).toMatchObject({ id: body.id, state: 'REVOKED', refundedMicros: 0 });
    expect(removed.body.notifications.map(formatNotificationType)).toEqual(['REVOKE']);
    expect((await client.control('GET', `/control/purchases/${id}`)).body).toMatchObject({ state: 'ACTIVE', seats: 2 });
  });

  it('bills added seats by a second transaction of the period, and all of them at the renewal', async () => {
    const { id } = await runHistory(client, ['P7D', ['add-seats', { quantity: 3 }]], { seats: 2 });
    const added = await fetchHistory(id);
    expect(
      added.map(({ quantity, expiresDate }: { quantity: number; expiresDate: number }) => [quantity, expiresDate]),
    ).toEqual([
      [2, monthEnd],
      [3, monthEnd],
    ]);
    for (const transaction of added) expect(transaction.additionalTransactionReason).toBe('SEAT_ADDITION');
    await runSteps(client, id, [['renew']]);
    expect((await fetchHistory(id)).at(-1)).toMatchObject({ quantity: 5, purchaseDate: monthEnd });
  });

  it('sells the ordered seats if it is bought again', async () => {
    const { id } = await runHistory(client, [['cancel'], 'P2M'], {
      productId: 'team',
      seats: 6,
      applicationUsername: 'boss',
    });
    const again = { productId: 'team', type: 'paid subscription', seats: 2, applicationUsername: 'boss' };
    expect((await client.buy(again)).body).toMatchObject({ id, seats: 2 });
  });

  it('keeps a transaction valid after the refund of some of its seats', async () => {
    const { id, notifications, status, transaction } = await runHistory(client, [['refund-seats', { quantity: 3 }]], {
      seatTiers,
    });
    expect({ notifications, status }).toEqual({ notifications: ['REFUND/SEATS'], status: 1 });
    expect(transaction.multiSeatInfo.revokedSeatQuantity).toBe(3);
    expect(transaction).not.toHaveProperty('revocationDate');
    expect((await client.act(id, 'refund-seats', { quantity: 5 })).status).toBe(422);
  });
});

/** Buys a product and restores it 100 days later. Returns the signed transactions before and after. */
async function restoreLater(order: object, date?: 'original' | 'now') {
  client.clock.set(startTime);
  const bought = (await client.buy(order)).body;
  client.clock.set(startTime + 100 * dayMs);
  const restored = (await client.act(bought.id, 'restore', date ? { date } : {})).body;
  return {
    id: bought.id,
    restored,
    before: decodePayload(bought.validate.transaction.jwsRepresentation),
    after: decodePayload(restored.validate.transaction.jwsRepresentation),
  };
}

const lifetime = { productId: 'lifetime', type: 'non consumable' };

describe('restore of the emulated App Store', () => {
  it('gives a subscription another transaction id for the same line item', async () => {
    const { before, after } = await restoreLater({ productId: 'yearly', period: 'P1Y' });
    expect(after.transactionId).not.toBe(before.transactionId);
    expect(after).toMatchObject({
      originalTransactionId: before.originalTransactionId,
      webOrderLineItemId: before.webOrderLineItemId,
      purchaseDate: before.purchaseDate,
      expiresDate: before.expiresDate,
    });
  });

  it('dates a restored non-consumable now on request, with its original transaction id', async () => {
    const { before, after } = await restoreLater(lifetime, 'now');
    expect(after).toMatchObject({
      originalTransactionId: before.originalTransactionId,
      originalPurchaseDate: before.purchaseDate,
      purchaseDate: startTime + 100 * dayMs,
    });
  });

  it('finds the sale by both ids, and lists it once in the history and in later receipts', async () => {
    const order = { ...lifetime, productId: 'once', applicationUsername: 'restorer' };
    const { before, after, restored } = await restoreLater(order, 'now');
    for (const { transactionId } of [before, after]) {
      const { body } = await client.callServerApi(`/inApps/v1/transactions/${transactionId}`);
      expect(decodePayload(body.signedTransactionInfo).transactionId).toBe(transactionId);
    }
    const history = (await client.callServerApi(`/inApps/v2/history/${after.transactionId}`)).body.signedTransactions;
    expect(history.map((jws: string) => decodePayload(jws).transactionId)).toEqual([before.transactionId]);
    const receipt = (await client.control('GET', `/control/purchases/${restored.id}?form=receipt`)).body.validate;
    const { body } = await client.call('/buy.itunes.apple.com/verifyReceipt', {
      method: 'POST',
      body: JSON.stringify({ 'receipt-data': receipt.transaction.appStoreReceipt }),
    });
    expect(body.receipt.in_app).toMatchObject([
      { transaction_id: after.transactionId, original_transaction_id: before.transactionId },
    ]);
    expect(restored).toMatchObject({ paidMicros: 4_990_000, lines: [{ restoredAs: [after.transactionId] }] });
  });

  it('rejects a consumable', async () => {
    const { id } = (await client.buy({ productId: 'coins', type: 'consumable' })).body;
    expect((await client.act(id, 'restore')).status).toBe(422);
  });
});
