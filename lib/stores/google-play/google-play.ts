import { platformTokens } from '../../foundation/platform.ts';
import type { Store } from '../store.ts';
import { checkSettings, describeRejection, listSettingsWarnings } from './check-settings.ts';
import { fulfill } from './fulfill.ts';
import { identifyPurchase } from './identify-purchase.ts';
import { listUndelivered } from './list-undelivered.ts';
import { observe } from './observe.ts';
import { checkAction, performAction } from './perform-action.ts';
import { receive } from './receive.ts';
import { refresh } from './refresh.ts';
import { answerRefundRequest } from './refund-review.ts';
import { findRenewalNotice } from './renewal-notice.ts';
import { settingsForm } from './settings.ts';
import { validate } from './validate.ts';

/** Google Play. */
export const googlePlay: Store = {
  platform: platformTokens.googlePlay,
  validate,
  settingsForm,
  checkSettings,
  describeRejection,
  listSettingsWarnings,
  identifyPurchase,
  fulfill,
  refresh,
  performAction,
  checkAction,
  receive,
  observe,
  findRenewalNotice,
  answerRefundRequest,
  listUndelivered,
};
