import { type Platform, platformTokens } from '../foundation/platform.ts';
import { listAppStoreVerdicts } from './app-store/action-verdicts.ts';
import { listBraintreeVerdicts } from './braintree/action-verdicts.ts';
import { listGooglePlayVerdicts } from './google-play/action-verdicts.ts';
import { listMicrosoftStoreVerdicts } from './microsoft-store/action-verdicts.ts';
import type { ActionSubject, ActionVerdicts } from './purchase-action.ts';
import { listStripeVerdicts } from './stripe/action-verdicts.ts';

type ListVerdicts = (subject: ActionSubject) => ActionVerdicts;

/** Decisions of the stores about actions. Separate from the adapters, so that a read does not load them. */
const verdicts: Readonly<Record<Platform, ListVerdicts>> = {
  [platformTokens.appStore]: listAppStoreVerdicts,
  [platformTokens.googlePlay]: listGooglePlayVerdicts,
  [platformTokens.microsoftStore]: listMicrosoftStoreVerdicts,
  [platformTokens.stripe]: listStripeVerdicts,
  [platformTokens.serviceStripe]: listStripeVerdicts,
  [platformTokens.braintree]: listBraintreeVerdicts,
};

/** Lists for each action whether the store performs it, without a call to the store. */
export const listActionVerdicts = (subject: ActionSubject): ActionVerdicts =>
  verdicts[subject.purchase.platform](subject);
