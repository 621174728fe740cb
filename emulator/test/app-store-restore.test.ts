import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { dayMs } from '../calendar.ts';
import { decodePayload, type EmulatorClient, startEmulatorClient, startTime } from './emulator-client.ts';

let client: EmulatorClient;
beforeAll(async () => {
  client = await startEmulatorClient();
});
afterAll(() => client.close());

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
