import { ServiceError } from '../foundation/errors.ts';
import { type Platform, platformTokens } from '../foundation/platform.ts';
import { listCheckoutPlatforms } from '../stores/checkout-platform.ts';
import type { ValidationRequest } from '../stores/store.ts';
import { processValidation, type ValidationContext } from './process-validation.ts';
import type { ValidationOutcome } from './validation-outcome.ts';

/**
 * Validates evidence at the platform, or at both Stripe accounts for Stripe, because an app can sell through both.
 * Returns the outcome of the first account that does not reject the evidence. Throws the rejection of the first account
 * if both reject it, and any other error immediately: an unavailable store has not rejected the evidence.
 */
export async function validateAtAccounts(
  request: ValidationRequest,
  platform: Platform,
  context: ValidationContext,
): Promise<ValidationOutcome> {
  const { app, service } = context;
  if (platform !== platformTokens.stripe) return await processValidation(request, platform, context);
  const [account, otherAccount] = await listCheckoutPlatforms(service, app.name);
  try {
    return await processValidation(request, account, context);
  } catch (rejection) {
    if (!isRejection(rejection) || otherAccount === undefined) throw rejection;
    return await processValidation(request, otherAccount, context).catch((error: unknown) => {
      throw isRejection(error) ? rejection : error;
    });
  }
}

const isRejection = (error: unknown): boolean =>
  error instanceof ServiceError && (error.code === 'InvalidPayload' || error.code === 'Forbidden');
