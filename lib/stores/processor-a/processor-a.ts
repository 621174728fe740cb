import type { Observation } from '../../purchases/observation.ts';
import { isActive } from '../../purchases/purchase.ts';
import { ServiceError } from '../../shared/errors.ts';
import { parse } from '../../shared/parse.ts';
import { withoutPlatform, withPlatform } from '../../shared/platform.ts';
import type { EpochMillis } from '../../shared/time.ts';
import type { Store, StoreValidation, ValidationRequest } from '../store.ts';
import type { StoreContext } from '../store-context.ts';
import { fetchReceiptObservations, parseReceiptId } from './evidence.ts';
import { fetchObservation } from './fetch-observations.ts';
import type { ProcessorAPlatform } from './mapping-context.ts';
import { observe } from './observe.ts';
import { receive } from './receive.ts';
import { ProcessorASettings } from './settings.ts';
import { openStripeAccount } from './stripe-account.ts';
import { callStripe, createStripeClient } from './stripe-client.ts';

/** Processor A through the application's own account. */
export const processorA: Store = createStore('processor_a');

/** Processor A through the account of this deployment. */
export const serviceProcessorA: Store = createStore('service_processor_a');

function createStore(platform: ProcessorAPlatform): Store {
  return {
    platform,
    validate: async (request, context) => {
      const account = openStripeAccount(platform, context);
      const observations = await callStripe(() => fetchReceiptObservations(request, context, account));
      return toValidation(request, observations, { platform, now: account.mapping.now });
    },
    identifyPurchase: ({ transaction }) => {
      const id = parseReceiptId(transaction);
      return id !== undefined && /^(?:sub|pi)_/.test(id) ? withPlatform(platform, id) : undefined;
    },
    refresh: async ({ id = '' }, context) => {
      const seen = await callStripe(() => fetchObservation(id, openStripeAccount(platform, context)));
      return seen ? [seen] : [];
    },
    receive: async (raw, context) => receive(raw, context),
    observe: async (message, context) => await observe(message, { platform, asking: context }),
    checkSettings,
  };
}

function toValidation(
  request: ValidationRequest,
  observations: readonly Observation[],
  { platform, now }: { platform: ProcessorAPlatform; now: EpochMillis },
): StoreValidation {
  const id = parseProductId(request.id);
  const requested = [...observations]
    .filter(({ purchase }) => purchase.productId === withPlatform(platform, id))
    .sort((a, b) => Number(isActive(b.purchase, now)) - Number(isActive(a.purchase, now)) || getEnd(b) - getEnd(a))[0];
  return {
    id,
    scope: 'product',
    observations,
    ...(requested && { purchaseId: requested.purchase.purchaseId }),
    nativeTransaction: requested ? toNativeTransaction(requested) : {},
    ineligibleForIntroPrice: [],
  };
}

/** The product that the client means by a product id or an offer id, with a platform in front or without. */
const parseProductId = (id: string): string => withoutPlatform(id).split('#', 1)[0] ?? '';

const getEnd = ({ purchase }: Observation): EpochMillis => purchase.expirationDate ?? purchase.purchaseDate ?? 0;

/** Native detail: what the receipt led to. */
const toNativeTransaction = ({ purchase }: Observation) => ({
  id: withoutPlatform(purchase.purchaseId),
  object: withoutPlatform(purchase.purchaseId).startsWith('sub_') ? 'subscription' : 'payment',
  livemode: !purchase.sandbox,
  ...(purchase.offerId !== undefined && { price: purchase.offerId.slice(purchase.offerId.indexOf('#') + 1) }),
});

async function checkSettings(context: StoreContext, { callStore }: { readonly callStore: boolean }): Promise<string> {
  if (context.settings === undefined) throw new ServiceError('InvalidPayload', 'There are no settings.');
  const { secretKey } = parse(ProcessorASettings, context.settings);
  const mode = secretKey.includes('_test_') ? 'test' : 'live';
  if (!callStore) return `The settings are well formed; the key is a ${mode} key.`;
  const prices = await callStripe(
    async () => await createStripeClient(context).prices.list({ active: true, limit: 1 }),
  );
  const sells = prices.data.length > 0 ? 'it has prices to sell at' : 'it has no active price yet';
  return `The processor accepts the ${mode} key; ${sells}.`;
}
