import { ServiceError } from '../../foundation/errors.ts';
import { platformTokens, withoutPlatform, withPlatform } from '../../foundation/platform.ts';
import type { EpochMillis } from '../../foundation/time.ts';
import type { StoreValidation, ValidationRequest } from '../store.ts';
import type { StoreContext } from '../store-context.ts';
import { startFulfillDeadline } from '../time-budget.ts';
import { type Evidence, verifyEvidence } from './evidence.ts';
import { markForFulfillment } from './fulfill.ts';
import { type LookupResult, lookUpToken, type MissingKind } from './lookup.ts';
import { observeDeletion } from './missing-token.ts';
import { planConsumption } from './plan-consumption.ts';
import { createPlayApi } from './play-api.ts';
import { fromSignedReceipt } from './receipt-observation.ts';
import { type GooglePlaySettings, parseStoredSettings } from './settings.ts';

const signatureOnlyWarning =
  'serviceAccount is missing in the store_b settings. The result relies on the signed receipt and may lack renewals and refunds.';

/** Validates a purchase token by a query of Google Play, or a signed receipt if the settings lack a service account. */
export async function validate(request: ValidationRequest, context: StoreContext): Promise<StoreValidation> {
  const fulfillDeadline = startFulfillDeadline(context.stopwatch);
  const settings = parseStoredSettings(context.settings);
  if (context.requiresQuery && !settings.serviceAccount) throw missingServiceAccountError();
  const evidence = verifyEvidence(request.transaction, settings);
  const { serviceAccount } = settings;
  if (!serviceAccount) {
    const result = validateReceiptOnly(evidence, request, { settings, now: context.now() });
    return { ...toValidation(request, result), fulfillDeadline, warning: signatureOnlyWarning };
  }
  const play = createPlayApi({ ...settings, serviceAccount }, context);
  const isSubscription = request.type === 'paid subscription' || request.type === 'application';
  const result = await lookUpToken(
    { token: evidence.purchaseToken, hints: request, productId: request.id, isSubscription },
    { play, now: context.now(), storedData: context },
  );
  if (typeof result === 'string') return await rejectMissing(result, { request, evidence, context });
  if (result.observations.length === 0) throw unknownTokenError();
  const observations = markForFulfillment(result.observations, settings, context.now());
  const validation = toValidation(request, { ...result, observations });
  const planned = await planConsumption(validation, request, { settings, context });
  return { ...planned, fulfillDeadline, clientConsumes: request.type === 'consumable' };
}

interface MissingEvidence {
  readonly request: ValidationRequest;
  readonly evidence: Evidence;
  readonly context: StoreContext;
}

/** Returns the deletion of a stored subscription, which makes the response PurchaseExpired. Otherwise throws. */
async function rejectMissing(
  missing: MissingKind,
  { request, evidence: { purchaseToken: token }, context }: MissingEvidence,
): Promise<StoreValidation> {
  const observations =
    missing === 'invalid' ? [] : await observeDeletion({ token, now: context.now(), storedData: context });
  if (observations.length > 0) return toValidation(request, { observations, nativeTransaction: {} });
  if (missing === 'gone')
    throw new ServiceError('PurchaseExpired', 'The purchase expired. Google Play has deleted its details.');
  throw unknownTokenError();
}

const missingServiceAccountError = (): ServiceError =>
  new ServiceError(
    'InternalError',
    'The store_b settings lack serviceAccount, without which Google Play cannot be queried. Add it with app set-store.',
  );

const unknownTokenError = (): ServiceError =>
  new ServiceError('InvalidPayload', 'purchaseToken is not found in Google Play for this app.');

function toValidation(
  request: ValidationRequest,
  { observations, nativeTransaction }: LookupResult,
): Omit<StoreValidation, 'fulfillDeadline' | 'warning'> {
  const productId = withPlatform(platformTokens.googlePlay, request.id);
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
      .map(({ purchase }) => withoutPlatform(purchase.productId)),
    ...(requested && { purchaseId: requested.purchase.purchaseId }),
  };
}

function validateReceiptOnly(
  { signedReceipt }: Evidence,
  request: ValidationRequest,
  { settings, now }: { readonly settings: GooglePlaySettings; readonly now: EpochMillis },
): LookupResult {
  if (!signedReceipt) {
    throw new ServiceError(
      'InvalidPayload',
      settings.licenseKey === undefined
        ? 'serviceAccount and licenseKey are missing in the store_b settings.'
        : 'receipt or signature is missing: they are required without a service account.',
    );
  }
  return { observations: [fromSignedReceipt(signedReceipt, request, now)], nativeTransaction: { ...signedReceipt } };
}
