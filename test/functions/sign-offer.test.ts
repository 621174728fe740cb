import { createPublicKey, verify } from 'node:crypto';
import {
  AdvancedCommerceInAppSignatureCreator,
  IntroductoryOfferEligibilitySignatureCreator,
  PromotionalOfferSignatureCreator,
  PromotionalOfferV2SignatureCreator,
} from '@apple/app-store-server-library';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { decodeJwt, decodeProtectedHeader, importPKCS8, jwtVerify } from 'jose';
import { changeSettings, type IssuedApiKeys } from '../../lib/apps/manage-apps.ts';
import { findStoreSettings, setStoreSettings } from '../../lib/apps/store-settings-table.ts';
import { createCheckout } from '../../lib/checkout/contract.ts';
import { findRawEvent } from '../../lib/events/event-table.ts';
import { getService } from '../../lib/foundation/get-service.ts';
import { signOffer } from '../../lib/offers/contract.ts';
import { callWithPublicKey, callWithSecretKey } from '../../testing/call.ts';
import { createUniqueName } from '../../testing/given.ts';
import { startTestService } from '../../testing/service.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';
import { checkoutUrls, createStripeClient } from './checkout-fixture.ts';
import { findEvents } from './event-fixture.ts';

const service = startBeforeAll(startTestService);
let keys: IssuedApiKeys;
let settings: Readonly<Record<string, string>>;
const productId = 'premium';
const offers = [
  { kind: 'promotional', productId, offerId: 'winback', who: 'lapsed' },
  { kind: 'promotional', productId, offerId: 'hello' },
  { kind: 'promotional-v1', productId, offerId: 'hello' },
  { kind: 'introductory', productId, who: 'never-had-it' },
  {
    kind: 'advanced-commerce',
    productId,
    offerId: 'course',
    request: {
      operation: 'CREATE_ONE_TIME_CHARGE',
      version: '1',
      currency: 'USD',
      storefront: 'USA',
      taxCode: 'C003-00-2',
    },
  },
];

beforeAll(async () => {
  keys = await service.createApp(['store_a'], { offers });
  settings = (await findStoreSettings(getService(), keys.appName, 'store_a')) as typeof settings;
});

const hello = { kind: 'promotional', productId, offerId: 'hello' };
const createUser = () => createUniqueName('user');
const sign = async (body: object, applicationUsername = createUser()) =>
  await callWithSecretKey(signOffer, keys, { body: { applicationUsername, ...body } });
const signPublicly = async (body: object) => await callWithPublicKey(signOffer, keys, { body });
const buy = async (applicationUsername: string, order: object = {}, app = keys) => {
  const bought = await service.callControl('/purchases', {
    platform: 'store_a',
    productId,
    type: 'paid subscription',
    applicationUsername,
    ...order,
  });
  await service.validate(app, bought.validate);
  return bought;
};

/** Arguments of the constructors of Apple's library. */
const getKey = (): [string, string, string, string] => {
  const { privateKey = '', keyId = '', issuerId = '', bundleId = '' } = settings;
  return [privateKey, keyId, issuerId, bundleId];
};
const omitVarying = ({ iat: _iat, nonce: _nonce, ...claims }: Readonly<Record<string, unknown>>) => claims;

