import { findCachedCatalogue } from '../apps/catalogue-table.ts';
import { ServiceError } from '../foundation/errors.ts';
import { omitUndefined } from '../foundation/omit-undefined.ts';
import { platformTokens, withoutPlatform } from '../foundation/platform.ts';
import { isExpired, type Purchase } from '../purchases/purchase.ts';
import { findPurchase, listTransactionsOfPurchases } from '../purchases/purchase-table.ts';
import type { EntitledPurchase } from '../purchases/stored-purchase.ts';
import { processValidation, type ValidationContext } from '../validation/process-validation.ts';
import type { ValidationOutcome } from '../validation/validation-outcome.ts';
import type { OpenIapState, PurchaseVerification, VerifyPurchaseBody } from './contract.ts';
import { isValidState, toOpenIapState } from './openiap-state.ts';
import { toVerificationRequest, type VerificationRequest } from './to-validation-request.ts';

interface VerificationContext extends ValidationContext {
  /** The customer who claims the purchase. Without it, the purchase is recorded without a claim. */
  readonly username: string | undefined;
}

/**
 * Verifies a purchase like `POST /v1/validate` and returns its state. Evidence that the store rejects, another product
 * and another customer's purchase are results, so that clients do not retry. Throws `InvalidPayload` for malformed
 * evidence, and the errors of `Store.validate` that do not decide about the purchase.
 */
export async function verifyForOpenIap(
  context: VerificationContext,
  body: VerifyPurchaseBody,
): Promise<PurchaseVerification> {
  const { app, recorder, service, username } = context;
  const verification = await toVerificationRequest(
    body,
    async (purchaseId) => (await findPurchase(service, app.name, purchaseId))?.purchase,
  );
  const outcome = await tryValidate(context, verification);
  if (typeof outcome === 'string') return buildVerification(body.store, outcome);
  const entitled = selectPurchase(outcome, verification, body.expectedProductId);
  if (!entitled) return buildVerification(body.store, 'INAUTHENTIC');
  const { purchase, entitledUsers } = entitled;
  const productId = withoutPlatform(purchase.productId);
  recorder.addContent({ products: [{ id: productId }] });
  const now = service.now();
  const state = toOpenIapState(purchase, {
    now,
    catalogue: await findCachedCatalogue(service, app.name),
    isRefunded: isExpired(purchase, now) && (await hasRefund(context, purchase)),
  });
  const isForeign =
    (body.expectedProductId ?? productId) !== productId ||
    (username !== undefined && isValidState(state) && !entitledUsers.includes(username));
  return {
    ...buildVerification(body.store, isForeign ? 'INAUTHENTIC' : state),
    productId,
    environment: purchase.sandbox ? 'Sandbox' : 'Production',
  };
}

async function hasRefund(
  { app, service }: VerificationContext,
  { purchaseId, transactionId }: Purchase,
): Promise<boolean> {
  const transactions = await listTransactionsOfPurchases(service, app.name, [purchaseId]);
  return transactions.some((item) => item.transactionId === transactionId && item.refundedAt !== undefined);
}

const buildVerification = (store: VerifyPurchaseBody['store'], state: OpenIapState): PurchaseVerification => ({
  store,
  isValid: isValidState(state),
  state,
});

/**
 * Validates the evidence. Returns the state if the store rejects it. Google Play deletes the tokens of old purchases.
 */
async function tryValidate(
  context: VerificationContext,
  { platform, request }: VerificationRequest,
): Promise<ValidationOutcome | OpenIapState> {
  const { username: applicationUsername } = context;
  try {
    return await processValidation(
      {
        ...context,
        // Without a query, Google Play accepts only signed receipts, which OpenIAP clients do not send.
        requiresQuery: platform === platformTokens.googlePlay,
      },
      { ...request, ...omitUndefined({ applicationUsername }) },
      platform,
    );
  } catch (error) {
    const code = error instanceof ServiceError ? error.code : undefined;
    if (code === 'InvalidPayload') return 'INAUTHENTIC';
    if (code === 'PurchaseExpired') return 'UNKNOWN';
    throw error;
  }
}

/** Finds the purchase of the evidence. A token of Google Play can have further purchases, one for each product. */
function selectPurchase(
  { purchases, requestedPurchase }: ValidationOutcome,
  { purchaseId }: VerificationRequest,
  expectedProductId: string | undefined,
): EntitledPurchase | undefined {
  const candidates = requestedPurchase ? [...purchases, requestedPurchase] : purchases;
  const own = candidates.filter(
    ({ purchase }) => purchase.purchaseId === purchaseId || purchase.purchaseId.startsWith(`${purchaseId}:`),
  );
  return own.find(({ purchase }) => withoutPlatform(purchase.productId) === expectedProductId) ?? own[0];
}
