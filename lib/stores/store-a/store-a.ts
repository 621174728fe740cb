import type { Store } from '../store.ts';
import { checkSettings } from './check-settings.ts';
import { listNotifications, listUndelivered } from './list-undelivered.ts';
import { observe } from './observe.ts';
import { receive } from './receive.ts';
import { refresh } from './refresh.ts';
import { validate } from './validate.ts';

/** Apple App Store. */
export const storeA: Store = {
  platform: 'store_a',
  validate,
  checkSettings,
  refresh,
  receive,
  observe,
  listUndelivered,
  listNotifications,
};
