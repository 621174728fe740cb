import { withoutPlatform, withPlatform } from '../../foundation/platform.ts';
import type { EpochMillis } from '../../foundation/time.ts';
import type { Observation } from '../../purchases/observation.ts';
import { isActive } from '../../purchases/purchase.ts';
import type { StoreValidation, ValidationRequest } from '../store.ts';
import type { StoreContext } from '../store-context.ts';
import { listUsedTrials } from '../used-trials.ts';
import { fetchEvidenceObservations } from './evidence.ts';
import type { StripePlatform } from './mapping-context.ts';
import { openStripeAccount } from './stripe-account.ts';
import { callStripe } from './stripe-client.ts';

/** Validates a Stripe id or an access token against the account of the platform. */
export async function validate(
  request: ValidationRequest,
  context: StoreContext,
  platform: StripePlatform,
): Promise<StoreValidation> {
  const account = openStripeAccount(platform, context);
  const observations = await callStripe(() => fetchEvidenceObservations(request, context, account));
  const productId = parseProductId(request.id);
  const prefixedId = withPlatform(platform, productId);
  const observation = selectObservation(observations, prefixedId, account.mapping.now);
  return {
    id: productId,
    scope: 'product',
    observations,
    ...(observation && { purchaseId: observation.purchase.purchaseId }),
    nativeTransaction: observation ? toNativeTransaction(observation) : {},
    // The checkout grants a free trial only to a new Stripe customer.
    ineligibleForIntroPrice: listUsedTrials(observations.flatMap(({ transactions }) => transactions)),
  };
}

/** Returns the product id of a product id or an offer id. The platform prefix is optional. */
const parseProductId = (id: string): string => withoutPlatform(id).split('#', 1)[0] ?? '';

/** Selects the observation of a product. Active purchases take precedence, then the latest end. */
function selectObservation(
  observations: readonly Observation[],
  productId: string,
  now: EpochMillis,
): Observation | undefined {
  return observations
    .filter(({ purchase }) => purchase.productId === productId)
    .sort((a, b) => Number(isActive(b.purchase, now)) - Number(isActive(a.purchase, now)) || getEnd(b) - getEnd(a))[0];
}

const getEnd = ({ purchase }: Observation): EpochMillis => purchase.expirationDate ?? purchase.purchaseDate ?? 0;

const toNativeTransaction = ({ purchase }: Observation) => ({
  id: withoutPlatform(purchase.purchaseId),
  object: withoutPlatform(purchase.purchaseId).startsWith('sub_') ? 'subscription' : 'payment',
  livemode: !purchase.sandbox,
  ...(purchase.offerId !== undefined && { price: purchase.offerId.slice(purchase.offerId.indexOf('#') + 1) }),
});
