import { platformTokens } from '../../foundation/platform.ts';
import type { Store } from '../store.ts';
import { checkSettings, describeRejection, listSettingsWarnings } from './check-settings.ts';
import { listNotifications, listUndelivered } from './list-undelivered.ts';
import { observe } from './observe.ts';
import { performAction } from './perform-action.ts';
import { receive } from './receive.ts';
import { refresh } from './refresh.ts';
import { answerRefundRequest } from './refund-request.ts';
import { settingsForm } from './settings.ts';
import { validate } from './validate.ts';

/** Apple App Store. */
export const appStore: Store = {
  platform: platformTokens.appStore,
  validate,
  settingsForm,
  checkSettings,
  describeRejection,
  listSettingsWarnings,
  refresh,
  performAction,
  receive,
  observe,
  answerRefundRequest,
  listUndelivered,
  listNotifications,
};
