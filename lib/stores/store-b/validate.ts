import { ServiceError } from '../../errors.ts';
import { prefixed } from '../../purchases/platform.ts';
import type { Asking, Validation, ValidationRequest } from '../store.ts';
import { startClock } from './deadline.ts';
import { observationFromReceipt } from './from-receipt.ts';
import { type Found, lookUp } from './look-up.ts';
import { playOf } from './play.ts';
import { type Evidence, readEvidence } from './receipt.ts';
import { type StoreBSettings, storeBSettings } from './settings.ts';

/** Validates what a client of store_b sends: its purchase token, asked of Google. */
export async function validate(request: ValidationRequest, asking: Asking): Promise<Validation> {
  startClock(asking);
  const settings = storeBSettings(asking.settings);
  const evidence = readEvidence(request.transaction, settings);
  const { serviceAccount } = settings;
  if (!serviceAccount)
    return shown(request, fromReceipt(evidence, request, { settings, now: asking.now() }), signatureOnly);
  const isSubscription = request.type === 'paid subscription' || request.type === 'application';
  const found = await lookUp(
    { token: evidence.purchaseToken, hints: request, productId: request.id, isSubscription },
    { play: playOf({ ...settings, serviceAccount }, asking), now: asking.now() },
  );
  if (found === 'gone')
    throw new ServiceError('PurchaseExpired', 'Google Play keeps this purchase no more: it expired.');
  if (!found || found.observations.length === 0) throw unknown();
  return shown(request, found);
}

const signatureOnly =
  'No service account is set; the answer relies on the signed receipt alone and may miss renewals and refunds.';

function shown(request: ValidationRequest, { observations, native }: Found, warning?: string): Validation {
  const productId = prefixed('store_b', request.id);
  const meant = observations.find(({ purchase }) => purchase.productId === productId);
  return {
    id: request.id,
    about: 'product',
    observations,
    native,
    ineligibleForIntroPrice: observations
      .filter(({ transactions }) =>
        transactions.some(({ isTrialPeriod, isIntroPeriod }) => isTrialPeriod || isIntroPeriod),
      )
      .map(({ purchase }) => purchase.productId.slice('store_b:'.length)),
    ...(meant && { purchaseId: meant.purchase.purchaseId }),
    ...(warning && { warning }),
  };
}

function fromReceipt(
  { signedReceipt }: Evidence,
  request: ValidationRequest,
  { settings, now }: { settings: StoreBSettings; now: number },
): Found {
  if (!signedReceipt) {
    throw new ServiceError(
      'InvalidPayload',
      settings.licenseKey === undefined
        ? 'This application has neither a service account nor a licence key for store_b.'
        : 'Without a service account a purchase needs its receipt and signature.',
    );
  }
  return { observations: [observationFromReceipt(signedReceipt, request, now)], native: { ...signedReceipt } };
}

const unknown = (): ServiceError =>
  new ServiceError('InvalidPayload', 'Google Play does not know this purchase token for this application.');
