import { ServiceError } from '../../errors.ts';
import { parse } from '../../parse.ts';
import type { Observation } from '../../purchases/observation.ts';
import { bare, prefixed } from '../../purchases/platform.ts';
import { isActive, type Millis } from '../../purchases/purchase.ts';
import type { Asking, Store, Validation, ValidationRequest } from '../store.ts';
import { openAccount } from './account.ts';
import { answered, clientOf } from './client.ts';
import { lookAt } from './looks.ts';
import { noticed } from './notice.ts';
import type { ProcessorAPlatform } from './origin.ts';
import { idOfReceipt, observationsOf } from './receipt.ts';
import { ProcessorASettings } from './settings.ts';
import { receivedEvent } from './webhook.ts';

/** Processor A through the application's own account. */
export const processorA: Store = storeOn('processor_a');

/** Processor A through the account of this deployment. */
export const serviceProcessorA: Store = storeOn('service_processor_a');

function storeOn(platform: ProcessorAPlatform): Store {
  return {
    platform,
    validate: async (request, asking) => {
      const look = openAccount(platform, asking);
      const observations = await answered(() => observationsOf(request, asking, look));
      return validationOf(request, observations, { platform, now: look.origin.now });
    },
    identify: ({ transaction }) => {
      const id = idOfReceipt(transaction);
      return id !== undefined && /^(?:sub|pi)_/.test(id) ? prefixed(platform, id) : undefined;
    },
    refresh: async ({ id = '' }, asking) => {
      const seen = await answered(() => lookAt(id, openAccount(platform, asking)));
      return seen ? [seen] : [];
    },
    receive: async (raw, asking) => receivedEvent(raw, asking),
    observe: async (message, asking) => await noticed(message, { platform, asking }),
    checkSettings,
  };
}

function validationOf(
  request: ValidationRequest,
  observations: readonly Observation[],
  { platform, now }: { platform: ProcessorAPlatform; now: Millis },
): Validation {
  const id = productOf(request.id);
  const asked = [...observations]
    .filter(({ purchase }) => purchase.productId === prefixed(platform, id))
    .sort((a, b) => Number(isActive(b.purchase, now)) - Number(isActive(a.purchase, now)) || endOf(b) - endOf(a))[0];
  return {
    id,
    about: 'product',
    observations,
    ...(asked && { purchaseId: asked.purchase.purchaseId }),
    native: asked ? nativeOf(asked) : {},
    ineligibleForIntroPrice: [],
  };
}

/** The product that the client means by a product id or an offer id, with a platform in front or without. */
const productOf = (id: string): string => bare(id).split('#', 1)[0] ?? '';

const endOf = ({ purchase }: Observation): Millis => purchase.expirationDate ?? purchase.purchaseDate ?? 0;

/** Native detail: what the receipt led to. */
const nativeOf = ({ purchase }: Observation) => ({
  id: bare(purchase.purchaseId),
  object: bare(purchase.purchaseId).startsWith('sub_') ? 'subscription' : 'payment',
  livemode: !purchase.sandbox,
  ...(purchase.offerId !== undefined && { price: purchase.offerId.slice(purchase.offerId.indexOf('#') + 1) }),
});

async function checkSettings(asking: Asking, { askStore }: { readonly askStore: boolean }): Promise<string> {
  if (asking.settings === undefined) throw new ServiceError('InvalidPayload', 'There are no settings.');
  const { secretKey } = parse(ProcessorASettings, asking.settings);
  const mode = secretKey.includes('_test_') ? 'test' : 'live';
  if (!askStore) return `The settings are well formed; the key is a ${mode} key.`;
  const prices = await answered(async () => await clientOf(asking).prices.list({ active: true, limit: 1 }));
  const sells = prices.data.length > 0 ? 'it has prices to sell at' : 'it has no active price yet';
  return `The processor accepts the ${mode} key; ${sells}.`;
}
