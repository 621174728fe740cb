import { createHash, createHmac } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import * as v from 'valibot';
import { processorB } from '../../../../lib/stores/processor-b/processor-b.ts';
import { StoreNotification } from '../../../../lib/stores/store.ts';
import type { StoreContext } from '../../../../lib/stores/store-context.ts';
import { officialKinds, officialSample } from './official-client.ts';

const settings = {
  merchantId: 'merchant',
  publicKey: 'public_key',
  privateKey: 'private_key',
  environment: 'sandbox',
  catalogue: {},
} as const;

const asking: StoreContext = {
  appName: 'app',
  settings,
  now: () => Date.parse('2027-02-10T12:00:00Z'),
  fetch: async () => {
    throw new Error('The processor must not be asked.');
  },
  runOnce: async (_key, run) => await run(),
  extraRoots: [],
};

/** The signature by the documented recipe: HMAC-SHA1 with the SHA-1 of the private key. */
const signatureOf = (text: string, { publicKey, privateKey }: { publicKey: string; privateKey: string } = settings) => {
  const key = createHash('sha1').update(privateKey).digest();
  return `${publicKey}|${createHmac('sha1', key).update(text).digest('hex')}`;
};

const payloadOf = (subject: string, { kind = 'subscription_canceled', timestamp = '2027-02-10T11:00:00Z' } = {}) => {
  const head = `<timestamp type="datetime">${timestamp}</timestamp><kind>${kind}</kind>`;
  return `${Buffer.from(`<notification>${head}<subject>${subject}</subject></notification>`).toString('base64')}\n`;
};

const subscription = `<subscription><id>sub1</id><current-billing-cycle type="integer">3</current-billing-cycle>
  <paid-through-date type="date">2027-02-28</paid-through-date><transactions type="array"/></subscription>`;

const post = async (payload: string, signature = signatureOf(payload)) =>
  await processorB.receive?.(
    {
      method: 'POST',
      body: new URLSearchParams({ bt_signature: signature, bt_payload: payload }).toString(),
      headers: {},
      query: {},
    },
    asking,
  );

const challenge = async (query: Record<string, string>) =>
  await processorB.receive?.({ method: 'GET', body: '', headers: {}, query }, asking);

describe('a webhook of processor_b', () => {
  it('gives a small message with the reason and what it is about', async () => {
    expect(await post(payloadOf(subscription))).toEqual({
      messages: [
        {
          key: expect.stringMatching(/^[\da-f]{64}$/),
          type: 'subscription_canceled',
          at: Date.parse('2027-02-10T11:00:00Z'),
          content: { reason: 'WILL_LAPSE', subscription: 'sub1' },
        },
      ],
    });
  });

  it('is the same message when it is sent again, signed again or written in another way', async () => {
    const sent = payloadOf(subscription);
    const signatures = [signatureOf(sent), `other_key|00&${signatureOf(sent)}`, signatureOf(`${sent}\n`)];
    const keys = [];
    for (const signature of signatures) keys.push((await post(sent, signature))?.notifications[0]?.key);
    keys.push((await post(payloadOf(`\n${subscription}`)))?.notifications[0]?.key);
    expect(new Set(keys).size).toBe(1);
  });

  it.each([
    ['another kind', payloadOf(subscription, { kind: 'subscription_expired' })],
    ['another moment', payloadOf(subscription, { timestamp: '2027-02-10T11:00:01Z' })],
    ['another subscription', payloadOf(subscription.replace('sub1', 'sub2'))],
  ])('is another message for %s', async (_what, payload) => {
    const [one, other] = [await post(payloadOf(subscription)), await post(payload)];
    expect(other?.notifications[0]?.key).not.toBe(one?.notifications[0]?.key);
  });

  it.each([
    ['dispute', 'dispute_lost', '<dispute><id>d1</id><transaction><id>tx1</id></transaction></dispute>'],
    ['review', 'transaction_reviewed', '<transaction-review><transaction-id>tx1</transaction-id></transaction-review>'],
    ['settlement', 'transaction_settled', '<transaction><id>tx1</id><amount>1</amount></transaction>'],
  ])('names the payment of a %s', async (_what, kind, subject) => {
    expect(await post(payloadOf(subject, { kind }))).toMatchObject({ messages: [{ content: { transaction: 'tx1' } }] });
  });

  it('names the subscription of a payment, too', async () => {
    const subject = '<transaction><id>tx1</id><subscription-id>sub1</subscription-id></transaction>';
    const content = { reason: 'REVOKED', transaction: 'tx1', subscription: 'sub1' };
    expect(await post(payloadOf(subject, { kind: 'transaction_settlement_declined' }))).toMatchObject({
      messages: [{ content }],
    });
  });

  it('of each kind that the official client can sample is taken', async () => {
    for (const kind of [...officialKinds, 'a_kind_of_next_year']) {
      const form = await officialSample(settings, { kind, id: 'my_id' });
      const received = await post(form.bt_payload, form.bt_signature);
      expect(received).toMatchObject({ messages: [{ type: kind, at: expect.any(Number) }] });
      const [message] = received?.notifications ?? [];
      expect(v.parse(StoreNotification, JSON.parse(JSON.stringify(message)))).toEqual(message);
    }
  });

  const good = payloadOf(subscription);
  it.each([
    ['by another private key', good, signatureOf(good, { publicKey: 'public_key', privateKey: 'forged' })],
    ['by another public key', good, signatureOf(good, { publicKey: 'public_key_2', privateKey: 'private_key' })],
    ['for another payload', payloadOf(subscription.replace('sub1', 'sub2')), signatureOf(good)],
    ['by nobody', good, ''],
    ['in characters that are no base64', `${good}<`, signatureOf(`${good}<`)],
    ['without a payload', '', signatureOf('')],
  ])('that is signed %s is refused', async (_how, payload, signature) => {
    await expect(post(payload, signature)).rejects.toMatchObject({ code: 'Forbidden' });
  });

  it.each([
    ['no XML', Buffer.from('hello').toString('base64')],
    ['no notification', Buffer.from('<other/>').toString('base64')],
    ['no kind', payloadOf(subscription, { kind: '' })],
    ['no date', payloadOf(subscription, { timestamp: 'soon' })],
    ['XML that is cut', Buffer.from('<notification><kind>check</kind>').toString('base64')],
  ])('that the merchant signed and that holds %s is not understood', async (_what, payload) => {
    await expect(post(payload)).rejects.toMatchObject({ code: 'InvalidPayload' });
  });
});

describe('the challenge of processor_b', () => {
  it('is answered with the public key and the digest', async () => {
    const bt_challenge = '20f9f8ed05f77439fe955c977e4c8a53';
    expect(await challenge({ bt_challenge })).toEqual({ messages: [], answer: signatureOf(bt_challenge) });
  });

  it.each([{}, { bt_challenge: '' }, { bt_challenge: 'zz' }, { bt_challenge: '20f9f8ed05f77439fe955c977e4c8a5<' }])(
    'is refused as %j',
    async (query) => {
      await expect(challenge(query)).rejects.toMatchObject({ code: 'Forbidden' });
    },
  );
});
