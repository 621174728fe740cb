import * as v from 'valibot';
import { ServiceError } from '../foundation/errors.ts';
import { type Platform, platformTokens, withoutPlatform, withPlatform } from '../foundation/platform.ts';
import type { Purchase } from '../purchases/purchase.ts';
import type { ValidationRequest } from '../stores/store.ts';
import type { VerifyPurchaseBody } from './contract.ts';

/** A verification in the form for store adapters. */
export interface VerificationRequest {
  readonly platform: Platform;
  readonly request: ValidationRequest;
  /** Named by the evidence. */
  readonly purchaseId: string;
}

/** The members of a signed transaction that select the purchase. The store adapter verifies them. */
const SignedTransaction = v.looseObject({ productId: v.string(), originalTransactionId: v.string() });

/**
 * Converts a verification. The evidence of clients does not name the product: it is read from the signed transaction,
 * or from the stored purchase of the token. The type is only used if the store reports none. Throws `InvalidPayload`
 * for a JWS that is not a transaction.
 */
export async function toVerificationRequest(
  body: VerifyPurchaseBody,
  findPurchase: (purchaseId: string) => Promise<Purchase | undefined>,
): Promise<VerificationRequest> {
  const type = 'paid subscription';
  if (body.store === 'apple') {
    const { productId: id, originalTransactionId } = parseSignedTransaction(body.jws);
    return {
      platform: platformTokens.appStore,
      request: { id, type, transaction: { type: 'store_a-signed', jwsRepresentation: body.jws } },
      purchaseId: withPlatform(platformTokens.appStore, originalTransactionId),
    };
  }
  const { purchaseToken } = body;
  const purchaseId = withPlatform(platformTokens.googlePlay, purchaseToken);
  const stored = await findPurchase(purchaseId);
  return {
    platform: platformTokens.googlePlay,
    request: {
      id: stored ? withoutPlatform(stored.productId) : '',
      type,
      transaction: { type: 'android-store', purchaseToken },
    },
    purchaseId,
  };
}

function parseSignedTransaction(jws: string): v.InferOutput<typeof SignedTransaction> {
  const [, payload = ''] = jws.split('.');
  const text = Buffer.from(payload, 'base64url').toString('utf8');
  const result = v.safeParse(v.pipe(v.string(), v.parseJson(), SignedTransaction), text);
  if (result.success) return result.output;
  throw new ServiceError('InvalidPayload', 'jws: expected a signed transaction of StoreKit 2.');
}
