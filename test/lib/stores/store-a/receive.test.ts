import { describe, expect, it } from '@jest/globals';
import { buildRenewalPayload, buildTransactionPayload, purchaseDate } from '../../../../testing/apple-payloads.ts';
import { createPki } from '../../../../testing/apple-pki.ts';
import { signJws } from '../../../../testing/apple-signatures.ts';
import { applePki, createContext } from '../../../../testing/fake-apple.ts';
import { about, notificationOf, payloadOf, posted, received, sent } from './notification-fixture.ts';

const renewed = { type: 'DID_RENEW.BILLING_RECOVERY', status: 1, transaction: {}, renewal: {} };
const data = (changes: object) => ({ data: { ...about, ...changes } });
const foreign = (changes: object) => payloadOf('TEST', data(changes));

describe('a notification of store_a', () => {
  it('becomes a message under the number that Apple keeps through its retries', async () => {
    const payload = notificationOf(renewed);
    const [message] = await received(sent(payload));
    expect(message).toMatchObject({
      key: payload.notificationUUID,
      type: 'DID_RENEW.BILLING_RECOVERY',
      at: payload.signedDate,
      content: { status: 1 },
    });
    expect(await received(sent(payload))).toMatchObject([{ key: payload.notificationUUID }]);
  });

  it('leaves the application out of its message, and fits a queue', async () => {
    const [message] = await received(sent(notificationOf(renewed)));
    expect(Object.keys(message?.payload ?? {}).sort()).toEqual(['renewal', 'status', 'transaction']);
    expect(JSON.stringify(message).length).toBeLessThan(20_000);
  });

  it('is received without a call to Apple', async () => {
    // The fetch of `asking` reaches nobody.
    await expect(received(sent(notificationOf(renewed)), { settings: createContext().settings })).resolves.toHaveLength(
      1,
    );
  });

  it.each([
    ['a summary', { summary: { ...about, productId: 'monthly', succeededCount: 5, failedCount: 2 } }],
    [
      'a token of another payment',
      { externalPurchaseToken: { ...about, environment: undefined, externalPurchaseId: 'SANDBOX_1' } },
    ],
    ['data of the application', { appData: { ...about, signedAppTransactionInfo: 'eyJ' } }],
    ['something that is not known yet', { somethingNew: about }],
    ['data without a purchase', { data: about }],
  ])('may hold %s', async (_what, content) => {
    const payload = { ...payloadOf('SOMETHING_NEW'), data: undefined, ...content };
    await expect(received(sent(payload))).resolves.toMatchObject([{ type: 'SOMETHING_NEW', content: {} }]);
  });

  it.each([
    ['nothing', posted('')],
    ['no JSON', posted('<html>')],
    ['no signedPayload', posted({ unified_receipt: {}, notification_type: 'DID_RENEW' })],
    ['a payload that is no text', posted({ signedPayload: payloadOf('TEST') })],
    ['no JWS', posted({ signedPayload: 'eyJhbGciOiJub25lIn0.e30.' })],
    ['the signature of another', sent(payloadOf('TEST'), createPki())],
    ['a changed content', posted({ signedPayload: forged(signJws(payloadOf('TEST'), applePki)) })],
    ['another bundle', sent(foreign({ bundleId: 'com.example.other' }))],
    ['another number in the App Store', sent(foreign({ appAppleId: 5 }))],
    ['the environment of a developer', sent(foreign({ environment: 'Xcode' }))],
  ])('is refused with %s', async (_what, raw) => {
    await expect(received(raw)).rejects.toMatchObject({ code: 'Forbidden', status: 403 });
  });

  it('of the sandbox needs no number', async () => {
    const payload = payloadOf('TEST', { data: { bundleId: about.bundleId, environment: 'Sandbox' } });
    await expect(received(sent(payload))).resolves.toHaveLength(1);
  });

  it.each([
    ['of no application', payloadOf('TEST', { data: {} })],
    ['without a number', payloadOf('TEST', { notificationUUID: undefined })],
    ['without a type', payloadOf('TEST', { notificationType: undefined })],
    ['without a date', payloadOf('TEST', { signedDate: undefined })],
    ['that is a transaction', buildTransactionPayload()],
    [
      'with a transaction that Apple did not sign',
      payloadOf('REFUND', data({ signedTransactionInfo: signJws(buildTransactionPayload(), createPki()) })),
    ],
    [
      'with a transaction of another application',
      notificationOf({ ...renewed, transaction: { bundleId: 'com.example.other' } }),
    ],
    [
      'with a transaction of another environment',
      notificationOf({ ...renewed, transaction: { environment: 'Sandbox' } }),
    ],
    ['with a renewal of another environment', notificationOf({ ...renewed, renewal: { environment: 'Sandbox' } })],
    [
      'with a renewal for a transaction',
      payloadOf('REFUND', data({ signedTransactionInfo: signJws(buildRenewalPayload(), applePki) })),
    ],
  ])('that Apple signed can never be understood %s', async (_what, payload) => {
    await expect(received(sent(payload))).rejects.toMatchObject({ code: 'InvalidPayload' });
  });

  it('is asked for again while the settings are unusable', async () => {
    await expect(received(sent(payloadOf('TEST')), { settings: { bundleId: 5 } })).rejects.toMatchObject({
      code: 'InternalError',
    });
  });

  it('may be signed long before it is delivered, by a leaf that has expired since', async () => {
    const late = { now: () => purchaseDate + 20 * 365 * 86_400_000 };
    await expect(received(sent(notificationOf(renewed)), late)).resolves.toHaveLength(1);
  });
});

function forged(jws: string): string {
  const [head, , signature] = jws.split('.');
  return [head, Buffer.from(JSON.stringify(payloadOf('TEST'))).toString('base64url'), signature].join('.');
}
