import { describe, expect, it } from '@jest/globals';
import { braintree } from '../../../lib/stores/braintree/braintree.ts';
import { googlePlay } from '../../../lib/stores/google-play/google-play.ts';
import type { Store } from '../../../lib/stores/store.ts';
import { stripe } from '../../../lib/stores/stripe/stripe.ts';

const occurredAt = Date.parse('2027-01-01T00:00:00Z');
const stores: readonly (readonly [string, Store, object, string])[] = [
  ['Google Play', googlePlay, { token: 'token-1', kind: 'subscription' }, 'store_b:token-1'],
  ['Stripe', stripe, { subjectId: 'sub_1' }, 'processor_a:sub_1'],
  ['Braintree', braintree, { subscription: 's1', transaction: 't1' }, 'processor_b:s1'],
];
const [play, card, vault] = stores;

const find = (store: Store, type: string, payload: object) =>
  store.findRenewalNotice?.({ key: 'key', type, occurredAt, payload: { ...payload } });

describe('findRenewalNotice', () => {
  it.each([
    [play, 'SUBSCRIPTION_RENEWED', {}],
    [play, 'SUBSCRIPTION_RECOVERED', {}],
    [card, 'invoice.paid', { reason: 'RENEWED' }],
    [vault, 'subscription_charged_successfully', { reason: 'RENEWED' }],
  ])('returns a renewal: %j %s', (store, type, changes) => {
    const [, adapter, payload, purchaseId] = store as (typeof stores)[number];
    expect(find(adapter, type, { ...payload, ...changes })).toEqual({ purchaseId, notice: { date: occurredAt } });
  });

  it.each([
    [play, 'SUBSCRIPTION_EXPIRED', {}],
    [play, 'SUBSCRIPTION_REVOKED', {}],
    [play, 'SUBSCRIPTION_ON_HOLD', {}],
    [card, 'customer.subscription.deleted', { reason: 'EXPIRED' }],
    [vault, 'subscription_canceled', { reason: 'EXPIRED' }],
  ])('returns an end: %j %s', (store, type, changes) => {
    const [, adapter, payload, purchaseId] = store as (typeof stores)[number];
    expect(find(adapter, type, { ...payload, ...changes })?.notice).toEqual({ date: occurredAt, isEnd: true });
    expect(find(adapter, type, { ...payload, ...changes })?.purchaseId).toBe(purchaseId);
  });

  it.each([
    [play, 'SUBSCRIPTION_CANCELED', {}],
    [play, 'SUBSCRIPTION_IN_GRACE_PERIOD', {}],
    [play, 'ONE_TIME_PRODUCT_PURCHASED', {}],
    [play, 'VOIDED_PURCHASE', {}],
    [card, 'invoice.payment_failed', { reason: 'ENTERED_GRACE_PERIOD' }],
    [card, 'charge.dispute.closed', { reason: 'REVOKED' }],
    // Stripe starts the next period an hour before it attempts the payment.
    [card, 'customer.subscription.updated', { reason: 'RENEWED' }],
    [card, 'customer.subscription.resumed', { reason: 'RENEWED' }],
    [vault, 'dispute_lost', { reason: 'REVOKED' }],
  ])('returns nothing for a notification that proves neither: %j %s', (store, type, changes) => {
    const [, adapter, payload] = store as (typeof stores)[number];
    expect(find(adapter, type, { ...payload, ...changes })).toBeUndefined();
  });
});
