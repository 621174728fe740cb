import { createHmac } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import Stripe from 'stripe';
import { dayMs } from '../../../../lib/foundation/time.ts';
import type { Purchase } from '../../../../lib/purchases/purchase.ts';
import type { StoreContext, StoreResponse } from '../../../../lib/stores/store-context.ts';
import { toNotificationReason } from '../../../../lib/stores/stripe/notification-reason.ts';
import { stripe } from '../../../../lib/stores/stripe/stripe.ts';
import { stoppedStopwatch } from '../../../../testing/stopwatch.ts';
import { now } from './stripe-fixtures.ts';

const secret = 'whsec_of_the_endpoint';
const settings = { secretKey: 'sk_test_of_the_account', webhookSecrets: ['whsec_other', secret] };
const createContext = (settingsChanges: object = {}): StoreContext => ({
  appName: 'app',
  settings: { ...settings, ...settingsChanges },
  now: () => now,
  fetch: async (): Promise<StoreResponse> => ({
    status: 404,
    headers: {},
    text: '{"error":{"code":"resource_missing"}}',
  }),
  runOnce: async (_key, run) => await run(),
  stopwatch: stoppedStopwatch,
  extraRoots: [],
});

const buildEvent = (type: string, object: Record<string, unknown>, previous_attributes?: Record<string, unknown>) => ({
  id: 'evt_1',
  object: 'event',
  type,
  created: 1_800_000_000,
  data: { object, ...(previous_attributes && { previous_attributes }) },
});

const receiveSigned = async (body: string, header: string) =>
  await stripe.receive?.({ method: 'POST', body, headers: { 'stripe-signature': header }, query: {} }, createContext());

async function receive(body: string, { key = secret, timestamp = now / 1000, settingsChanges = {} } = {}) {
  const header = Stripe.webhooks.generateTestHeaderString({ payload: body, secret: key, timestamp });
  const raw = { method: 'POST', body, headers: { 'stripe-signature': header }, query: {} } as const;
  return await stripe.receive?.(raw, createContext(settingsChanges));
}

describe('receive (Stripe)', () => {
  const body = JSON.stringify(buildEvent('customer.subscription.updated', { id: 'sub_1', object: 'subscription' }));

  it('accepts an event that is signed with any secret of the settings', async () => {
    expect(await receive(body)).toEqual({
      notifications: [
        {
          key: 'evt_1',
          type: 'customer.subscription.updated',
          occurredAt: 1_800_000_000_000,
          payload: { reason: 'OTHER', subjectId: 'sub_1' },
        },
      ],
    });
  });

  it.each<[string, () => Promise<unknown>]>([
    ['another secret', async () => await receive(body, { key: 'whsec_forged' })],
    ['a signature that is one hour old', async () => await receive(body, { timestamp: now / 1000 - 3_600 })],
    ['a signature of one hour later', async () => await receive(body, { timestamp: now / 1000 + 3_600 })],
    ['no secret in the settings', async () => await receive(body, { settingsChanges: { webhookSecrets: [] } })],
    [
      'no signature',
      async () => await stripe.receive?.({ method: 'POST', body, headers: {}, query: {} }, createContext()),
    ],
  ])('rejects an event with %s', async (_case, send) => {
    await expect(send()).rejects.toMatchObject({ code: 'Forbidden' });
  });

  it.each(['', 't=1,v1=', 't=1,v1', 't=,v1=', `t=1,v1=${'é'.repeat(64)}`, `t=1,v1=${'0'.repeat(64)}`, 't=x,v1=\u0000'])(
    'rejects the signature %j',
    async (header) => {
      await expect(receiveSigned(body, header)).rejects.toMatchObject({ code: 'Forbidden' });
    },
  );

  it.each(['NaN', '', '-1', '1e3', 'Infinity', `${now / 1000}.5`, `${now / 1000}x`, ` ${now / 1000}`])(
    'rejects an event that the secret signs for the time %j',
    async (time) => {
      for (const signedTime of [time, String(Number.parseInt(time, 10))]) {
        const signature = createHmac('sha256', secret).update(`${signedTime}.${body}`).digest('hex');
        await expect(receiveSigned(body, `t=${time},v1=${signature}`)).rejects.toMatchObject({ code: 'Forbidden' });
      }
    },
  );

  it('rejects an event with two times', async () => {
    const seconds = now / 1000;
    const header = Stripe.webhooks.generateTestHeaderString({ payload: body, secret, timestamp: seconds - 3_600 });
    await expect(receiveSigned(body, `t=${seconds},${header}`)).rejects.toMatchObject({ code: 'Forbidden' });
    await expect(receiveSigned(body, `${header},t=${seconds}`)).rejects.toMatchObject({ code: 'Forbidden' });
  });

  it('rejects any text as a signature', async () => {
    const parts = fc.constantFrom('t', 'v0', 'v1', '=', ',', '1', String(now / 1000), 'ff');
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(parts).map((batch) => batch.join('')),
    );
    await fc.assert(
      fc.asyncProperty(text, async (header) => {
        await expect(receiveSigned(body, header)).rejects.toMatchObject({ code: 'Forbidden' });
      }),
    );
  });

  it.each(['no json', '{}', '{"id":"evt_1","type":"x","created":"late"}'])('rejects the body %s', async (text) => {
    await expect(receive(text)).rejects.toMatchObject({ code: 'InvalidPayload' });
  });

  it.each([
    ['v1.customer.subscription.deleted', 'sub_1', 'EXPIRED'],
    ['v1.checkout.session.completed', 'cs_1', 'OTHER'],
    ['v1.invoice.paid', 'in_1', 'OTHER'],
    ['v1.charge.refunded', 'ch_1', 'REFUNDED'],
    ['v1.charge.dispute.closed', undefined, 'OTHER'],
  ])('accepts the thin event %s', async (type, subjectId, reason) => {
    const related_object = { id: subjectId ?? 'dp_1', type: 'any', url: '/v1/any' };
    const event = { id: 'evt_1', object: 'v2.core.event', type, created: '2027-01-15T08:00:00.000Z', related_object };
    expect(await receive(JSON.stringify(event))).toEqual({
      notifications: [
        {
          key: 'evt_1',
          type: type.slice(3),
          occurredAt: 1_800_000_000_000,
          payload: { reason, ...(subjectId && { subjectId }) },
        },
      ],
    });
  });

  it.each([
    ['its parent', { parent: { subscription_details: { subscription: 'sub_1' } }, subscription: 'sub_old' }],
    ['a member, in older API versions', { subscription: 'sub_1' }],
    ['an expanded member', { subscription: { id: 'sub_1', object: 'subscription' } }],
  ])('finds the subscription of an invoice in %s', async (_location, invoice) => {
    const paid = buildEvent('invoice.paid', { id: 'in_1', object: 'invoice', ...invoice });
    expect(await receive(JSON.stringify(paid))).toMatchObject({ notifications: [{ payload: { subjectId: 'sub_1' } }] });
  });

  it.each(['invoice_payment.paid', 'credit_note.created'])('finds the invoice of %s', async (type) => {
    const event = buildEvent(type, { id: 'id_1', invoice: 'in_1' });
    expect(await receive(JSON.stringify(event))).toMatchObject({ notifications: [{ payload: { subjectId: 'in_1' } }] });
  });

  it.each([{}, { subscription: null }, { parent: null, subscription: null }])(
    'does not name a subject for the invoice %j',
    async (invoice) => {
      const [notification] =
        (await receive(JSON.stringify(buildEvent('invoice.paid', { id: 'in_1', ...invoice }))))?.notifications ?? [];
      expect(notification?.payload).not.toHaveProperty('subjectId');
    },
  );
});

