import { createPublicKey, verify } from 'node:crypto';
import * as v from 'valibot';
import { controlError } from '../control-error.ts';
import { verifyJwt } from '../crypto/jwt.ts';
import type { PurchaseOrder } from '../purchase-order.ts';
import { app } from './app.ts';
import type { Keys } from './keys.ts';

type SignedOffer = NonNullable<PurchaseOrder['signedOffer']>;

const Json = v.pipe(v.string(), v.parseJson());
const Header = v.pipe(Json, v.object({ alg: v.literal('ES256'), kid: v.string(), typ: v.literal('JWT') }));
const Claims = v.pipe(
  Json,
  v.looseObject({
    iss: v.string(),
    iat: v.pipe(v.number(), v.integer()),
    aud: v.string(),
    bid: v.string(),
    nonce: v.pipe(v.string(), v.uuid()),
    exp: v.optional(v.undefined()),
  }),
);
type Claims = v.InferOutput<typeof Claims>;

/** Claims of each kind, by its audience. */
const kinds = {
  promotional: {
    aud: 'promotional-offer',
    schema: v.looseObject({ productId: v.string(), offerIdentifier: v.string() }),
  },
  introductory: {
    aud: 'introductory-offer-eligibility',
    schema: v.looseObject({ productId: v.string(), allowIntroductoryOffer: v.boolean(), transactionId: v.string() }),
  },
  'advanced-commerce': { aud: 'advanced-commerce-api', schema: v.looseObject({ request: v.string() }) },
} as const;

const AdvancedRequest = v.pipe(
  Json,
  v.looseObject({
    operation: v.string(),
    version: v.string(),
    requestInfo: v.looseObject({ requestReferenceId: v.pipe(v.string(), v.uuid()) }),
  }),
);

const maxAgeMs = 24 * 60 * 60 * 1000;
const separator = '\u2063';

/** Verifies offers on the device. A nonce is accepted once. */
export interface OfferVerifier {
  /** Throws 422 for an order whose signed offer is not valid. */
  verify(order: PurchaseOrder, now: number): void;
}

/**
 * Creates the check that StoreKit makes of a signed offer.
 *
 * @see https://developer.apple.com/documentation/storekit/generating-jws-to-sign-app-store-requests
 * @see https://developer.apple.com/documentation/storekit/generating-a-signature-for-promotional-offers
 */
export function createOfferVerifier(keys: Keys): OfferVerifier {
  const usedNonces = new Set<string>();
  return {
    verify({ signedOffer: offer, productId }, now) {
      if (offer === undefined) return;
      const nonce =
        offer.kind === 'promotional-v1'
          ? verifyFirstVersion(offer, { productId, keys, now })
          : verifyJws(offer, productId, keys);
      if (usedNonces.has(nonce)) throw invalidOffer('its nonce was used before');
      usedNonces.add(nonce);
    },
  };
}

const invalidOffer = (problem: string): Error =>
  controlError(422, `signedOffer: the signature is not valid: ${problem}.`);

function verifyJws({ kind, signature, offerId }: SignedOffer, productId: string, keys: Keys): string {
  if (kind === 'promotional-v1') throw invalidOffer('it is not a JWS');
  const jwt = verifyJwt(signature, keys.apiPrivateKey);
  const header = v.safeParse(Header, jwt?.header);
  const claims = v.safeParse(Claims, jwt?.payload);
  if (!header.success || !claims.success) throw invalidOffer('it is not a JWS of the key, or lacks a claim');
  const { aud, schema } = kinds[kind];
  const { output } = claims;
  const isOfApp = output.iss === keys.issuerId && output.bid === app.bundleId && header.output.kid === keys.keyId;
  if (!isOfApp) throw invalidOffer('it is for a different app or key');
  if (output.aud !== aud || !v.is(schema, output)) throw invalidOffer(`its claims are not those for ${aud}`);
  requireMatch(output, { kind, productId, offerId });
  return output.nonce;
}

function requireMatch(
  claims: Claims,
  {
    kind,
    productId,
    offerId,
  }: { readonly kind: SignedOffer['kind']; readonly productId: string; readonly offerId: string | undefined },
): void {
  if (kind === 'advanced-commerce') {
    const request = Buffer.from(String(claims.request), 'base64').toString('utf8');
    if (!v.is(AdvancedRequest, request)) throw invalidOffer('its request is not valid');
    return;
  }
  if (claims.productId !== productId) throw invalidOffer('it is for a different product');
  if (kind === 'promotional' && claims.offerIdentifier !== offerId) throw invalidOffer('it is for a different offer');
  if (kind === 'introductory' && claims.allowIntroductoryOffer !== true)
    throw invalidOffer('it does not allow the introductory offer');
}

/** Verifies the signature of the first version, which is valid for 24 hours. */
function verifyFirstVersion(
  offer: SignedOffer,
  { productId, keys, now }: { readonly productId: string; readonly keys: Keys; readonly now: number },
): string {
  const { signature, offerId = '', keyId = '', nonce = '', timestamp = 0, appAccountToken = '' } = offer;
  const token = appAccountToken.toLowerCase();
  const parts = [app.bundleId, keyId, productId, offerId, token, nonce.toLowerCase(), String(timestamp)];
  const key = createPublicKey(keys.apiPrivateKey);
  const isAuthentic = verify('sha256', Buffer.from(parts.join(separator)), key, Buffer.from(signature, 'base64'));
  if (!isAuthentic || keyId !== keys.keyId) throw invalidOffer('it does not match its parts');
  if (Math.abs(now - timestamp) > maxAgeMs) throw invalidOffer('it is older than 24 hours');
  return nonce;
}