describe('POST /v3/store_a/offers/sign', () => {
  it.each([
    [hello, () => new PromotionalOfferV2SignatureCreator(...getKey()).createSignature(productId, 'hello', '41')],
    [
      { kind: 'introductory', productId },
      () => new IntroductoryOfferEligibilitySignatureCreator(...getKey()).createSignature(productId, true, '41'),
    ],
  ])("signs the same claims as Apple's library: %o", async (offer, createOfApple) => {
    const { status, body } = await sign({ ...offer, transactionId: '41' });
    expect(status).toBe(200);
    const ofApple = createOfApple();
    expect(decodeProtectedHeader(body.signature)).toEqual(decodeProtectedHeader(ofApple));
    const claims = decodeJwt(body.signature);
    expect(omitVarying(claims)).toEqual(omitVarying(decodeJwt(ofApple)));
    expect(claims).toMatchObject({ nonce: body.nonce, iat: body.timestamp / 1000 });
    const key = createPublicKey(settings.privateKey ?? '');
    await expect(jwtVerify(body.signature, key)).resolves.toBeDefined();
    await expect(importPKCS8(settings.privateKey ?? '', 'ES256')).resolves.toBeDefined();
  });

  it("signs an Advanced Commerce request of the settings like Apple's library", async () => {
    const user = createUser();
    const { body } = await sign({ kind: 'advanced-commerce', productId, offerId: 'course' }, user);
    const claims = decodeJwt(body.signature);
    const request = JSON.parse(Buffer.from(String(claims.request), 'base64').toString());
    expect(request).toMatchObject({
      operation: 'CREATE_ONE_TIME_CHARGE',
      requestInfo: { requestReferenceId: expect.any(String), appAccountToken: expect.any(String) },
    });
    const ofApple = decodeJwt(new AdvancedCommerceInAppSignatureCreator(...getKey()).createSignature(request));
    expect(omitVarying(claims)).toEqual(omitVarying(ofApple));
  });

  it("signs the text of the first version that Apple's library signs", async () => {
    const { body } = await sign({ ...hello, kind: 'promotional-v1' });
    const [privateKey, keyId, , bundleId] = getKey();
    const { nonce, timestamp, appAccountToken, signature } = body;
    const ofApple = new PromotionalOfferSignatureCreator(privateKey, keyId, bundleId);
    const text = [bundleId, keyId, productId, 'hello', appAccountToken, nonce, timestamp].join('\u2063');
    for (const value of [signature, ofApple.createSignature(productId, 'hello', appAccountToken, nonce, timestamp)])
      expect(verify('sha256', Buffer.from(text), createPublicKey(privateKey), Buffer.from(value, 'base64'))).toBe(true);
  });

  it('signs what the device accepts once, for its own product and offer only', async () => {
    const user = createUser();
    const { body } = await sign(hello, user);
    const signedOffer = { kind: 'promotional', offerId: 'hello', signature: body.signature };
    const order = { platform: 'store_a', productId, type: 'paid subscription' };
    const place = async (changes: object) =>
      await service.callControl('/purchases', { ...order, applicationUsername: createUser(), ...changes });
    await expect(place({ signedOffer: { ...signedOffer, offerId: 'other' } })).rejects.toThrow(/different offer/);
    await expect(place({ signedOffer, productId: 'gold' })).rejects.toThrow(/different product/);
    const forged = `${body.signature.slice(0, -6)}AAAAAA`;
    await expect(place({ signedOffer: { ...signedOffer, signature: forged } })).rejects.toThrow(/not valid/);
    await place({ signedOffer });
    await expect(place({ signedOffer })).rejects.toThrow(/nonce was used/);
    const { kind, keyId, nonce, timestamp, appAccountToken, signature } = (
      await sign({ ...hello, kind: 'promotional-v1' })
    ).body;
    const first = { kind, keyId, nonce, timestamp, appAccountToken, signature, offerId: 'hello' };
    await expect(place({ signedOffer: { ...first, timestamp: timestamp + 1 } })).rejects.toThrow(/does not match/);
    await place({ signedOffer: first });
  });

  it('signs for customers who meet the condition only', async () => {
    const winback = { kind: 'promotional', productId, offerId: 'winback' };
    const user = createUser();
    expect(await sign(winback, user)).toMatchObject({
      status: 403,
      body: { message: expect.stringContaining('lapsed') },
    });
    const { id } = await buy(user);
    expect((await sign(winback, user)).status).toBe(403);
    expect((await sign({ kind: 'introductory', productId, transactionId: id }, user)).status).toBe(403);
    const lapsed = createUser();
    const ended = await buy(lapsed);
    await service.callControl(`/purchases/${ended.id}/expire`, {});
    await service.validate(keys, (await service.callControl(`/purchases/${ended.id}`)).validate);
    expect((await sign(winback, lapsed)).status).toBe(200);
  });

  it('rejects an offer that the settings do not list, and a transaction of a different customer', async () => {
    expect(await sign({ ...hello, offerId: 'other' })).toMatchObject({ status: 400 });
    expect(await sign({ kind: 'introductory', productId })).toMatchObject({ status: 400 });
    const { id } = await buy(createUser());
    expect(await sign({ ...hello, transactionId: id })).toMatchObject({
      status: 403,
      body: { message: 'transactionId is of a different customer.' },
    });
  });

  it('requires a validation of the last hour with the public key', async () => {
    const user = createUser();
    const request = { ...hello, applicationUsername: user };
    expect(await signPublicly(request)).toMatchObject({ status: 403, body: { code: 'Forbidden' } });
    await buy(user);
    expect((await signPublicly(request)).status).toBe(200);
    expect((await signPublicly({ ...request, applicationUsername: createUser() })).status).toBe(403);
    await service.callControl('/clock', { advance: 'PT2H' });
    expect((await signPublicly(request)).status).toBe(403);
  });

  it('signs with the public key for the first customer of a receipt only, if all who validate it are entitled', async () => {
    const [owner, other, invented] = [createUser(), createUser(), createUser()];
    const { validate } = await buy(owner);
    await buy(other);
    for (const applicationUsername of [other, invented])
      await service.validate(keys, { ...validate, additionalData: { applicationUsername } });
    expect((await signPublicly({ ...hello, applicationUsername: owner })).status).toBe(200);
    expect(await signPublicly({ ...hello, applicationUsername: invented })).toMatchObject({ status: 403 });
    // Their own purchase.
    expect((await signPublicly({ ...hello, applicationUsername: other })).status).toBe(200);
  });

  it('limits the signatures of a receipt that changes its customer', async () => {
    const moving = await service.createApp(['store_a'], { offers });
    await changeSettings(getService(), moving.appName, { strategy: 'last' });
    const [first, next] = [createUser(), createUser()];
    const { validate } = await buy(first, {}, moving);
    const signFor = async (applicationUsername: string) =>
      (await callWithPublicKey(signOffer, moving, { body: { ...hello, applicationUsername } })).status;
    for (let count = 0; count < 20; count++) expect(await signFor(first)).toBe(200);
    await service.validate(moving, { ...validate, additionalData: { applicationUsername: next } });
    expect(await signFor(next)).toBe(429);
    expect(await signFor(first)).toBe(403);
    await service.callControl('/clock', { advance: 'PT3M' });
    expect(await signFor(next)).toBe(200);
    expect(await signFor(next)).toBe(429);
  });

  it("accepts the customer's access token with the public key", async () => {
    await setStoreSettings(
      getService(),
      keys.appName,
      'processor_a',
      await service.callControl('/settings/processor_a'),
    );
    const stripe = await createStripeClient(service, keys.appName, 'processor_a');
    const product = await stripe.products.create({ name: 'Web' });
    const price = await stripe.prices.create({
      product: product.id,
      unit_amount: 499,
      currency: 'usd',
      recurring: { interval: 'month' },
    });
    const user = createUser();
    const offerId = `processor_a:${product.id}#${price.id}`;
    const { body } = await callWithPublicKey(createCheckout, keys, {
      body: { offerId, applicationUsername: user, ...checkoutUrls },
    });
    const { accessToken, sessionId } = body;
    const request = { ...hello, applicationUsername: user, accessToken };
    // The token grants nothing before the payment.
    expect((await signPublicly(request)).status).toBe(403);
    await service.callControl(`/checkouts/${sessionId}/pay`, {});
    expect((await signPublicly(request)).status).toBe(200);
    expect((await signPublicly({ ...request, applicationUsername: createUser() })).status).toBe(403);
    expect((await signPublicly({ ...request, accessToken: `${accessToken}x` })).status).toBe(403);
  });

  it('limits the signatures of a customer, and records each without its signature', async () => {
    const user = createUser();
    const statuses: number[] = [];
    for (let count = 0; count < 21; count++) statuses.push((await sign(hello, user)).status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(20);
    expect(statuses.at(-1)).toBe(429);
    expect((await sign(hello)).status).toBe(200);
    const [event] = await findEvents(keys, user);
    expect(event.context).toMatchObject({ eventType: 'offer.signed', applicationUsername: user });
    const events = await findEvents(keys, user);
    const raw = JSON.stringify(await findRawEvent(getService(), keys.appName, events.at(-1).eventId));
    expect(raw).toContain('promotional');
    expect(raw).not.toContain('eyJ');
  });
});