describe('observe (Stripe)', () => {
  const body = JSON.stringify(buildEvent('customer.subscription.updated', { id: 'sub_1', object: 'subscription' }));

  it('does not return an observation if Stripe does not have the object', async () => {
    const [notification] = (await receive(body))?.notifications ?? [];
    expect(notification && (await stripe.observe?.(notification, createContext()))).toEqual({
      reason: 'OTHER',
      observations: [],
    });
  });

  it('reports changed prices', async () => {
    const [notification] =
      (await receive(JSON.stringify(buildEvent('price.updated', { id: 'price_1', object: 'price' }))))?.notifications ??
      [];
    expect(notification && (await stripe.observe?.(notification, createContext()))).toEqual({
      reason: 'OTHER',
      observations: [],
      pricesChanged: true,
    });
  });
});

describe('toNotificationReason (Stripe)', () => {
  const items = (price: string) => ({ data: [{ price: { id: price } }] });

  it.each<[string, Record<string, unknown>, Record<string, unknown> | undefined, string]>([
    ['checkout.session.completed', { payment_status: 'paid' }, undefined, 'PURCHASED'],
    ['checkout.session.completed', { payment_status: 'no_payment_required' }, undefined, 'PURCHASED'],
    ['checkout.session.completed', { payment_status: 'unpaid' }, undefined, 'OTHER'],
    ['checkout.session.async_payment_succeeded', {}, undefined, 'PURCHASED'],
    ['checkout.session.async_payment_failed', {}, undefined, 'OTHER'],
    ['checkout.session.expired', {}, undefined, 'OTHER'],
    ['customer.subscription.created', { status: 'active' }, undefined, 'PURCHASED'],
    ['customer.subscription.created', { status: 'incomplete' }, undefined, 'OTHER'],
    ['customer.subscription.updated', { items: items('b') }, { items: items('a') }, 'PLAN_CHANGED'],
    ['customer.subscription.updated', { items: items('a') }, { items: items('a') }, 'RENEWED'],
    ['customer.subscription.updated', { cancel_at_period_end: true }, { cancel_at_period_end: false }, 'WILL_LAPSE'],
    [
      'customer.subscription.updated',
      { cancel_at_period_end: false },
      { cancel_at_period_end: true },
      'WILL_AUTO_RENEW',
    ],
    ['customer.subscription.updated', { cancel_at: 5 }, { cancel_at: null }, 'WILL_LAPSE'],
    ['customer.subscription.updated', { status: 'active' }, { status: 'incomplete' }, 'PURCHASED'],
    ['customer.subscription.updated', { status: 'past_due' }, { status: 'active' }, 'ENTERED_GRACE_PERIOD'],
    ['customer.subscription.updated', { status: 'active' }, { status: 'past_due' }, 'RENEWED'],
    ['customer.subscription.updated', { status: 'unpaid' }, { status: 'past_due' }, 'EXPIRED'],
    ['customer.subscription.updated', { status: 'incomplete_expired' }, { status: 'incomplete' }, 'EXPIRED'],
    ['customer.subscription.updated', { pause_collection: {} }, { pause_collection: null }, 'OTHER'],
    ['customer.subscription.updated', { pause_collection: null }, { pause_collection: {} }, 'OTHER'],
    ['customer.subscription.updated', { trial_end: 9 }, { trial_end: 5 }, 'EXTENDED'],
    ['customer.subscription.updated', {}, { metadata: {} }, 'OTHER'],
    ['customer.subscription.deleted', {}, undefined, 'EXPIRED'],
    ['customer.subscription.paused', {}, undefined, 'PAUSED'],
    ['customer.subscription.resumed', {}, undefined, 'RENEWED'],
    ['customer.subscription.pending_update_applied', {}, undefined, 'PLAN_CHANGED'],
    ['customer.subscription.pending_update_expired', {}, undefined, 'OTHER'],
    ['customer.subscription.trial_will_end', {}, undefined, 'OTHER'],
    ['invoice.paid', { billing_reason: 'subscription_create' }, undefined, 'PURCHASED'],
    ['invoice.paid', { billing_reason: 'subscription_cycle' }, undefined, 'RENEWED'],
    ['invoice.paid', { billing_reason: 'subscription_update' }, undefined, 'PLAN_CHANGED'],
    ['invoice.paid', { billing_reason: 'manual' }, undefined, 'OTHER'],
    ['invoice.payment_failed', { billing_reason: 'subscription_cycle' }, undefined, 'ENTERED_GRACE_PERIOD'],
    ['invoice.payment_failed', { billing_reason: 'subscription_create' }, undefined, 'OTHER'],
    ['invoice.payment_action_required', {}, undefined, 'OTHER'],
    ['charge.refunded', {}, undefined, 'REFUNDED'],
    ['refund.created', { status: 'succeeded' }, undefined, 'REFUNDED'],
    ['refund.updated', { status: 'failed' }, undefined, 'OTHER'],
    ['charge.dispute.created', {}, undefined, 'OTHER'],
    ['charge.dispute.closed', { status: 'lost' }, undefined, 'REVOKED'],
    ['charge.dispute.closed', { status: 'won' }, undefined, 'OTHER'],
    ['charge.dispute.funds_withdrawn', {}, undefined, 'OTHER'],
    ['price.updated', {}, undefined, 'OTHER'],
    ['customer.deleted', {}, undefined, 'EXPIRED'],
    ['constructor', {}, undefined, 'OTHER'],
    ['unknown.event', {}, undefined, 'OTHER'],
  ])('maps %s of %j after %j to %s', (type, object, previous, reason) => {
    expect(toNotificationReason(buildEvent(type, object, previous))).toBe(reason);
  });
});

