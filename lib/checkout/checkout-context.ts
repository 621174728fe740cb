import type { App } from '../apps/app.ts';
import type { AccessTokenGrant } from '../db/access-token-repository.ts';
import type { Deps } from '../deps.ts';
import type { EventRecorder } from '../events/event-recorder.ts';
import { ServiceError } from '../shared/errors.ts';
import type { Platform } from '../shared/platform.ts';
import { createStoreContext } from '../stores/create-store-context.ts';
import type { StripeAccount } from '../stores/processor-a/fetch-observations.ts';
import type { ProcessorAPlatform } from '../stores/processor-a/mapping-context.ts';
import { openStripeAccount } from '../stores/processor-a/stripe-account.ts';
import { callStripe } from '../stores/processor-a/stripe-client.ts';
import { fetchSession } from '../stores/processor-a/stripe-queries.ts';
import { selectCheckoutPlatform } from './checkout-platform.ts';

/** A request that sells through the processor. */
export interface CheckoutContext {
  readonly app: App;
  readonly recorder: EventRecorder;
  readonly deps: Deps;
}

/** The account, of the platform that a token is for or of the one that the application sells through. */
export async function openCheckoutAccount(
  context: CheckoutContext,
  platform?: ProcessorAPlatform,
): Promise<StripeAccount> {
  const { app, deps } = context;
  const checkoutPlatform = platform ?? (await selectCheckoutPlatform(app.name, deps.appCache));
  return openStripeAccount(checkoutPlatform, await createStoreContext(app.name, checkoutPlatform, context));
}

/** What a token opens. Throws `Forbidden` in the words that make clients forget their token. */
export async function requireGrant<G extends AccessTokenGrant>(
  found: Promise<G | undefined>,
): Promise<G & { platform: ProcessorAPlatform }> {
  const grant = await found;
  if (!grant || !isProcessorAPlatform(grant.platform)) throw invalidTokenError();
  return { ...grant, platform: grant.platform };
}

/** The error of a token that is not good, or not for this. */
export const invalidTokenError = (): ServiceError => new ServiceError('Forbidden', 'Invalid access token');

/** The customer behind a grant; before a first payment the session alone knows, or nobody does. */
export async function findStripeCustomerId(
  { customer, session }: AccessTokenGrant,
  { stripe }: StripeAccount,
): Promise<string | undefined> {
  if (customer !== undefined || session === undefined) return customer;
  return (await callStripe(() => fetchSession(stripe, session))).customer ?? undefined;
}

const isProcessorAPlatform = (platform: Platform): platform is ProcessorAPlatform =>
  platform === 'processor_a' || platform === 'service_processor_a';
