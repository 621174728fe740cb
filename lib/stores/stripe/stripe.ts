import { platformTokens, withPlatform } from '../../foundation/platform.ts';
import type { Store } from '../store.ts';
import { checkSettings, describeRejection, listSettingsWarnings } from './check-settings.ts';
import { parseEvidenceId } from './evidence.ts';
import type { StripePlatform } from './mapping-context.ts';
import { observe } from './observe.ts';
import { performAction } from './perform-action.ts';
import { receive } from './receive.ts';
import { refresh } from './refresh.ts';
import { findRenewalNotice } from './renewal-notice.ts';
import { settingsForm } from './settings.ts';
import { validate } from './validate.ts';

/** Stripe through the app's own account. */
export const stripe: Store = createStore(platformTokens.stripe);

/** Stripe through the account of this deployment. */
export const serviceStripe: Store = createStore(platformTokens.serviceStripe);

function createStore(platform: StripePlatform): Store {
  return {
    platform,
    validate: async (request, context) => await validate(request, context, platform),
    identifyPurchase: ({ transaction }) => {
      const id = parseEvidenceId(transaction);
      return id !== undefined && /^(?:sub|pi)_/.test(id) ? withPlatform(platform, id) : undefined;
    },
    settingsForm,
    checkSettings,
    describeRejection,
    listSettingsWarnings: async (context) => listSettingsWarnings(context, platform),
    refresh: async (refreshToken, context) => await refresh(refreshToken, context, platform),
    performAction,
    receive: async (raw, context) => receive(raw, context),
    findRenewalNotice: (notification) => findRenewalNotice(notification, platform),
    observe: async (notification, context) => await observe(notification, context, platform),
  };
}
