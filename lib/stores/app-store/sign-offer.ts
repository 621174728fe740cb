import { createPrivateKey, randomUUID, sign } from 'node:crypto';
import { SignJWT } from 'jose';
import { ServiceError } from '../../foundation/errors.ts';
import { type EpochMillis, secondMs } from '../../foundation/time.ts';
import { toUserUuid } from '../../purchases/user-aliases.ts';
import { importPrivateKey } from './api-token.ts';
import type { OfferRule } from './offer-rule.ts';
import { type ApiKey, type AppStoreSettings, getApiKey } from './settings.ts';

/** A signed offer for StoreKit. */
export interface OfferSignature {
  readonly keyId: string;
  readonly signature: string;
  readonly nonce: string;
  readonly timestamp: EpochMillis;
  /** Only of the first version: the app passes the same token to StoreKit. */
  readonly appAccountToken?: string;
}

interface OfferContext {
  readonly settings: AppStoreSettings;
  readonly username: string;
  /** A transaction of the customer, or the app transaction. */
  readonly transactionId?: string | undefined;
  readonly now: EpochMillis;
}

/** Signs an offer with the In-App Purchase key of the settings. Throws `InternalError` without a key. */
export async function signOffer(rule: OfferRule, context: OfferContext): Promise<OfferSignature> {
  const key = getApiKey(context.settings);
  if (!key) throw new ServiceError('InternalError', 'The store_a settings contain no key, which signs offers.');
  if (rule.kind === 'promotional-v1') return signFirstVersion(rule, key, context);
  const nonce = randomUUID();
  const timestamp = Math.floor(context.now / secondMs) * secondMs;
  const { audience, claims } = buildClaims(rule, context);
  // Apple rejects a signature with an expiration.
  // https://developer.apple.com/documentation/storekit/generating-jws-to-sign-app-store-requests
  const signature = await new SignJWT({ bid: context.settings.bundleId, nonce, ...claims })
    .setProtectedHeader({ alg: 'ES256', kid: key.keyId, typ: 'JWT' })
    .setIssuer(key.issuerId)
    .setIssuedAt(timestamp / secondMs)
    .setAudience(audience)
    .sign(await importPrivateKey(key.privateKey));
  return { keyId: key.keyId, signature, nonce, timestamp };
}

function buildClaims(
  rule: Exclude<OfferRule, { readonly kind: 'promotional-v1' }>,
  { username, transactionId }: OfferContext,
): { readonly audience: string; readonly claims: Readonly<Record<string, unknown>> } {
  const common = { productId: rule.productId, ...(transactionId !== undefined && { transactionId }) };
  switch (rule.kind) {
    case 'promotional':
      return { audience: 'promotional-offer', claims: { ...common, offerIdentifier: rule.offerId } };
    case 'introductory':
      return { audience: 'introductory-offer-eligibility', claims: { ...common, allowIntroductoryOffer: true } };
    default: {
      const requestInfo = { requestReferenceId: randomUUID(), appAccountToken: toUserUuid(username) };
      const request = Buffer.from(JSON.stringify({ ...rule.request, requestInfo })).toString('base64');
      return { audience: 'advanced-commerce-api', claims: { request } };
    }
  }
}

/** Separates the parts of the first version. */
const separator = '\u2063';

/**
 * Signs a promotional offer for the first version of StoreKit. The signature is valid for 24 hours.
 * @see https://developer.apple.com/documentation/storekit/generating-a-signature-for-promotional-offers
 */
function signFirstVersion(
  { productId, offerId }: Extract<OfferRule, { readonly kind: 'promotional-v1' }>,
  { keyId, privateKey }: ApiKey,
  { settings: { bundleId }, username, now }: OfferContext,
): OfferSignature {
  const nonce = randomUUID();
  const appAccountToken = toUserUuid(username);
  const text = [bundleId, keyId, productId, offerId, appAccountToken, nonce, String(now)].join(separator);
  const signature = sign('sha256', Buffer.from(text), createPrivateKey(privateKey)).toString('base64');
  return { keyId, signature, nonce, timestamp: now, appAccountToken };
}
