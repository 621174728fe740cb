import { ServiceError } from '../../shared/errors.ts';
import { withPlatform } from '../../shared/platform.ts';
import type { StoreValidation, ValidationRequest } from '../store.ts';
import type { StoreContext } from '../store-context.ts';
import { type Evidence, verifyEvidence } from './evidence.ts';
import { type LookupResult, lookUpToken } from './lookup.ts';
import { createPlayApi } from './play-api.ts';
import { fromSignedReceipt } from './receipt-observation.ts';
import { parseStoredSettings, type StoreBSettings } from './settings.ts';
import { startValidationBudget } from './validation-budget.ts';

/** Validates what a client of store_b sends: its purchase token, asked of Google. */
export async function validate(request: ValidationRequest, context: StoreContext): Promise<StoreValidation> {
  startValidationBudget(context);
  const settings = parseStoredSettings(context.settings);
  const evidence = verifyEvidence(request.transaction, settings);
  const { serviceAccount } = settings;
  if (!serviceAccount)
    return toValidation(
      request,
      validateReceiptOnly(evidence, request, { settings, now: context.now() }),
      signatureOnlyWarning,
    );
  const isSubscription = request.type === 'paid subscription' || request.type === 'application';
  const found = await lookUpToken(
    { token: evidence.purchaseToken, hints: request, productId: request.id, isSubscription },
    { play: createPlayApi({ ...settings, serviceAccount }, context), now: context.now() },
  );
  if (found === 'gone')
    throw new ServiceError('PurchaseExpired', 'Google Play keeps this purchase no more: it expired.');
  if (!found || found.observations.length === 0) throw unknownTokenError();
  return toValidation(request, found);
}

const signatureOnlyWarning =
  'No service account is set; the answer relies on the signed receipt alone and may miss renewals and refunds.';

function toValidation(
  request: ValidationRequest,
  { observations, nativeTransaction }: LookupResult,
  warning?: string,
): StoreValidation {
  const productId = withPlatform('store_b', request.id);
  const requested = observations.find(({ purchase }) => purchase.productId === productId);
  return {
    id: request.id,
    scope: 'product',
    observations,
    nativeTransaction,
    ineligibleForIntroPrice: observations
      .filter(({ transactions }) =>
        transactions.some(({ isTrialPeriod, isIntroPeriod }) => isTrialPeriod || isIntroPeriod),
      )
      .map(({ purchase }) => purchase.productId.slice('store_b:'.length)),
    ...(requested && { purchaseId: requested.purchase.purchaseId }),
    ...(warning && { warning }),
  };
}

function validateReceiptOnly(
  { signedReceipt }: Evidence,
  request: ValidationRequest,
  { settings, now }: { settings: StoreBSettings; now: number },
): LookupResult {
  if (!signedReceipt) {
    throw new ServiceError(
      'InvalidPayload',
      settings.licenseKey === undefined
        ? 'This application has neither a service account nor a licence key for store_b.'
        : 'Without a service account a purchase needs its receipt and signature.',
    );
  }
  return { observations: [fromSignedReceipt(signedReceipt, request, now)], nativeTransaction: { ...signedReceipt } };
}

const unknownTokenError = (): ServiceError =>
  new ServiceError('InvalidPayload', 'Google Play does not know this purchase token for this application.');