describe('observe (Stripe) of an object that Stripe does not have', () => {
  const stored: Purchase = {
    purchaseId: 'processor_a:sub_1',
    transactionId: 'processor_a:in_1',
    productId: 'processor_a:pro',
    platform: 'processor_a',
    sandbox: true,
    expirationDate: now + dayMs,
    renewalIntent: 'Renew',
  };
  const observe = async (type: string, purchase: Purchase | undefined) =>
    (
      await stripe.observe?.(
        { key: 'evt_1', type, occurredAt: now - 1_000, payload: { reason: 'EXPIRED', subjectId: 'sub_1' } },
        { ...createContext(), findPurchase: async (id) => (id === purchase?.purchaseId ? purchase : undefined) },
      )
    )?.observations;

  it('ends a stored subscription that was deleted with its test data', async () => {
    expect(await observe('customer.subscription.deleted', stored)).toMatchObject([
      {
        purchase: { ...stored, endedAt: now - 1_000, renewalIntent: 'Lapse', cancelationReason: 'System.Deleted' },
        transactions: [],
      },
    ]);
  });

  it('ignores an unknown or ended subscription, and other events', async () => {
    expect(await observe('customer.subscription.deleted', undefined)).toEqual([]);
    expect(await observe('customer.subscription.deleted', { ...stored, expirationDate: now })).toEqual([]);
    expect(await observe('customer.subscription.updated', stored)).toEqual([]);
  });
});
