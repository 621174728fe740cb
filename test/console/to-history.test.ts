import { describe, expect, it } from '@jest/globals';
import { toHistory } from '../../console/pages/purchase/to-history.ts';
import type { TransactionRecord } from '../../lib/purchases/transaction-contract.ts';

/** A payment of one purchase of an order, and its refund. */
const buildPayment = (purchaseId: string): TransactionRecord => ({
  transactionId: 'store_c:order-1',
  purchaseId,
  productId: `store_c:product-${purchaseId}`,
  platform: 'store_c',
  purchaseDate: '2026-03-01T00:00:00.000Z',
  refundDate: '2026-03-02T00:00:00.000Z',
  currency: 'USD',
  amountMicros: 1_000_000,
  refundedAmountMicros: 1_000_000,
  amountUSD: 1,
  sandbox: false,
});

describe('toHistory', () => {
  it('shows the payments and refunds of all purchases of an order, which share the id of the transaction', () => {
    const rows = ['store_c:1', 'store_c:2'].map((id) => {
      const transaction = buildPayment(id);
      return { type: 'payment', date: transaction.purchaseDate, transaction } as const;
    });
    const entries = toHistory([...rows, ...rows]);
    expect(entries.map(({ purchaseId, title }) => [purchaseId, title])).toEqual([
      ['store_c:1', 'Returned $1.00'],
      ['store_c:2', 'Returned $1.00'],
      ['store_c:1', 'Paid $1.00'],
      ['store_c:2', 'Paid $1.00'],
    ]);
  });

  it('marks refreshes that found no change', () => {
    const refresh = {
      type: 'event',
      date: '2026-03-01T00:00:00.000Z',
      eventType: 'receipt.refreshed',
      ok: true,
    } as const;
    const entries = toHistory([
      { ...refresh, eventId: 'e1' },
      { ...refresh, eventId: 'e2', reasons: ['RENEWED'] },
      { ...refresh, eventId: 'e3', ok: false, message: 'Timeout' },
    ] as never);
    expect(entries.filter(({ isUnchanged }) => isUnchanged).map(({ eventId }) => eventId)).toEqual(['e1']);
  });

  it('names the type of an event as the log of events does', () => {
    const event = { type: 'event', date: '2026-03-01T00:00:00.000Z', eventId: '1', ok: true, message: 'OK' } as const;
    const rows = ['grant.created', 'purchase.claimed', 'webhook.app.called'].map((eventType) => ({
      ...event,
      eventId: eventType,
      eventType,
    }));
    expect(toHistory(rows).map(({ title }) => title)).toEqual([
      'Access granted',
      'Purchase linked',
      'Webhook to the server of the app sent',
    ]);
  });

  it('names the type of a webhook that is about no change of a purchase, unless its event is older than the type', () => {
    const webhook = {
      type: 'event',
      date: '2026-03-01T00:00:00.000Z',
      eventType: 'webhook.app.called',
      ok: true,
    } as const;
    const entries = toHistory([
      { ...webhook, eventId: '1', reasons: ['OTHER'], notificationType: 'credits.updated' },
      { ...webhook, eventId: '2', reasons: ['RENEWED'], notificationType: 'purchases.updated' },
      { ...webhook, eventId: '3', reasons: ['OTHER'] },
    ]);
    expect(entries.map(({ detail }) => detail)).toEqual(['credits.updated', 'RENEWED', 'OTHER']);
  });
});
