import { describe, expect, it } from '@jest/globals';
import { dayMs } from '../../../../lib/foundation/time.ts';
import {
  buildAppTransactionPayload,
  buildRenewalPayload,
  buildTransactionPayload,
  purchaseDate,
} from '../../../../testing/apple-payloads.ts';
import { createPki } from '../../../../testing/apple-pki.ts';
import { signJws } from '../../../../testing/apple-signatures.ts';
import { applePki, createContext } from '../../../../testing/fake-apple.ts';
import {
  appReference,
  buildDelivery,
  buildPayload,
  buildPurchasePayload,
  buildRequest,
  receive,
} from './notification-fixture.ts';

const renewal = { type: 'DID_RENEW.BILLING_RECOVERY', status: 1, transaction: {}, renewal: {} };
const withData = (changes: object) => ({ data: { ...appReference, ...changes } });

describe('receive (App Store)', () => {
  it('returns a notification with the notificationUUID as key', async () => {
    const payload = buildPurchasePayload(renewal);
    const [notification] = await receive(buildDelivery(payload));
    expect(notification).toMatchObject({
      key: payload.notificationUUID,
      type: 'DID_RENEW.BILLING_RECOVERY',
      occurredAt: payload.signedDate,
      payload: { status: 1 },
    });
  });

  it('returns the same key for a repeated delivery', async () => {
    const payload = buildPurchasePayload(renewal);
    expect(await receive(buildDelivery(payload))).toMatchObject([{ key: payload.notificationUUID }]);
    expect(await receive(buildDelivery(payload))).toMatchObject([{ key: payload.notificationUUID }]);
  });

  it('returns a payload with the signed parts only, which fits a queue message', async () => {
    const [notification] = await receive(buildDelivery(buildPurchasePayload(renewal)));
    expect(Object.keys(notification?.payload ?? {}).sort()).toEqual(['renewal', 'status', 'transaction']);
    expect(JSON.stringify(notification).length).toBeLessThan(20_000);
  });

  it('does not call the App Store', async () => {
    // The default `fetch` of the context throws.
    const delivery = buildDelivery(buildPurchasePayload(renewal));
    await expect(receive(delivery, { settings: createContext().settings })).resolves.toHaveLength(1);
  });

  it.each([
    ['a summary', { summary: { ...appReference, productId: 'monthly', succeededCount: 5, failedCount: 2 } }],
    [
      'an external purchase token',
      { externalPurchaseToken: { ...appReference, environment: undefined, externalPurchaseId: 'SANDBOX_1' } },
    ],
    ['app data', { appData: { ...appReference, signedAppTransactionInfo: 'eyJ' } }],
    ['an unknown member', { somethingNew: appReference }],
    ['data without a purchase', { data: appReference }],
  ])('accepts a notification with %s', async (_title, content) => {
    const payload = { ...buildPayload('SOMETHING_NEW'), data: undefined, ...content };
    await expect(receive(buildDelivery(payload))).resolves.toMatchObject([{ type: 'SOMETHING_NEW', payload: {} }]);
  });

  it.each([
    ['an empty body', buildRequest('')],
    ['HTML', buildRequest('<html>')],
    ['a body without signedPayload', buildRequest({ unified_receipt: {}, notification_type: 'DID_RENEW' })],
    ['a signedPayload that is not a string', buildRequest({ signedPayload: buildPayload('TEST') })],
    ['a signedPayload that is not a JWS', buildRequest({ signedPayload: 'eyJhbGciOiJub25lIn0.e30.' })],
    ['a signature under an untrusted root', buildDelivery(buildPayload('TEST'), createPki())],
    ['a changed payload', buildRequest({ signedPayload: replacePayload(signJws(buildPayload('TEST'), applePki)) })],
    ['another bundleId', buildDelivery(buildPayload('TEST', withData({ bundleId: 'com.example.other' })))],
    ['another appAppleId', buildDelivery(buildPayload('TEST', withData({ appAppleId: 5 })))],
    [
      'another appAppleId without an environment',
      buildDelivery({
        ...buildPayload('EXTERNAL_PURCHASE_TOKEN', { data: undefined }),
        externalPurchaseToken: { externalPurchaseId: 'f1', bundleId: appReference.bundleId, appAppleId: 5 },
      }),
    ],
    ['a signed transaction of a customer', buildDelivery(buildTransactionPayload())],
    ['a signed renewal of a customer', buildDelivery(buildRenewalPayload())],
    ['a signed app download of a customer', buildDelivery(buildAppTransactionPayload())],
    ['a signed payload without notificationType', buildDelivery(buildPayload('TEST', { notificationType: undefined }))],
    ['the environment Xcode', buildDelivery(buildPayload('TEST', withData({ environment: 'Xcode' })))],
  ])('throws Forbidden for %s', async (_title, raw) => {
    await expect(receive(raw)).rejects.toMatchObject({ code: 'Forbidden', status: 403 });
  });

  it('accepts a sandbox notification without appAppleId', async () => {
    const data = { bundleId: appReference.bundleId, environment: 'Sandbox' };
    await expect(receive(buildDelivery(buildPayload('TEST', { data })))).resolves.toHaveLength(1);
  });

  it.each([
    ['no app', buildPayload('TEST', { data: {} })],
    ['no notificationUUID', buildPayload('TEST', { notificationUUID: undefined })],
    ['no signedDate', buildPayload('TEST', { signedDate: undefined })],
    [
      'a transaction under an untrusted root',
      buildPayload('REFUND', withData({ signedTransactionInfo: signJws(buildTransactionPayload(), createPki()) })),
    ],
    [
      'a transaction with another bundleId',
      buildPurchasePayload({ ...renewal, transaction: { bundleId: 'com.example.other' } }),
    ],
    [
      'a transaction from another environment',
      buildPurchasePayload({ ...renewal, transaction: { environment: 'Sandbox' } }),
    ],
    ['a renewal from another environment', buildPurchasePayload({ ...renewal, renewal: { environment: 'Sandbox' } })],
    [
      'a renewal as its transaction',
      buildPayload('REFUND', withData({ signedTransactionInfo: signJws(buildRenewalPayload(), applePki) })),
    ],
  ])('throws InvalidPayload for a signed notification with %s', async (_title, payload) => {
    await expect(receive(buildDelivery(payload))).rejects.toMatchObject({ code: 'InvalidPayload' });
  });

  it('throws InternalError if the settings are not valid', async () => {
    const delivery = buildDelivery(buildPayload('TEST'));
    await expect(receive(delivery, { settings: { bundleId: 5 } })).rejects.toMatchObject({ code: 'InternalError' });
  });

  it('accepts a notification whose signing certificate has expired since', async () => {
    const context = { now: () => purchaseDate + 20 * 365 * dayMs };
    await expect(receive(buildDelivery(buildPurchasePayload(renewal)), context)).resolves.toHaveLength(1);
  });
});

function replacePayload(jws: string): string {
  const [head, , signature] = jws.split('.');
  return [head, Buffer.from(JSON.stringify(buildPayload('TEST'))).toString('base64url'), signature].join('.');
}
