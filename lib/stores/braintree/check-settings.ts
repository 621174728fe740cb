import * as v from 'valibot';
import { createRejection, type Diagnosis, type SettingsRejection, type SettingsWarning } from '../settings.ts';
import type { CheckSettingsOptions } from '../store.ts';
import type { StoreContext } from '../store-context.ts';
import { invalidSettingsError } from './api-errors.ts';
import { callBraintree, createGateway } from './braintree-client.ts';
import { parseBraintreeObject } from './payloads.ts';
import { parseEnteredSettings, parseStoredSettings } from './settings.ts';

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

/** @see https://developer.paypal.com/braintree/docs/reference/general/exceptions/node */
export function describeRejection({ rejection, message }: SettingsRejection, settings: unknown): Diagnosis {
  const { merchantId, environment } = parseStoredSettings(settings);
  switch (rejection) {
    case 'permission':
      return {
        problem: `The API keys of Braintree do not allow requests for the merchant ${merchantId}.`,
        cure: 'Check merchantId, and give the user of the keys a role with API access in the Braintree control panel, Team. Then run `app set-store`.',
      };
    case 'plan':
      return {
        problem: `A product of the catalogue refers to a plan that Braintree does not have: ${message}.`,
        cure: 'Create the plan in the Braintree control panel, Subscriptions, Plans, or correct planId and run `app set-store`.',
      };
    default:
      return {
        problem: `Braintree rejects the API keys of the merchant ${merchantId} in the environment ${environment}.`,
        cure: `Check environment, and copy publicKey and privateKey from the ${environment} control panel, Settings, API. Then run \`app set-store\`.`,
      };
  }
}

/** The settings that Braintree accepts verify its notifications, too. */
export const listSettingsWarnings = async (): Promise<readonly SettingsWarning[]> => [];
