import * as v from 'valibot';
import { createRejection } from '../settings-rejection.ts';
import type { CheckSettingsOptions } from '../store.ts';
import type { StoreContext } from '../store-context.ts';
import { invalidSettingsError } from './api-errors.ts';
import { callBraintree, createGateway } from './braintree-client.ts';
import { parseBraintreeObject } from './payloads.ts';
import { parseEnteredSettings } from './settings.ts';

const Plans = v.array(v.object({ id: v.string() }));

/** Checks the format of the entered settings and, if requested, the keys and the plans of the catalogue. */
export async function checkSettings(context: StoreContext, { callStore }: CheckSettingsOptions): Promise<string> {
  const { catalogue } = parseEnteredSettings(context.settings);
  if (!callStore) return 'The settings are well-formed.';
  const gateway = await createGateway(context);
  const plans = parseBraintreeObject(Plans, await callBraintree(() => gateway.plan.all()));
  for (const [productId, { planId }] of Object.entries(catalogue)) {
    if (planId !== undefined && !plans.some(({ id }) => id === planId)) {
      const reason = `planId ${planId} of product ${productId} is not found`;
      throw invalidSettingsError(reason, createRejection('plan', reason));
    }
  }
  return 'Braintree accepts the keys and has every plan of the catalogue.';
}
