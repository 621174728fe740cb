import type { Diagnosis, SettingsRejection, SettingsWarning } from '../settings-rejection.ts';
import { parseStoredSettings } from './settings.ts';

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
