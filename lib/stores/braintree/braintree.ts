import { platformTokens } from '../../foundation/platform.ts';
import type { Store } from '../store.ts';
import { checkSettings, describeRejection, listSettingsWarnings } from './check-settings.ts';
import { listUndelivered } from './list-undelivered.ts';
import { observe } from './observe.ts';
import { performAction } from './perform-action.ts';
import { receive } from './receive.ts';
import { refresh } from './refresh.ts';
import { findRenewalNotice } from './renewal-notice.ts';
import { settingsForm } from './settings.ts';
import { validate } from './validate.ts';

/** Braintree. Unlike in other stores, a validation creates the payment. */
export const braintree: Store = {
  platform: platformTokens.braintree,
  validate,
  settingsForm,
  checkSettings,
  describeRejection,
  listSettingsWarnings,
  refresh,
  performAction,
  receive,
  observe,
  findRenewalNotice,
  listUndelivered,
};
