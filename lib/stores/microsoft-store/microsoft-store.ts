import { platformTokens } from '../../foundation/platform.ts';
import type { Store } from '../store.ts';
import { checkSettings, describeRejection, listSettingsWarnings } from './check-settings.ts';
import { fulfill } from './fulfill.ts';
import { deleteEnqueued, listUndelivered } from './list-undelivered.ts';
import { observe } from './observe.ts';
import { performAction } from './perform-action.ts';
import { refresh } from './refresh.ts';
import { settingsForm } from './settings.ts';
import { validate } from './validate.ts';

/** Microsoft Store. */
export const microsoftStore: Store = {
  platform: platformTokens.microsoftStore,
  validate,
  settingsForm,
  checkSettings,
  describeRejection,
  listSettingsWarnings,
  fulfill,
  refresh,
  performAction,
  observe,
  listUndelivered,
  deleteEnqueued,
};
