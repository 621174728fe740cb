import { createHash, createHmac } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import * as v from 'valibot';
import { braintree } from '../../../../lib/stores/braintree/braintree.ts';
import { StoreNotification } from '../../../../lib/stores/store.ts';
import type { StoreContext } from '../../../../lib/stores/store-context.ts';
import { stoppedStopwatch } from '../../../../testing/stopwatch.ts';
import { createOfficialSample, officialKinds } from './official-client.ts';

const settings = {
  merchantId: 'merchant',
  publicKey: 'public_key',
  privateKey: 'private_key',
  environment: 'sandbox',
  catalogue: {},
} as const;

const context: StoreContext = {
  appName: 'app',
  settings,
  now: () => Date.parse('2027-02-10T12:00:00Z'),
  fetch: async () => {
    throw new Error('The adapter must not call Braintree.');
  },
  runOnce: async (_key, run) => await run(),
  stopwatch: stoppedStopwatch,
  extraRoots: [],
};

/** Signs a text: HMAC-SHA1 with the SHA-1 digest of the private key. */
const sign = (text: string, { publicKey, privateKey }: { publicKey: string; privateKey: string } = settings) => {
  const key = createHash('sha1').update(privateKey).digest();
  return `${publicKey}|${createHmac('sha1', key).update(text).digest('hex')}`;
};

const buildPayload = (subject: string, { kind = 'subscription_canceled', timestamp = '2027-02-10T11:00:00Z' } = {}) => {
  const head = `<timestamp type="datetime">${timestamp}</timestamp><kind>${kind}</kind>`;
  return `${Buffer.from(`<notification>${head}<subject>${subject}</subject></notification>`).toString('base64')}\n`;
};

const subscription = `<subscription><id>sub1</id><current-billing-cycle type="integer">3</current-billing-cycle>
  <paid-through-date type="date">2027-02-28</paid-through-date><transactions type="array"/></subscription>`;

const receivePost = async (payload: string, signature = sign(payload)) =>
  await braintree.receive?.(
    {
      method: 'POST',
      body: new URLSearchParams({ bt_signature: signature, bt_payload: payload }).toString(),
      headers: {},
      query: {},
    },
    context,
  );

const receiveChallenge = async (query: Record<string, string>) =>
  await braintree.receive?.({ method: 'GET', body: '', headers: {}, query }, context);

describe('receive (Braintree)', () => {
  it('returns the reason and the subject of a notification', async () => {
    expect(await receivePost(buildPayload(subscription))).toEqual({
      notifications: [
        {
          key: expect.stringMatching(/^[\da-f]{64}$/),
          type: 'subscription_canceled',
          occurredAt: Date.parse('2027-02-10T11:00:00Z'),
          payload: { reason: 'WILL_LAPSE', subscription: 'sub1' },
        },
      ],
    });
  });

  it('derives the same key if a notification is resent, signed again or formatted differently', async () => {
    const payload = buildPayload(subscription);
    const signatures = [sign(payload), `other_key|00&${sign(payload)}`, sign(`${payload}\n`)];
    const keys = [];
    for (const signature of signatures) keys.push((await receivePost(payload, signature))?.notifications[0]?.key);
    keys.push((await receivePost(buildPayload(`\n${subscription}`)))?.notifications[0]?.key);
    expect(new Set(keys).size).toBe(1);
  });

  it.each([
    ['another kind', buildPayload(subscription, { kind: 'subscription_expired' })],
    ['another timestamp', buildPayload(subscription, { timestamp: '2027-02-10T11:00:01Z' })],
    ['another subscription', buildPayload(subscription.replace('sub1', 'sub2'))],
  ])('derives a different key for %s', async (_difference, payload) => {
    const [first, second] = [await receivePost(buildPayload(subscription)), await receivePost(payload)];
    expect(second?.notifications[0]?.key).not.toBe(first?.notifications[0]?.key);
  });

  it.each([
    ['dispute', 'dispute_lost', '<dispute><id>d1</id><transaction><id>tx1</id></transaction></dispute>'],
    ['review', 'transaction_reviewed', '<transaction-review><transaction-id>tx1</transaction-id></transaction-review>'],
    ['settlement', 'transaction_settled', '<transaction><id>tx1</id><amount>1</amount></transaction>'],
  ])('finds the payment of a %s', async (_subject, kind, subject) => {
    expect(await receivePost(buildPayload(subject, { kind }))).toMatchObject({
      notifications: [{ payload: { transaction: 'tx1' } }],
    });
  });

  it('finds the subscription of a payment', async () => {
    const subject = '<transaction><id>tx1</id><subscription-id>sub1</subscription-id></transaction>';
    const payload = { reason: 'REVOKED', transaction: 'tx1', subscription: 'sub1' };
    expect(await receivePost(buildPayload(subject, { kind: 'transaction_settlement_declined' }))).toMatchObject({
      notifications: [{ payload }],
    });
  });

  it('accepts every kind of the official client and an unknown kind', async () => {
    for (const kind of [...officialKinds, 'unknown_kind']) {
      const form = await createOfficialSample(settings, { kind, id: 'my_id' });
      const received = await receivePost(form.bt_payload, form.bt_signature);
      expect(received).toMatchObject({ notifications: [{ type: kind, occurredAt: expect.any(Number) }] });
      const [notification] = received?.notifications ?? [];
      expect(v.parse(StoreNotification, JSON.parse(JSON.stringify(notification)))).toEqual(notification);
    }
  });

  const validPayload = buildPayload(subscription);
  it.each([
    ['another private key', validPayload, sign(validPayload, { publicKey: 'public_key', privateKey: 'forged' })],
    ['another public key', validPayload, sign(validPayload, { publicKey: 'public_key_2', privateKey: 'private_key' })],
    ['a signature of another payload', buildPayload(subscription.replace('sub1', 'sub2')), sign(validPayload)],
    ['an empty signature', validPayload, ''],
    ['a payload with invalid base64 characters', `${validPayload}<`, sign(`${validPayload}<`)],
    ['an empty payload', '', sign('')],
  ])('rejects %s', async (_case, payload, signature) => {
    await expect(receivePost(payload, signature)).rejects.toMatchObject({ code: 'Forbidden' });
  });

  it.each([
    ['text instead of XML', Buffer.from('hello').toString('base64')],
    ['another XML element', Buffer.from('<other/>').toString('base64')],
    ['an empty kind', buildPayload(subscription, { kind: '' })],
    ['an invalid timestamp', buildPayload(subscription, { timestamp: 'soon' })],
    ['truncated XML', Buffer.from('<notification><kind>check</kind>').toString('base64')],
  ])('rejects a signed payload with %s', async (_case, payload) => {
    await expect(receivePost(payload)).rejects.toMatchObject({ code: 'InvalidPayload' });
  });
});

describe('receive (Braintree challenge)', () => {
  it('returns the public key and the digest', async () => {
    const bt_challenge = '20f9f8ed05f77439fe955c977e4c8a53';
    expect(await receiveChallenge({ bt_challenge })).toEqual({ notifications: [], responseText: sign(bt_challenge) });
  });

  it.each([{}, { bt_challenge: '' }, { bt_challenge: 'zz' }, { bt_challenge: '20f9f8ed05f77439fe955c977e4c8a5<' }])(
    'rejects the query %j',
    async (query) => {
      await expect(receiveChallenge(query)).rejects.toMatchObject({ code: 'Forbidden' });
    },
  );
});
